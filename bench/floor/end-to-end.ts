import { expectCount } from '../harness/expect-count.ts'
import { smtpSource, WARM_UP } from '../harness/load.ts'
import { makeMessage } from '../harness/messages.ts'
import { startPostfix } from '../harness/postfix.ts'
import { until } from '../harness/processes.ts'
import { ProcessorTime, type Roots } from '../harness/processor.ts'
import { median } from '../harness/rounds.ts'
import { type SmtpSink, startSmtpSink } from '../harness/sink.ts'
import { STORED_CHANNEL, writeBodies } from '../load/bare-store.ts'
import { startChain, startSender } from './chain.ts'
import { type Bare, duringParts, type Floor, FROM, ROUNDS, withBareTables } from './findings.ts'

const MESSAGES = 6000
/** Of Postfix, which takes longer. */
const FEW = 3000
const SHAPE = { sessions: 50, octets: 10_000, kept: true, from: FROM } as const
/** Of one statement, and in one notification. */
const BATCH = 100
const ACCEPT = 'bare relay, without a sender'
const CHAIN = 'end to end, bare relay and sender, signing'
const POSTFIX = 'end to end, Postfix, not signing'

/** Delivery of what is stored already, with and without a signature; and mail through a relay and a sender with nothing but that, beside Postfix. */
export function endToEnd(): Promise<Floor> {
  return withBareTables(async (bare) => {
    const sink = await startSmtpSink()
    const times = new ProcessorTime()
    const rates: Record<string, number[]> = {}
    for (const sign of [true, false]) {
      const sender = await startSender({ url: bare.url, sinkPort: sink.port, sign })
      const name = sign ? 'bare sender, signing' : 'bare sender, not signing'
      await deliverStored(bare, sink, (deliver) => deliver())
      for (let round = 0; round < ROUNDS; round++) {
        await deliverStored(bare, sink, (deliver) =>
          duringParts(times, name, { process: [sender.pid], Postgres: bare.postgres }, MESSAGES, deliver),
        )
      }
      await sender.stop()
    }
    const { port, relay, sender } = await startChain({ url: bare.url, sinkPort: sink.port })
    const postfix = await startPostfix({ sinkPort: sink.port })
    const parts = { relay: [relay.pid], sender: [sender.pid], Postgres: bare.postgres }
    await through(sink, port, WARM_UP)
    await through(sink, postfix.port, FEW)
    const send = async (name: string, to: number, roots: Readonly<Record<string, Roots>>, messages: number) => {
      const took = await duringParts(times, name, roots, messages, () => through(sink, to, messages))
      ;(rates[name] ??= []).push(messages / took)
    }
    for (let round = 0; round < ROUNDS; round++) {
      await send(CHAIN, port, parts, MESSAGES)
      await emptied(bare)
      await send(POSTFIX, postfix.port, { processes: postfix.roots }, FEW)
    }
    await postfix.stop()
    await sender.stop()
    for (let round = 0; round < ROUNDS; round++) {
      const alone = { relay: [relay.pid], Postgres: bare.postgres }
      const took = await duringParts(times, ACCEPT, alone, MESSAGES, () => smtpSource({ ...SHAPE, port }, MESSAGES))
      ;(rates[ACCEPT] ??= []).push(MESSAGES / took)
      await bare.sql`truncate stored`
    }
    return {
      figures: [
        { unit: 'µs', rounds: times.rounds },
        { unit: 'messages/s', rounds: rates },
      ],
      ratios: { 'end to end, messages/s against Postfix': median(rates[CHAIN] ?? []) / median(rates[POSTFIX] ?? []) },
    }
  })
}

/** Stores messages, and has `measure` deliver them. */
async function deliverStored(
  bare: Bare,
  sink: SmtpSink,
  measure: (deliver: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { sql } = bare
  const message = { content: Buffer.from(makeMessage(FROM, SHAPE.octets)), from: '', to: '', subject: '' }
  const batch = Array.from({ length: BATCH }, () => message)
  for (let stored = 0; stored < MESSAGES; stored += BATCH) await writeBodies(sql, batch)
  const ids = (await sql<{ id: string }[]>`select id from stored order by id`).map(({ id }) => id)
  const before = sink.count()
  await measure(async () => {
    for (let at = 0; at < ids.length; at += BATCH)
      await sql`select pg_notify(${STORED_CHANNEL}, ${ids.slice(at, at + BATCH).join(' ')})`
    await until('the last message', () => sink.count() - before >= ids.length, { seconds: 60 })
    await emptied(bare)
  })
  expectCount('messages at the sink', sink.count() - before, MESSAGES)
}

/** Waits until each message is deleted. */
async function emptied({ sql }: Bare): Promise<void> {
  const isEmpty = async (): Promise<boolean> => (await sql`select 1 from stored limit 1`).length === 0
  await until('the last deletion', isEmpty, { seconds: 60, every: 50 })
  await sql`truncate stored`
}

/** Returns the seconds from the first connection to the last message at the sink. */
async function through(sink: SmtpSink, port: number, messages: number): Promise<number> {
  const before = sink.count()
  const began = performance.now()
  await smtpSource({ ...SHAPE, port }, messages)
  await until('the last message', () => sink.count() - before >= messages, { seconds: 60 })
  const seconds = (performance.now() - began) / 1000
  expectCount('messages at the sink', sink.count() - before, messages)
  return seconds
}
