import { type Case, type Context, expectCount } from '../harness/context.ts'
import { messagesFor, smtpSource } from '../harness/load.ts'
import { pause, until } from '../harness/processes.ts'
import { alternate, type Finding, median, ratioOf } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'

const SHAPE = { sessions: 50, octets: 10_000, kept: true } as const
const WARM_MS = 1500

/** What delivery does by itself, and what is left of it while the accept side takes all it can. */
export const underAccept: Case = {
  name: 'delivery-under-accept',
  async run({ service, rounds, seconds, report }: Context): Promise<Finding[]> {
    const title = 'delivery while accept is saturated, against draining alone'
    report(title)
    const load = { ...SHAPE, port: service.relayPort, from: `desk@${service.domain}` }
    const sink = await startSmtpSink()
    await service.start('relay')
    try {
      const many = await messagesFor(seconds * 2, (messages) => smtpSource(load, messages))
      await service.empty()
      const drain = async (): Promise<number> => {
        await smtpSource(load, many)
        const before = sink.count()
        await service.start('delivery', { sinkPort: sink.port })
        await until('the first arrivals', () => sink.count() - before > many / 10)
        const [began, from] = [performance.now(), sink.count()]
        await until('the last arrival', () => sink.count() - before >= many)
        const rate = (sink.count() - from) / ((performance.now() - began) / 1000)
        await service.drained(many)
        expectCount('messages at the sink', sink.count() - before, many)
        await service.stop('delivery')
        return rate
      }
      const under = async (): Promise<number> => {
        await service.start('delivery', { sinkPort: sink.port })
        const before = sink.count()
        let accepting = true
        const accept = smtpSource(load, many * 2).finally(() => {
          accepting = false
        })
        await pause(WARM_MS)
        const [began, from] = [performance.now(), sink.count()]
        await until('the end of accept', () => !accepting)
        const rate = (sink.count() - from) / ((performance.now() - began) / 1000)
        await accept
        await service.drained(many * 2)
        expectCount('messages at the sink', sink.count() - before, many * 2)
        await service.stop('delivery')
        return rate
      }
      const found = await alternate({ 'under accept': under, 'draining alone': drain }, rounds, report)
      const ratio = ratioOf(found)
      const target = { sense: 'at least', value: 0.5 } as const
      return [
        { title, unit: 'messages/s', rounds: found, key: 'delivery_under_accept', target, ...(ratio && { ratio }) },
      ]
    } finally {
      await service.stop('relay')
      await service.stop('delivery')
      await sink.stop()
    }
  },
}

const WAITING = 1_000_000
const DOMAINS = 10_000

/** End to end with an empty queue, and with a million deliveries waiting for later. */
export const fullQueue: Case = {
  name: 'full-queue',
  async run({ service, rounds, seconds, report }: Context): Promise<Finding[]> {
    const title = 'end to end with 1 M waiting deliveries to 10,000 domains, against an empty queue'
    report(title)
    const load = { ...SHAPE, port: service.relayPort, from: `desk@${service.domain}` }
    const sink = await startSmtpSink()
    await service.start('relay')
    await service.start('delivery', { sinkPort: sink.port })
    const through = async (messages: number): Promise<number> => {
      const before = sink.count()
      const began = performance.now()
      await smtpSource(load, messages)
      await until('the last message', () => sink.count() - before >= messages, { seconds: 180 })
      return (performance.now() - began) / 1000
    }
    try {
      const many = await messagesFor(seconds, through)
      await service.drained()
      const empty: number[] = []
      const full: number[] = []
      // All rounds with an empty queue, then all with a full one: to fill and empty it every round takes longer than it tells.
      for (let round = 0; round < rounds; round++) {
        empty.push(many / (await through(many)))
        await service.drained(many)
      }
      await fill(service)
      for (let round = 0; round < rounds; round++) {
        full.push(many / (await through(many)))
        await until('the queue to hold only what waits', async () => (await waiting(service)) === WAITING)
      }
      await service.empty()
      report(`  empty: ${Math.round(median(empty))}, full: ${Math.round(median(full))}`)
      const found = { 'with 1 M waiting': full, 'empty queue': empty }
      const ratio = ratioOf(found)
      const target = { sense: 'at least', value: 0.9 } as const
      return [{ title, unit: 'messages/s', rounds: found, key: 'queue_1m_vs_empty', target, ...(ratio && { ratio }) }]
    } finally {
      await service.stop('relay')
      await service.stop('delivery')
      await sink.stop()
    }
  },
}

async function fill({ sql, accountId }: Context['service']): Promise<void> {
  await sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           attempt, next_at, expires_at)
    select uuidv7(), 0, ${accountId}, 'deferred', 'a@d' || i % ${DOMAINS} || '.example',
           'a@d' || i % ${DOMAINS} || '.example', 'd' || i % ${DOMAINS} || '.example', 'to', 1,
           now() + interval '1 day' + i * interval '1 ms', now() + interval '3 days'
      from generate_series(1, ${WAITING}::int) as i`
  })
  await sql`analyze delivery_queue`
}

async function waiting({ sql }: Context['service']): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from delivery_queue`
  return row?.count ?? 0
}

/** With one, two and four workers. */
export const workers: Case = {
  name: 'workers',
  long: true,
  async run({ service, rounds, seconds, report }: Context): Promise<Finding[]> {
    const title = 'draining with one, two and four workers'
    report(title)
    const load = { ...SHAPE, port: service.relayPort, from: `desk@${service.domain}` }
    const sink = await startSmtpSink()
    await service.start('relay')
    try {
      const many = await messagesFor(seconds * 2, (messages) => smtpSource(load, messages))
      await service.empty()
      const drain = (count: number) => async (): Promise<number> => {
        await smtpSource(load, many)
        const before = sink.count()
        await service.start('delivery', { sinkPort: sink.port, count })
        const began = performance.now()
        await until('the last arrival', () => sink.count() - before >= many)
        const rate = many / ((performance.now() - began) / 1000)
        await service.drained(many)
        await service.stop('delivery')
        return rate
      }
      const found = await alternate({ one: drain(1), two: drain(2), four: drain(4) }, rounds, report)
      return [{ title, unit: 'messages/s', rounds: found }]
    } finally {
      await service.stop('relay')
      await service.stop('delivery')
      await sink.stop()
    }
  },
}
