import { type Core, NORMAL, openDatabase } from '@postrider/core'
import type { Case, Context } from '../harness/context.ts'
import { alternate, median, quantile, ratioOf } from '../harness/rounds.ts'
import { fillQueue } from './growth.ts'

const BATCH = 100

/** Claims a second, with and without another session that holds a snapshot open, as a report or a dump does. */
export const snapshot: Case = {
  name: 'snapshot',
  async run({ service, rounds, quick, report }: Context) {
    const title = 'claims under a snapshot that another session holds open, against undisturbed'
    report(title)
    const deliveries = quick ? 20_000 : 50_000
    const waits: number[] = []
    const claimAll = async (): Promise<number> => {
      const rate = await claimed(service, deliveries, waits)
      await service.empty()
      return rate
    }
    const held = openDatabase({ url: service.databaseUrl, name: 'snapshot', connections: 1 })
    const underSnapshot = (): Promise<number> =>
      held.begin('isolation level repeatable read', async (transaction) => {
        await transaction`select count(*) from accounts`
        return claimAll()
      }) as Promise<number>
    try {
      await claimAll()
      waits.length = 0
      const found = await alternate({ 'under a snapshot': underSnapshot, undisturbed: claimAll }, rounds, report)
      const ratio = ratioOf(found)
      const target = { sense: 'at least', value: 0.7 } as const
      report(`  a claim of ${BATCH}: median ${median(waits).toFixed(1)} ms, p99 ${quantile(waits, 0.99).toFixed(1)} ms`)
      return [{ title, unit: 'claims/s', rounds: found, key: 'snapshot_vs_none', target, ...(ratio && { ratio }) }]
    } finally {
      await held.end({ timeout: 5 })
    }
  },
}

/** What a claim takes from an empty queue, and from one in which a million deliveries wait for later. */
export const claimLatency: Case = {
  name: 'claim-latency',
  long: true,
  async run({ service, rounds, report }: Context) {
    const title = `a claim of ${BATCH} with 1 M waiting deliveries to 10,000 domains, against an empty queue`
    report(title)
    const round = async (): Promise<{ middle: number; slow: number }> => {
      const waits: number[] = []
      await claimed(service, 20_000, waits)
      await service.sql`truncate finished_deliveries, attempts, events`
      return { middle: median(waits), slow: quantile(waits, 0.99) }
    }
    const measure = async (what: string): Promise<{ middle: number[]; slow: number[] }> => {
      const found: { middle: number[]; slow: number[] } = { middle: [], slow: [] }
      for (let at = 0; at < rounds; at++) {
        const { middle, slow } = await round()
        found.middle.push(middle)
        found.slow.push(slow)
        report(`  round ${at + 1}, ${what}: median ${middle.toFixed(2)} ms, p99 ${slow.toFixed(2)} ms`)
      }
      return found
    }
    await round()
    const empty = await measure('empty queue')
    await fillQueue(service)
    const full = await measure('with 1 M waiting')
    await service.empty()
    const finding = (part: 'middle' | 'slow', name: string) => {
      const found = { 'with 1 M waiting': full[part], 'empty queue': empty[part] }
      const ratio = ratioOf(found)
      return { title: `${title}, ${name}`, unit: 'ms', rounds: found, ...(ratio && { ratio }) }
    }
    return [finding('middle', 'median'), finding('slow', 'p99')]
  },
}

const LARGE = 1_000_000
const ACCOUNTS = 1000
const DUE_EACH = 20
/** As a worker does (delivery/due-claims.ts). */
const FLOWS_PER_CLAIM = 32

