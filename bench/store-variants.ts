import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { deflateRawSync } from 'node:zlib'
import type { Sql } from '@postrider/core'
import { withDatabase } from './database.ts'

/**
 * Ways to write a batch of accepts, compared: the table of docs/decisions/0002-one-statement-accept.md. The statements are cut
 * down to what all ways share; the real one is packages/core/src/messages/store.ts.
 */
interface Row {
  readonly id: string
  readonly octets: Buffer
  readonly recipient: string
}
type Way = (sql: Sql, rows: readonly Row[], body: Buffer) => Promise<void>

const SECONDS = 2
const BATCHES = [1, 10, 50]

const raw = Buffer.from(
  Array.from({ length: 400 }, (_none, at) => `the quick brown fox ${(at * 7919).toString(36)} order\r\n`).join(''),
).subarray(0, 10_000)
const deflated = deflateRawSync(raw, { level: 1 })

const WAYS: readonly { name: string; way: Way; body: Buffer }[] = [
  { name: 'four COPYs in a transaction, raw bodies', way: copies, body: raw },
  { name: 'bodies by COPY, the rest one statement, raw bodies', way: mixed, body: raw },
  { name: 'four COPYs in a transaction, deflated bodies', way: copies, body: deflated },
  { name: 'one statement, deflated bodies', way: statement, body: deflated },
]

await withDatabase(1, async (sql) => {
  process.stdout.write(
    `messages/s by batch of ${BATCHES.join(' / ')}; bodies of ${raw.length} octets, deflated ${deflated.length}\n`,
  )
  for (const { name, way, body } of WAYS) {
    const rates: number[] = []
    for (const size of BATCHES) rates.push(await measure(sql, way, body, size))
    process.stdout.write(`${name}: ${rates.map((rate) => Math.round(rate)).join(' / ')}\n`)
  }
})

async function measure(sql: Sql, way: Way, body: Buffer, size: number): Promise<number> {
  await sql`truncate messages, bodies, delivery_queue, events`
  for (let warm = 0; warm < 10; warm++) await way(sql, makeRows(size), body)
  const start = performance.now()
  let count = 0
  while (performance.now() - start < SECONDS * 1000) {
    await way(sql, makeRows(size), body)
    count += size
  }
  return count / ((performance.now() - start) / 1000)
}

function makeRows(size: number): Row[] {
  return Array.from({ length: size }, (_none, at) => {
    const id = randomUUIDv7()
    return { id, octets: Buffer.from(id.replaceAll('-', ''), 'hex'), recipient: `someone${at}@harbor.example` }
  })
}

async function statement(sql: Sql, rows: readonly Row[], body: Buffer): Promise<void> {
  const starts = rows.map((_row, at) => at * body.length + 1)
  await sql`
    with ${recipientRows(sql, rows)}, body as (
      insert into bodies (message_id, part, encoding, content)
      select b.id, 0, 'deflate', substring(${Buffer.concat(rows.map(() => body))}::bytea from b.start for ${body.length})
        from unnest(${rows.map(({ id }) => id)}::uuid[], ${starts}::int[]) as b(id, start)
    ) ${inserts(sql)}`
}

async function mixed(sql: Sql, rows: readonly Row[], body: Buffer): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`with ${recipientRows(sql, rows)} ${inserts(sql)}`
    await copy(transaction, 'bodies (message_id, part, encoding, content)', rows, (row) => [
      row.octets,
      int(0),
      text('raw'),
      body,
    ])
  })
}

function recipientRows(sql: Sql, rows: readonly Row[]) {
  return sql`
  row as materialized (select * from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ recipient }) => recipient)}::text[]) as r(id, recipient)),
  message as (
    insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, format, size, parts, recipients, transaction_base)
    select id, 1, 1, 'smtp', now(), 'desk@ship.example', 'Berth', 'mime', 10000, 1, 1, 4 from row),
  queued as (
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, next_at, expires_at)
    select id, 0, 1, 'queued', recipient, recipient, 'harbor.example', 'to', now(), now() + interval '72 hours' from row)`
}

function inserts(sql: Sql) {
  return sql`insert into events (occurred_at, account_id, type, message_id, recipient_no) select now(), 1, 'processed', id, 0 from row`
}

async function copies(sql: Sql, rows: readonly Row[], body: Buffer): Promise<void> {
  const now = timestamp(Date.now())
  await sql.begin(async (transaction) => {
    await copy(
      transaction,
      'messages (id, account_id, domain_id, door, accepted_at, from_address, subject, format, size, parts, recipients, transaction_base)',
      rows,
      (row) => [
        row.octets,
        int(1),
        int(1),
        text('smtp'),
        now,
        text('desk@ship.example'),
        text('Berth'),
        text('mime'),
        int(10000),
        int(1),
        int(1),
        long(4n),
      ],
    )
    await copy(transaction, 'bodies (message_id, part, encoding, content)', rows, (row) => [
      row.octets,
      int(0),
      text('raw'),
      body,
    ])
    await copy(
      transaction,
      'delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, next_at, expires_at)',
      rows,
      (row) => [
        row.octets,
        int(0),
        int(1),
        text('queued'),
        text(row.recipient),
        text(row.recipient),
        text('harbor.example'),
        text('to'),
        now,
        now,
      ],
    )
    await copy(transaction, 'events (occurred_at, account_id, type, message_id, recipient_no)', rows, (row) => [
      now,
      int(1),
      text('processed'),
      row.octets,
      int(0),
    ])
  })
}

async function copy(
  transaction: { unsafe: Sql['unsafe'] },
  into: string,
  rows: readonly Row[],
  fields: (row: Row) => readonly Buffer[],
): Promise<void> {
  const stream = await transaction.unsafe(`copy ${into} from stdin (format binary)`).writable()
  const done = finished(stream)
  const pieces: Buffer[] = [Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]
  for (const row of rows) {
    const values = fields(row)
    pieces.push(short(values.length))
    for (const value of values) pieces.push(int(value.length), value)
  }
  pieces.push(short(-1))
  if (!stream.write(Buffer.concat(pieces))) await once(stream, 'drain')
  stream.end()
  await done
}

function short(value: number): Buffer {
  const octets = Buffer.alloc(2)
  octets.writeInt16BE(value)
  return octets
}

function int(value: number): Buffer {
  const octets = Buffer.alloc(4)
  octets.writeInt32BE(value)
  return octets
}

function long(value: bigint): Buffer {
  const octets = Buffer.alloc(8)
  octets.writeBigInt64BE(value)
  return octets
}

function text(value: string): Buffer {
  return Buffer.from(value)
}

/** Microseconds since 2000. */
function timestamp(milliseconds: number): Buffer {
  return long(BigInt(milliseconds - 946_684_800_000) * 1000n)
}
