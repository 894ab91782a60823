import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { readHeartbeats, startLine, type WorkerSummary } from '@postrider/core'
import { local, reachable, sandboxUrl } from '../first-run.ts'
import { bootCheck } from './boot-check.ts'
import type { Check } from './check.ts'
import { bad, type CheckResult, counted, firstOf, NotChecked, ok, warn } from './check-result.ts'
import { findOwn } from './own-link.ts'
import { RESPONSE_MS, type Readings } from './readings.ts'

/** Milliseconds within which a worker advances its counter: it does so every two seconds. */
const HEARTBEAT_MS = 5000
const HEARTBEAT_POLL_MS = 250

export const processChecks: readonly Check[] = [
  { area: 'processes', name: 'api', run: checkApi },
  { area: 'processes', name: 'relay', run: checkRelay },
  { area: 'processes', name: 'delivery', database: true, run: checkDelivery },
  { area: 'processes', name: 'returns', run: checkReturns },
  { area: 'processes', name: 'sandbox', run: checkSandbox },
  { area: 'processes', name: 'worker leases', database: true, run: checkLeases },
  bootCheck,
]

async function checkApi(readings: Readings): Promise<CheckResult> {
  const { apiHost, apiPort } = readings.config
  const health = await readings.api()
  const at = `${reachable(local(apiHost))}:${apiPort}`
  if (health === undefined) return absent(readings, 'api', at, 'packages/api/src/server.ts')
  if (health.status === 200) {
    const found = await findOwn(`http://${at}`, readings).catch(orUnknown)
    return found === undefined || found.isOwn ? ok(`ready at ${at}`) : foreign(readings, at, 'API_PORT')
  }
  return bad(
    `not ready: ${health.reasons.join('; ') || `status ${health.status}`}`,
    health.reasons.length > 0
      ? 'correct these reasons; it is ready again within seconds'
      : `another program uses port ${apiPort}: stop it, or set API_PORT`,
  )
}

async function checkRelay(readings: Readings): Promise<CheckResult> {
  const { relayHost, relayPort } = readings.config
  const at = `${local(relayHost)}:${relayPort}`
  const greeting = await readings.relay()
  return greeted(readings, { program: 'relay', at, greeting, file: 'packages/relay/src/server.ts', port: 'RELAY_PORT' })
}

async function checkReturns(readings: Readings): Promise<CheckResult> {
  const { returnsHost, returnsPort } = readings.config
  const at = `${local(returnsHost)}:${returnsPort}`
  const greeting = await readings.returns()
  const file = 'packages/relay/src/returns-server.ts'
  return greeted(readings, { program: 'returns', at, greeting, file, port: 'RETURNS_PORT' })
}

interface Greeted {
  readonly program: string
  readonly at: string
  readonly greeting: string | undefined
  readonly file: string
  /** The setting of its port. */
  readonly port: string
}

async function greeted(readings: Readings, { program, at, greeting, file, port }: Greeted): Promise<CheckResult> {
  if (greeting === undefined) return absent(readings, program, at, file)
  if (!greeting.startsWith('220'))
    return bad(`${at} does not greet: ${greeting}`, `see the log of the process ${program}`)
  const activity = await readings.activity().catch(() => undefined)
  // A process asks its database each second whether it may accept mail, so it always has a session.
  if (activity && !activity.programs.some((one) => one.program === program)) return foreign(readings, at, port)
  return ok(`responds at ${at}`)
}

/** Another program, or an installation with another database, has the port. */
function foreign({ config }: Readings, at: string, port: string): CheckResult {
  return bad(
    `the process at ${at} is not of this installation: it was started with another database or SECRET_KEY`,
    `stop it, or set ${port} of this installation to another port; DATA_DIR here is ${config.dataDir}`,
  )
}

function orUnknown(error: unknown): undefined {
  if (!(error instanceof NotChecked)) throw error
}

/** No process responds on this host. This is correct if it runs on other hosts only. */
async function absent(readings: Readings, program: string, at: string, file: string): Promise<CheckResult> {
  const programs = await readings.activity().then(
    (activity) => activity.programs.filter((one) => one.program === program),
    () => [],
  )
  const elsewhere = programs.flatMap(({ isHere, address }) => (isHere || address === null ? [] : [address]))
  if (elsewhere.length > 0 && elsewhere.length === programs.length)
    return ok(`runs on other hosts: ${firstOf(elsewhere)}; run postrider doctor there, too`)
  return bad(
    `no response at ${at}`,
    programs.length > 0
      ? `the process is connected to the database, so it may hang, or have another port than in these settings: see its log, and restart it`
      : startLine('this process', file),
  )
}

async function checkDelivery({ workers }: Readings): Promise<CheckResult> {
  const all = await workers()
  const alive = all.filter((worker) => worker.alive)
  const here = alive.filter(({ host }) => host === hostname()).length
  if (alive.length === 0)
    return bad(
      'no delivery worker is running, so nothing is sent',
      startLine('a worker', 'packages/delivery/src/worker.ts'),
    )
  const hosts = [...new Set(alive.map(({ host }) => host))]
  return ok(
    `${counted(alive.length, 'worker')}, ${here} on this host${hosts.length > 1 ? `; hosts: ${firstOf(hosts)}` : ''}`,
  )
}

async function checkSandbox({ config }: Readings): Promise<CheckResult | undefined> {
  if (config.delivery.kind !== 'sandbox') return undefined
  const url = sandboxUrl(config)
  const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_MS) }).catch(() => undefined)
  await response?.body?.cancel()
  return response?.ok
    ? ok(`the inbox is at ${url}/`)
    : bad(
        `no inbox at ${url}/, and all mail goes there: DELIVERY is sandbox`,
        startLine('the inbox', 'packages/sandbox/src/server.ts'),
      )
}

/** A worker that hangs keeps its lock, but its counter stops. */
async function checkLeases({ workers, sql }: Readings): Promise<CheckResult | undefined> {
  const all = await workers()
  if (all.length === 0) return undefined
  const dead = all.filter(({ alive }) => !alive)
  const before = await readHeartbeats(sql())
  const deadline = performance.now() + HEARTBEAT_MS
  let silent = all.filter(({ alive }) => alive)
  while (silent.length > 0 && performance.now() < deadline) {
    await pause(HEARTBEAT_POLL_MS)
    const now = await readHeartbeats(sql())
    silent = silent.filter(({ id }) => now.has(id) && now.get(id) === before.get(id))
  }
  if (silent.length > 0)
    return warn(
      `without a heartbeat for ${HEARTBEAT_MS / 1000} s: ${firstOf(silent.map(named))}`,
      'see the log of the worker; after a minute without heartbeats others take over its deliveries',
    )
  if (dead.length > 0)
    return warn(
      `dead, but still registered: ${firstOf(dead.map(named))}`,
      'a running worker takes over its deliveries within 10 s; start one if none is running',
    )
  return ok(`${counted(all.length, 'worker')} with heartbeats`)
}

function named({ pid, host }: WorkerSummary): string {
  return `process ${pid} on ${host}`
}
