import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { messagesFor, smtpSource } from '../harness/load.ts'
import { pause, until } from '../harness/processes.ts'
import { alternate, type Finding, ratioOf } from '../harness/rounds.ts'
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
