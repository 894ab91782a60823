import { startClockedSink, timeArrivals } from '../cases/latency.ts'
import { smtpSource, WARM_UP } from '../harness/load.ts'
import { startPostfix } from '../harness/postfix.ts'
import { until } from '../harness/processes.ts'
import { median } from '../harness/rounds.ts'
import { sharedClock } from '../harness/shared-clock.ts'
import { startChain } from './chain.ts'
import { type Floor, FROM, ROUNDS, withBareTables } from './findings.ts'

const MESSAGES = 100
/** The steps of a message, each from the end of the one before to its own, by what the processes note. */
const STEPS = {
  'client to relay': ['sent', 'whole'],
  'commit, to the notification': ['whole', 'notified'],
  'commit, to the relay': ['whole', 'committed'],
  read: ['notified', 'read'],
  sign: ['read', 'signed'],
  'conversation with the sink': ['signed', 'arrived'],
} as const

/**
 * From the last octet of a message to its arrival, one at a time, as cases/latency.ts has it, beside Postfix: a relay that stores it with one
 * statement and notifies, and a sender that reads it with one statement, signs it and sends it over a connection that is open.
 */
export function latency(): Promise<Floor> {
  return withBareTables(async ({ url }) => {
    const sink = await startClockedSink()
    try {
      let noted: Record<string, number> = {}
      const onSteps = (steps: Readonly<Record<string, number>>): void => void Object.assign(noted, steps)
      const chain = await startChain({ url, sinkPort: sink.port, onSteps })
      const postfix = await startPostfix({ sinkPort: sink.port })
      await smtpSource({ from: FROM, sessions: 20, octets: 10_000, kept: true, port: chain.port }, WARM_UP)
      await until('the last message', () => sink.arrivals.length >= WARM_UP, { seconds: 60 })
      const rounds: Record<string, number[]> = {}
      const steps: Record<string, number[]> = {}
      const clocks = sharedClock() - performance.now()
      const measure = async (name: string, port: number, isNoted: boolean): Promise<void> => {
        const found: Record<string, number[]> = {}
        const observe = (sent: number, arrived: number): void => {
          const all: Readonly<Record<string, number>> = { ...noted, sent: sent + clocks, arrived: arrived + clocks }
          noted = {}
          if (!isNoted) return
          for (const [step, [from, to]] of Object.entries(STEPS))
            (found[step] ??= []).push((all[to] ?? Number.NaN) - (all[from] ?? Number.NaN))
        }
        const times = await timeArrivals({ port, from: FROM, messages: MESSAGES, sink }, observe)
        ;(rounds[name] ??= []).push(median(times))
        for (const [step, all] of Object.entries(found)) (steps[`idle latency, step: ${step}`] ??= []).push(median(all))
      }
      const [bare, peer] = ['idle latency, bare relay and sender', 'idle latency, Postfix']
      await timeArrivals({ port: postfix.port, from: FROM, messages: MESSAGES / 4, sink })
      await timeArrivals({ port: chain.port, from: FROM, messages: MESSAGES / 4, sink })
      for (let round = 0; round < ROUNDS; round++) {
        await measure(bare, chain.port, true)
        await measure(peer, postfix.port, false)
      }
      await postfix.stop()
      return {
        figures: [{ unit: 'ms', rounds: { ...rounds, ...steps } }],
        ratios: { 'idle latency, against Postfix': median(rounds[bare] ?? []) / median(rounds[peer] ?? []) },
      }
    } finally {
      await sink.stop()
    }
  })
}
