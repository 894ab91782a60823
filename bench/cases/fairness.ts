import type { Case, Context } from '../harness/context.ts'
import { smtpSource, WARM_UP } from '../harness/load.ts'
import { until } from '../harness/processes.ts'
import { waitsOf } from '../harness/quiet.ts'
import { type Finding, quantile } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'
import { smtpClients } from './latency.ts'

/** Account A floods, account B sends one a second: how long B's mail takes from accept to delivery. */
export const fairness: Case = {
  name: 'fairness',
  async run({ service, quick, report }: Context): Promise<Finding[]> {
    const title = "accept to delivery of a quiet account's mail, p99, beside one that floods with 200 a second"
    report(title)
    const seconds = quick ? 15 : 40
    const quiet = await service.makeSender(`quiet${Date.now()}`)
    const sink = await startSmtpSink()
    await service.start('relay')
    await service.start('delivery', { sinkPort: sink.port })
    const trickle = (): Promise<unknown> =>
      smtpClients({
        port: service.relayTlsPort,
        apiKey: quiet.apiKey,
        from: `desk@${quiet.domain}`,
        octets: 10_000,
        sessions: 2,
        messages: seconds * 4,
        pause: 450,
        seconds,
      })
    const flood = (): Promise<unknown> =>
      smtpClients({
        port: service.relayPort,
        from: `desk@${service.domain}`,
        octets: 10_000,
        sessions: 20,
        messages: seconds * 200,
        pause: 97,
        seconds,
      })
    const waits = async (): Promise<number> => {
      await until('the queue to be empty', async () => (await service.sql`select 1 from delivery_queue`).length === 0)
      const found = await waitsOf(service.sql, `desk@${quiet.domain}`)
      await service.empty()
      return quantile(found, 0.99)
    }
    try {
      const warming = {
        port: service.relayPort,
        from: `desk@${service.domain}`,
        octets: 10_000,
        sessions: 20,
        kept: true,
      }
      await smtpSource(warming, WARM_UP)
      await service.drained(WARM_UP)
      await trickle()
      const alone = await waits()
      await Promise.all([trickle(), flood()])
      const beside = await waits()
      report(`  quiet ${alone.toFixed(1)} ms, beside the flood ${beside.toFixed(1)} ms`)
      const target = { sense: 'at most', value: 1.5 } as const
      return [
        { title, unit: 'ms', rounds: { 'beside the flood': [beside], alone: [alone] }, ratio: beside / alone, target },
      ]
    } finally {
      await service.stop('relay')
      await service.stop('delivery')
      await sink.stop()
    }
  },
}
