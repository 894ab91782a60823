import { hostname } from 'node:os'
import {
  asksDns,
  type LostLease,
  loadProviders,
  measure,
  type RunningProcess,
  type ServiceContext,
} from '@postrider/core'
import { runDomainLoop } from './loops/domain-loop.ts'
import { runEventLoop } from './loops/event-loop.ts'
import { runExportLoops } from './loops/export-loops.ts'
import { runGuardLoop } from './loops/guard-loop.ts'
import { runHitLoop } from './loops/hit-loop.ts'
import { runLeaseLoop } from './loops/lease-loop.ts'
import { runPrivacyLoop } from './loops/privacy-loop.ts'
import { runQueueJobLoop } from './loops/queue-job-loop.ts'
import { runReputationLoop } from './loops/reputation-loop.ts'
import { runRetentionLoops } from './loops/retention-loops.ts'
import { runSchemaLoop } from './loops/schema-loop.ts'
import { runServiceMailLoops } from './loops/service-mail-loop.ts'
import { runSourceLoops } from './loops/source-loops.ts'
import { runDnssecLoop, runStsLoop, runTlsReportLoops } from './loops/sts-loop.ts'
import { runWarmUpLoop } from './loops/warm-up-loop.ts'
import { runWebhookLoop } from './loops/webhook-loop.ts'
import { type ClaimLoop, runClaimLoop } from './queue/claim-loop.ts'
import { Dispatcher } from './queue/dispatcher.ts'
import { createRecorder } from './queue/recorder.ts'
import { createNextHops } from './routing/next-hops.ts'

/** Time for deliveries in flight at SIGTERM; the process has 30 s in total. */
const DRAIN_MS = 24_000

/**
 * Starts a worker: it claims due mail and delivers it, and runs the loops that work in the background.
 *
 * `onLost` is called when the lease is lost or was released. Other workers take over the deliveries in flight, and every result would be
 * rejected: the process has to exit and start again as a new worker.
 */
export async function startWorker(
  { config, log, core }: ServiceContext,
  onLost: (why: LostLease) => void,
): Promise<RunningProcess> {
  const providers = loadProviders(config.providersFile)
  await untilReady(core)
  await checkOperatorSigner(core, config, log)
  const lease = await core.deliveries.hold({ host: hostname(), pid: process.pid, onLost })
  const { workerId } = lease
  const recorder = createRecorder({ core, log })
  let claims: ClaimLoop | undefined
  const dispatcher = new Dispatcher({
    core,
    config,
    log,
    workerId,
    nextHops: createNextHops(config, providers, core.tls),
    providers,
    recorder,
    onCapacity: () => claims?.capacityAppeared(),
  })
  await dispatcher.start()
  const leases = runLeaseLoop({ core, log, workerId, onTakenOver: () => claims?.wake(), onAnswer: lease.answered })
  claims = runClaimLoop({ core, log, workerId, dispatcher, workers: leases.living, onAnswer: lease.answered })
  const listening = await core.deliveries.listen(claims.wake)
  const webhooks = runWebhookLoop({ core, log })
  const measuring = measure(core.serviceFigures)
  const numbered = await core.events.listen(webhooks.wake)
  const background = [
    runPrivacyLoop({ core, log }),
    runEventLoop({ core, log }),
    runHitLoop({ core, log }),
    webhooks,
    runQueueJobLoop({ core, log }),
    runWarmUpLoop({ core, log }),
    runReputationLoop({ core, log }),
    runGuardLoop({ core, log }),
    ...runServiceMailLoops({ core, log }),
    ...runExportLoops({ core, log }),
    ...runRetentionLoops({ core, log }),
    ...runSourceLoops({ core, log }),
  ]
  if (config.migrate === 'auto') background.push(runSchemaLoop({ core, log }))
  if (asksDns(config)) background.push(runDomainLoop({ core, log }))
  if (config.delivery.kind === 'mx')
    background.push(runStsLoop({ core, log }), runDnssecLoop({ core, log }), ...runTlsReportLoops({ core, log }))
  return {
    async close() {
      const atRest = Promise.all(background.map((loop) => loop.stop()))
      await Promise.all([listening.close(), numbered.close()]).catch(() => {})
      await claims.stop()
      await dispatcher.drain(DRAIN_MS)
      await atRest
      measuring()
      leases.stop()
      // Without the database, the lease ends with this process.
      await lease.release().catch((err: unknown) => log.warn({ err }, 'could not release lease'))
    },
  }
}

/** Throws ConfigError if the operator's own DKIM key cannot be read. */
async function checkOperatorSigner(
  core: ServiceContext['core'],
  { operatorDkim }: ServiceContext['config'],
  log: ServiceContext['log'],
): Promise<void> {
  const signer = await core.domains.operatorSigner()
  if (!operatorDkim || signer) return
  log.warn({ domain: operatorDkim.domain }, 'OPERATOR_DKIM_DOMAIN is not an active sending domain, so it does not sign')
}

async function untilReady(core: ServiceContext['core']): Promise<void> {
  while (!core.readiness.current().ready) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await core.readiness.check()
  }
}
