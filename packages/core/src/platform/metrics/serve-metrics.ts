import type { ListenTarget } from '../net/listening-sockets.ts'
import { servePlainHttp } from '../net/plain-http.ts'
import type { HealthState } from '../process/health.ts'
import { programBuild } from '../process/program-version.ts'
import { measure, startMetrics } from './metrics.ts'

export interface ServeMetricsOptions extends HealthState {
  /** Name of the process. */
  readonly process: string
  readonly target: ListenTarget
}

/** Starts the metrics of this process and serves them at `/metrics`. Rejects if the port is in use. */
export async function serveMetrics({ process, target, readiness, isStopping }: ServeMetricsOptions): Promise<void> {
  const metrics = await startMetrics({ process, ...programBuild() })
  measure(() => ({ ready: readiness().ready && !isStopping() ? 1 : 0, stopping: isStopping() ? 1 : 0 }))
  await servePlainHttp({
    target,
    async answer(path) {
      return path === '/metrics' ? { status: 200, type: metrics.contentType, text: await metrics.text() } : undefined
    },
  })
}
