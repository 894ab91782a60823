import type { PlainAnswer } from '../net/plain-http.ts'
import type { Readiness } from './readiness.ts'

/** The answer to a health check over HTTP, as JSON. */
export interface HealthAnswer {
  readonly status: 200 | 503
  readonly body: { readonly status: string; readonly reasons?: readonly string[]; readonly notes?: readonly string[] }
}

export interface HealthState {
  /** As the process knows it; no check waits for the database. */
  readonly readiness: () => Readiness
  /** Whether the process is draining; a load balancer should then send new calls elsewhere. */
  readonly isStopping: () => boolean
}

/** GET /health/live: the main loop runs. */
export const LIVE: HealthAnswer = { status: 200, body: { status: 'live' } }

/** GET /health/ready: the process does its work; otherwise the reasons, for the operator. */
export function readyAnswer({ readiness, isStopping }: HealthState): HealthAnswer {
  const { ready, reasons, notes } = readiness()
  if (ready && !isStopping()) return { status: 200, body: { status: 'ready', ...(notes ? { notes } : {}) } }
  return { status: 503, body: { status: 'not ready', reasons: isStopping() ? ['the process is stopping'] : reasons } }
}

/** Answers `/health/live` and `/health/ready` for a process that has no HTTP port otherwise; undefined for other paths. */
export function healthAnswer(path: string, state: HealthState): PlainAnswer | undefined {
  if (path === '/health/ready') return asJson(readyAnswer(state))
  return path === '/health/live' ? asJson(LIVE) : undefined
}

function asJson({ status, body }: HealthAnswer): PlainAnswer {
  return { status, type: 'application/json', text: JSON.stringify(body) }
}
