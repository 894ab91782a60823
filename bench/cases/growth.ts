import type { Sql } from '@postrider/core'
import type { Case, Context } from '../harness/context.ts'
import { messagesFor, smtpSource, WARM_UP } from '../harness/load.ts'
import { until } from '../harness/processes.ts'
import { alternate, type Finding, median, ratioOf } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'

const SHAPE = { sessions: 50, octets: 10_000, kept: true } as const
const WAITING = 1_000_000
const DOMAINS = 10_000
const EVENTS = 10_000_000

/** End to end with an empty queue, and with a million deliveries waiting for later. */
export const fullQueue: Case = {
  name: 'full-queue',
  run: (context) =>
    grown(context, {
      title: 'end to end with 1 M waiting deliveries to 10,000 domains, against an empty queue',
      names: ['with 1 M waiting', 'empty queue'],
      key: 'queue_1m_vs_empty',
      fill: () => fillQueue(context.service),
    }),
}

/** End to end with an empty event log, and with one of ten million events. */
export const manyEvents: Case = {
  name: 'many-events',
  long: true,
  run: (context) =>
    grown(context, {
      title: 'end to end with 10 M stored events of 1,000 accounts, against none',
      names: ['with 10 M events', 'no events'],
      fill: () => fillEvents(context.service),
    }),
}

interface Growth {
  readonly title: string
  readonly names: readonly [grown: string, small: string]
  readonly key?: string
  readonly fill: () => Promise<void>
}

async function grown(
  { service, rounds, seconds, report }: Context,
  { title, names, key, fill }: Growth,
): Promise<Finding[]> {
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
    // Otherwise the first of the rounds with small tables would be those of processes that are still being compiled.
    await through(WARM_UP)
    const many = await messagesFor(seconds, through)
    await service.drained()
    const small: number[] = []
    const large: number[] = []
    const round = async (rates: number[], done: () => Promise<void>): Promise<void> => {
      rates.push(many / (await through(many)))
      await done()
    }
    const withSmall = () => round(small, () => service.drained(many))
    // All rounds with large tables in a row, since to fill and empty them every round takes longer than it tells; with small ones before and after,
    // since the machine's speed varies from minute to minute.
    for (let at = 0; at < rounds; at++) await withSmall()
    await fill()
    const before = await unfinished(service)
    for (let at = 0; at < rounds; at++)
      await round(large, () =>
        until('the queue to hold only what waits', async () => (await unfinished(service)) === before),
      )
    await service.empty()
    for (let at = 0; at < rounds; at++) await withSmall()
    report(`  ${names[1]}: ${Math.round(median(small))}, ${names[0]}: ${Math.round(median(large))}`)
    const found = { [names[0]]: large, [names[1]]: small }
    const ratio = ratioOf(found)
    const target = { sense: 'at least', value: 0.9 } as const
    return [{ title, unit: 'messages/s', rounds: found, target, ...(key && { key }), ...(ratio && { ratio }) }]
  } finally {
    await service.stop('relay')
    await service.stop('delivery')
    await sink.stop()
  }
}

/** A million deliveries that wait for tomorrow. */
export async function fillQueue({ sql, accountId }: Context['service']): Promise<void> {
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
  await settled(sql, 'delivery_queue')
}

async function fillEvents({ sql }: Context['service']): Promise<void> {
  const part = EVENTS / 10
  for (let from = 0; from < EVENTS; from += part) {
    await sql.begin(async (sql) => {
      await sql`set local statement_timeout = 0`
      await sql`
        insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
        select now(), i % 1000, 'sent', gen_random_uuid(), 0, '{"attempt": 1, "code": 250, "host": "mx.harbor.example"}'
          from generate_series(1, ${part}::int) as i`
    })
  }
  await settled(sql, 'events')
}

/**
 * Does by itself what Postgres does in the minutes after so many rows were inserted. The rows were there long ago where a service has them, and this work
 * took a part of the processor from the rounds.
 */
async function settled(sql: Sql, table: string): Promise<void> {
  await sql`vacuum analyze ${sql(table)}`
  await sql`checkpoint`
}

async function unfinished({ sql }: Context['service']): Promise<number> {
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
