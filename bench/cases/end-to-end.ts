import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { startHaraka } from '../harness/haraka.ts'
import { messagesFor, smtpSource, WARM_UP } from '../harness/load.ts'
import { startPostfix } from '../harness/postfix.ts'
import { until } from '../harness/processes.ts'
import { ProcessorTime, type Roots } from '../harness/processor.ts'
import { alternate, type Finding, type Round, ratioOf, type Target } from '../harness/rounds.ts'
import { type SmtpSink, startSmtpSink } from '../harness/sink.ts'

interface Peer {
  readonly port: number
  readonly roots: Roots
  /** Messages after which it runs at its speed; none if it needs none. */
  readonly warmUp?: number
  stop(): Promise<void>
}

/** Messages of the warm-up at once, of a peer that queues much before it delivers. */
const AT_ONCE = 2000

const SHAPE = { sessions: 50, octets: 10_000, kept: true } as const

/** From the first connection of smtp-source to the last message at smtp-sink, our mail always signed (RSA-2048). */
export const endToEnd: Case = {
  name: 'end-to-end',
  async run(context) {
    const sink = await startSmtpSink()
    const findings: Finding[] = []
    const against = async (title: string, key: string, target: Target, open: () => Promise<Peer>): Promise<void> => {
      context.report(title)
      const peer = await open()
      try {
        findings.push(await compare(title, key, target, context, sink, peer))
      } finally {
        await peer.stop()
      }
    }
    const { service } = context
    await service.start('relay')
    await service.start('delivery', { sinkPort: sink.port })
    try {
      await smtpSource({ ...SHAPE, from: `desk@${service.domain}`, port: service.relayPort }, WARM_UP)
      await service.drained()
      await against('end to end, we sign, Postfix does not', 'e2e_vs_postfix', { sense: 'at least', value: 2 }, () =>
        startPostfix({ sinkPort: sink.port }),
      )
      await against(
        'end to end, both sign, Postfix with OpenDKIM',
        'e2e_vs_postfix_opendkim',
        { sense: 'at least', value: 4 },
        () => startPostfix({ sinkPort: sink.port, signFor: service.domain }),
      )
      await against('end to end, both sign, Haraka', 'e2e_vs_haraka', { sense: 'at least', value: 2.5 }, async () => ({
        ...(await startHaraka(sink.port, service.domain)),
        // It is compiled while it is used, as the service is.
        warmUp: WARM_UP,
      })).catch((error: Error) => context.report(`  could not be run: ${error.message}`))
    } finally {
      await service.stop('relay')
      await service.stop('delivery')
      await sink.stop()
    }
    return findings
  },
}

async function compare(
  title: string,
  key: string,
  target: Target,
  { service, rounds, seconds, report }: Context,
  sink: SmtpSink,
  peer: Peer,
): Promise<Finding> {
  const from = `desk@${service.domain}`
  const through = async (port: number, messages: number): Promise<number> => {
    const before = sink.count()
    const began = performance.now()
    await smtpSource({ ...SHAPE, from, port }, messages)
    await until('the last message', () => sink.count() - before >= messages, { seconds: 180 })
    return (performance.now() - began) / 1000
  }
  const processor = new ProcessorTime()
  const round =
    (name: string, { port, roots }: Omit<Peer, 'stop'>, messages: number, check: () => Promise<void>): Round =>
    async () => {
      const before = sink.count()
      const took = await processor.during(name, roots, messages, () => through(port, messages))
      await check()
      expectCount('messages at the sink', sink.count() - before, messages)
      return messages / took
    }
  for (let left = peer.warmUp ?? 0; left > 0; left -= AT_ONCE) await through(peer.port, AT_ONCE)
  const many = await messagesFor(seconds, (messages) => through(service.relayPort, messages))
  const few = await messagesFor(seconds, (messages) => through(peer.port, messages))
  await service.drained()
  const ours = { port: service.relayPort, roots: service.roots() }
  const found = await alternate(
    {
      postrider: round('postrider', ours, many, () => service.drained(many)),
      peer: round('peer', peer, few, async () => {}),
    },
    rounds,
    report,
  )
  const ratio = ratioOf(found)
  return { title, unit: 'messages/s', rounds: found, processor: processor.rounds, key, target, ...(ratio && { ratio }) }
}
