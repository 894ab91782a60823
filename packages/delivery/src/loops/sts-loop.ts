import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Maximum number of policies per round. */
const LIMIT = 20
const EVERY_MS = 300_000

/** Milliseconds between two checks that DNSSEC_RESOLVER validates. */
const CHECK_EVERY_MS = 3_600_000

/** Checks at the beginning, and each hour, whether the resolver validates; a change is logged. */
export function runDnssecLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({
    name: 'DNSSEC',
    log,
    act: async () => {
      await core.tls.dnssec.check()
      return false
    },
    every: CHECK_EVERY_MS,
    breath: 0,
  })
}

/** Milliseconds between two writes of counted sessions: those of a process that is killed are lost. */
const FLUSH_EVERY_MS = 60_000
const SEND_EVERY_MS = 30_000

/** Stores the results of sessions, and sends the TLS reports of past days. Workers share the work. */
export function runTlsReportLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  const flushing = runLoop({
    name: 'TLS results',
    log,
    act: async () => {
      await core.tls.results.flush()
      return false
    },
    every: FLUSH_EVERY_MS,
    breath: 0,
  })
  const sending = runLoop({
    name: 'TLS report',
    log,
    act: async () => {
      const sent = await core.tlsReports.sendSome()
      if (sent?.problem !== undefined) log.warn(sent, 'could not send a TLS report, will retry')
      return sent !== undefined
    },
    every: SEND_EVERY_MS,
    breath: 20,
  })
  const stop = async (): Promise<void> => {
    await flushing.stop()
    await core.tls.results.flush().catch((err: unknown) => log.warn({ err }, 'could not store the results of sessions'))
  }
  return [{ wake: flushing.wake, stop }, sending]
}

/** Fetches again, once per day, the MTA-STS policies of domains that got mail within a week. Workers share the work. */
export function runStsLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({
    name: 'MTA-STS',
    log,
    act: async (signal) => (await core.tls.sts.refreshDue({ limit: LIMIT, signal })) === LIMIT,
    every: EVERY_MS,
    breath: 0,
  })
}