/** What claims take when a thousand accounts have due mail, and one of them a million. */
export const claimFlows: Case = {
  name: 'claim-flows',
  long: true,
  async run({ service, report }: Context) {
    const title = `a claim when ${ACCOUNTS} accounts have due mail, and another one a million`
    report(title)
    const { core, sql, accountId } = service
    const due = (account: ReturnType<typeof sql>, rows: number): Promise<unknown> =>
      sql.begin(async (sql) => {
        await sql`set local statement_timeout = 0`
        await sql`
          insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
                 next_at, expires_at)
          select uuidv7(), 0, ${account}, 'queued', 'a', 'a', 'd' || i % 1000 || '.example', 'to',
                 now() - interval '1 hour' + i * interval '1 ms', now() + interval '3 days'
            from generate_series(1, ${rows}::int) as i`
      })
    await due(sql`${accountId}::int`, LARGE)
    await due(sql`1000000 + i % ${ACCOUNTS}::int`, ACCOUNTS * DUE_EACH)
    await sql`analyze delivery_queue`
    const { workerId, release } = await core.deliveries.register({ host: 'bench', pid: process.pid })
    const [looks, waits]: [number[], number[]] = [[], []]
    const timed = async <T>(times: number[], act: () => Promise<T>): Promise<T> => {
      const began = performance.now()
      const done = await act()
      times.push(performance.now() - began)
      return done
    }
    for (let round = 0; round < 12; round++) {
      const flows = await timed(looks, core.deliveries.dueFlows)
      const others = flows.filter((flow) => flow.accountId !== accountId)
      for (let at = 0; at < others.length; at += FLOWS_PER_CLAIM - 1) {
        const next = [{ accountId, class: NORMAL } as const, ...others.slice(at, at + FLOWS_PER_CLAIM - 1)]
        const shares = next.map((flow) => ({ ...flow, limit: Math.floor(200 / next.length) }))
        await finish(core, workerId, await timed(waits, () => core.deliveries.claim({ workerId, shares })))
      }
    }
    await release()
    await service.empty()
    const p99 = quantile(waits, 0.99)
    report(`  ${waits.length} claims: median ${median(waits).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
    report(`  a look for flows with due mail: median ${median(looks).toFixed(1)} ms`)
    return [
      {
        title: `${title}, p99`,
        unit: 'ms',
        rounds: { postrider: [p99] },
        target: { sense: 'at most', value: 10 },
      },
    ]
  },
}

/** Claims and finishes as many deliveries as it adds; answers claims a second, and adds what each claim took to `waits`. */
async function claimed(service: Context['service'], deliveries: number, waits: number[]): Promise<number> {
  await fill(service, deliveries)
  const { core } = service
  const lease = await core.deliveries.register({ host: 'bench', pid: process.pid })
  let claimed = 0
  let milliseconds = 0
  let dueFrom: number | undefined
  while (claimed < deliveries) {
    const began = performance.now()
    const shares = [{ accountId: service.accountId, class: NORMAL, limit: BATCH, dueFrom }] as const
    const taken = await core.deliveries.claim({ workerId: lease.workerId, shares })
    waits.push(performance.now() - began)
    milliseconds += performance.now() - began
    claimed += taken.length
    // As the claim loop does: from the last claim on, and from the head once nothing is left there.
    dueFrom = taken.length > 0 ? Math.max(...taken.map(({ dueAt }) => dueAt)) : undefined
    await finish(core, lease.workerId, taken)
  }
  await lease.release()
  return claimed / (milliseconds / 1000)
}

async function fill({ sql, accountId }: Context['service'], deliveries: number): Promise<void> {
  await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           next_at, expires_at)
    select uuidv7(), 0, ${accountId}, 'queued', 'a@d' || i % 1000 || '.example', 'a@d' || i % 1000 || '.example',
           'd' || i % 1000 || '.example', 'to', now() - interval '1 minute' + i * interval '1 ms', now() + interval '3 days'
      from generate_series(1, ${deliveries}::int) as i`
  await sql`analyze delivery_queue`
}

async function finish(
  core: Core,
  workerId: number,
  taken: Awaited<ReturnType<Core['deliveries']['claim']>>,
): Promise<void> {
  const reply = { code: 250, enhanced: '2.0.0', text: 'taken' }
  const outcome = { kind: 'delivered', stage: 'dot', reply, steps: [], milliseconds: 5 } as const
  await core.deliveries.record(
    taken.map(({ messageId, recipientNo, attempt }) => ({ messageId, recipientNo, attempt, workerId, outcome })),
  )
}
