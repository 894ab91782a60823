import type { PlainAnswer } from '../net/plain-http.ts'
import { type ProgramBuild, programBuild } from './program-version.ts'
import type { Readiness } from './readiness.ts'

/** The answer to a health check over HTTP, as JSON. */
export interface HealthAnswer {
  readonly status: 200 | 503
  /** With the version, by which an operator sees which processes of several hosts are not of the newest. */
  readonly body: ProgramBuild & {
    readonly status: string
    readonly reasons?: readonly string[]
    readonly notes?: readonly string[]
  }
}

export interface HealthState {
  /** As the process knows it; no check waits for the database. */
  readonly readiness: () => Readiness
  /** Whether the process is draining; a load balancer should then send new calls elsewhere. */
  readonly isStopping: () => boolean
}

/** GET /health/live, GET /health: the main loop runs. */
export function liveAnswer(): HealthAnswer {
  return { status: 200, body: { status: 'live', ...programBuild() } }
}

/** GET /health/ready: the process does its work; otherwise the reasons, for the operator. */
export function readyAnswer({ readiness, isStopping }: HealthState): HealthAnswer {
  const { ready, reasons, notes } = readiness()
  if (ready && !isStopping())
    return { status: 200, body: { status: 'ready', ...(notes ? { notes } : {}), ...programBuild() } }
  const why = isStopping() ? ['the process is stopping'] : reasons
  return { status: 503, body: { status: 'not ready', reasons: why, ...programBuild() } }
}

/** Answers `/health`, `/health/live` and `/health/ready` for a process that has no HTTP port otherwise; undefined for other paths. */
export function healthAnswer(path: string, state: HealthState): PlainAnswer | undefined {
  if (path === '/health/ready') return asJson(readyAnswer(state))
  return path === '/health/live' || path === '/health' ? asJson(liveAnswer()) : undefined
}

function asJson({ status, body }: HealthAnswer): PlainAnswer {
  return { status, type: 'application/json', text: JSON.stringify(body) }
}
