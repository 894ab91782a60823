import { type HttpCall, httpClients } from './calls.ts'
import type { Context } from './context.ts'
import { expectCount } from './expect-count.ts'
import { messagesFor } from './load.ts'
import { until } from './processes.ts'
import { ProcessorTime, sinceNow } from './processor.ts'
import { alternate, type Finding, format, median, type Round, ratioOf, type Target } from './rounds.ts'
import type { SmtpSink } from './sink.ts'
import { slowestStatements } from './statements.ts'

/** A contestant: the calls it sends in turn, and what must hold when all their mail has arrived. */
export interface Mail {
  readonly calls: readonly HttpCall[]
  readonly check?: (messages: number) => Promise<void>
}

export interface Comparison {
  readonly title: string
  readonly key: string
  /** The target of the ratio; undefined where there is none. */
  readonly atLeast?: number
  /** Whose figures are compared: the mail with something, then the same without it. */
  readonly mails: Readonly<Record<string, Mail>>
}

/** From the first call to the last answer, without a worker. */
export function accept(context: Context, comparison: Comparison): Promise<Finding> {
  const { service } = context
  return compare(context, comparison, {
    unit: 'calls/s',
    send: ({ calls }, messages) => httpClients(service.apiUrl, calls, { messages }),
    async settle({ check }, messages) {
      await check?.(messages)
      expectCount('messages accepted', await service.accepted(), messages)
      await service.empty()
    },
  })
}

/** From the first call to the last message at the sink. */
export function endToEnd(context: Context, sink: SmtpSink, comparison: Comparison): Promise<Finding> {
  const { service } = context
  let before = sink.count()
  return compare(context, comparison, {
    unit: 'messages/s',
    async send({ calls }, messages) {
      before = sink.count()
      const began = performance.now()
      await httpClients(service.apiUrl, calls, { messages })
      await until('the last message', () => sink.count() - before >= messages, { seconds: 180 })
      return (performance.now() - began) / 1000
    },
    async settle({ check }, messages) {
      await check?.(messages)
      await service.drained(messages)
      expectCount('messages at the sink', sink.count() - before, messages)
    },
  })
}

interface Measurement {
  readonly unit: string
  /** Returns seconds. */
  readonly send: (mail: Mail, messages: number) => Promise<number>
  /** Throws unless as many messages were accepted and delivered as were sent, and empties the tables. */
  readonly settle: (mail: Mail, messages: number) => Promise<void>
}

async function compare(
  { service, rounds, seconds, statements, report }: Context,
  { title, key, atLeast, mails }: Comparison,
  { unit, send, settle }: Measurement,
): Promise<Finding> {
  report(title)
  const processor = new ProcessorTime()
  /** The same by part of the service. */
  const parts: Record<string, Record<string, number[]>> = {}
  const contestants: Record<string, Round> = {}
  for (const [name, mail] of Object.entries(mails)) {
    const inTime = await messagesFor(seconds, async (tried) => {
      const took = await send(mail, tried)
      await settle(mail, tried)
      return took
    })
    // Every account of a round sends more than once.
    const messages = Math.max(inTime, 2 * mail.calls.length)
    contestants[name] = async () => {
      if (statements) await service.sql`select pg_stat_statements_reset()`
      const used = sinceNow(service.parts())
      const took = await processor.during(name, service.roots(), messages, () => send(mail, messages))
      const own = (parts[name] ??= {})
      for (const [part, time] of used()) (own[part] ??= []).push(time / messages)
      if (statements) for (const line of await slowestStatements(service.sql, messages)) report(line)
      await settle(mail, messages)
      return messages / took
    }
  }
  const found = await alternate(contestants, rounds, report)
  for (const [name, times] of Object.entries(parts)) {
    const shown = Object.entries(times).map(([part, values]) => `${part} ${format(median(values))}`)
    report(`  ${name}, µs of processor time per message: ${shown.join(', ')}`)
  }
  const ratio = ratioOf(found)
  const target: Target | undefined = atLeast === undefined ? undefined : { sense: 'at least', value: atLeast }
  return {
    title,
    unit,
    rounds: found,
    processor: processor.rounds,
    key,
    ...(target && { target }),
    ...(ratio && { ratio }),
  }
}
