import { connect, createServer, type Socket } from 'node:net'
import type { Sql } from '@postrider/core'
import type { Test } from 'tap'

/** A statement as a client prepared it. */
export interface Statement {
  readonly text: string
  /** Of its parameters, as far as the client said; 0: the server found out. */
  readonly types: readonly number[]
}

/** A door to a database that remembers every statement that goes through it. */
export interface Recorder {
  readonly url: string
  /** Each once, in the order they came first; those that answer or change rows. */
  statements(): Statement[]
  /** Forgets what came. */
  clear(): void
}

const PLANNED = /^\s*(select|with|insert|update|delete)\b/i

export async function recordStatements(t: Pick<Test, 'teardown'>, url: string): Promise<Recorder> {
  const { hostname, port } = new URL(url)
  const seen = new Map<string, Statement>()
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => [client, upstream].map((one) => one.destroy()))
    }
    client.on(
      'data',
      readStatements((statement) => seen.set(statement.text, statement)),
    )
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const own = new URL(url)
  own.port = String((server.address() as { port: number }).port)
  return {
    url: own.href,
    statements: () => [...seen.values()].filter(({ text }) => PLANNED.test(text)),
    clear: () => seen.clear(),
  }
}

/** Reads a client's half of the wire protocol (PostgreSQL documentation, message formats): Parse and Query. */
function readStatements(found: (statement: Statement) => void): (octets: Buffer) => void {
  let rest = Buffer.alloc(0)
  let greeted = false
  return (octets) => {
    rest = Buffer.concat([rest, octets])
    for (;;) {
      // The first message has no type.
      const head = greeted ? 1 : 0
      if (rest.length < head + 4) return
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return
      const message = rest.subarray(head + 4, length)
      const type = greeted ? String.fromCharCode(rest[0] as number) : ''
      rest = rest.subarray(length)
      greeted = true
      if (type === 'Q') found({ text: message.toString('utf8', 0, message.indexOf(0)), types: [] })
      if (type === 'P') found(parsed(message))
    }
  }
}

function parsed(message: Buffer): Statement {
  const name = message.indexOf(0)
  const end = message.indexOf(0, name + 1)
  const count = message.readInt16BE(end + 1)
  const types = Array.from({ length: count }, (_, at) => message.readInt32BE(end + 3 + 4 * at))
  return { text: message.toString('utf8', name + 1, end), types }
}

/** A node of a plan, as EXPLAIN (format json) tells it. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly 'Plan Rows': number
  readonly Plans?: readonly PlanNode[]
}

/** The plan that every run of the statement has: the service plans once, for all parameters (core/platform/database/database.ts). */
export async function planOf(sql: Sql, { text, types }: Statement): Promise<PlanNode> {
  return sql.begin(async (transaction) => {
    const names = await transaction<{ name: string }[]>`
      select case when o.oid = 0 then 'unknown' else o.oid::regtype::text end as name
        from unnest(${[...types]}::int[]) with ordinality as o(oid, at) order by at`
    const declared = names.length > 0 ? `(${names.map(({ name }) => name).join(', ')})` : ''
    await transaction.unsafe(`prepare planned ${declared} as ${text}`)
    try {
      const [count] = await transaction<{ count: number }[]>`
        select cardinality(parameter_types) as count from pg_prepared_statements where name = 'planned'`
      const nulls = Array.from({ length: count?.count ?? 0 }, () => 'null').join(', ')
      const execute = nulls === '' ? 'execute planned' : `execute planned(${nulls})`
      const [row] = await transaction.unsafe(`explain (format json) ${execute}`)
      const [explained] = Object.values(row ?? {}) as { Plan: PlanNode }[][]
      return explained?.[0]?.Plan as PlanNode
    } finally {
      await transaction.unsafe('deallocate planned')
    }
  }) as Promise<PlanNode>
}

/** Everything in a plan, each with what stands above it, the nearest first. */
export function nodesOf(
  plan: PlanNode,
  above: readonly PlanNode[] = [],
): { node: PlanNode; above: readonly PlanNode[] }[] {
  return [{ node: plan, above }, ...(plan.Plans ?? []).flatMap((child) => nodesOf(child, [plan, ...above]))]
}

const LARGE =
  /^(messages|events|bodies|attempts|finished_deliveries|engagements)_\d|^(delivery_queue|suppressions|roll_ups|tags)$/

/** What makes nothing of its rows before it has read them all. */
const WHOLE = new Set(['Sort', 'Aggregate', 'Hash', 'WindowAgg', 'BitmapOr', 'BitmapAnd'])

/**
 * The scans of a plan that read all of a large table: without an index, or by one without a condition and no limit that ends
 * them. As text, for a test to want none.
 */
export function wholeScans(plan: PlanNode): string[] {
  return nodesOf(plan)
    .filter(({ node }) => LARGE.test(node['Relation Name'] ?? '') && /^(Seq|Index)/.test(node['Node Type']))
    .filter(({ node, above }) => {
      if (node['Index Cond'] !== undefined) return false
      const ends = above.find((one) => one['Node Type'] === 'Limit' || WHOLE.has(one['Node Type']))
      return node['Node Type'] === 'Seq Scan' || ends?.['Node Type'] !== 'Limit'
    })
    .map(({ node }) => `${node['Node Type']} on ${node['Relation Name']}`)
}
