import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { messagesFor, smtpSource } from '../harness/load.ts'
import { until } from '../harness/processes.ts'
import { type Finding, median } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'
import { fillQueue } from './growth.ts'

const SHAPE = { sessions: 50, octets: 10_000, kept: true } as const
/** Seconds that a job over a million deliveries may take beside mail. */
const PATIENCE_S = 1200

/** End to end while a job of the operator holds a million waiting deliveries, against the same queue without a job. */
export const queueJobs: Case = {
  name: 'queue-jobs',
  long: true,
  async run({ service, rounds, seconds, report }: Context): Promise<Finding[]> {
    const title = 'end to end while a job holds 1 M waiting deliveries, against no job'
    report(title)
    const { queue } = service.core
    const load = { ...SHAPE, port: service.relayPort, from: `desk@${service.domain}` }
    const sink = await startSmtpSink()
    await service.start('relay')
    await service.start('delivery', { sinkPort: sink.port })
    const through = async (messages: number): Promise<number> => {
      const before = sink.count()
      const began = performance.now()
      await smtpSource(load, messages)
      await until('the last message', () => sink.count() - before >= messages, { seconds: 180 })
      return messages / ((performance.now() - began) / 1000)
    }
    try {
      const many = await messagesFor(seconds, async (messages) => messages / (await through(messages)))
      await service.drained()
      await fillQueue(service)
      const without: number[] = []
      for (let round = 0; round < rounds; round++) without.push(await through(many))
      const plan = await queue.plan('hold', { all: true })
      const began = performance.now()
      await queue.confirm(plan.id, 'hold')
      const job = async () => queue.job(plan.id)
      const beside: number[] = []
      while ((await job())?.state === 'running' && (performance.now() - began) / 1000 < PATIENCE_S) {
        const rate = await through(many)
        // A round during which the job ended is of both.
        if ((await job())?.state === 'running') beside.push(rate)
      }
      const took = (performance.now() - began) / 1000
      const ended = await job()
      expectCount('deliveries of the job', ended?.done ?? 0, plan.count)
      report(
        `  no job: ${Math.round(median(without))}, beside the job: ${Math.round(median(beside))}; ${plan.count} deliveries held within ${took.toFixed(0)} s`,
      )
      const found = { 'beside the job': beside, 'no job': without }
      const ratio = median(beside) / median(without)
      return [{ title, unit: 'messages/s', rounds: found, ratio, target: { sense: 'at least', value: 0.9 } }]
    } finally {
      await service.stop('relay')
      await service.stop('delivery')
      await service.empty()
      await sink.stop()
    }
  },
}
