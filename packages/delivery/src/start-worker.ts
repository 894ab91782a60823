import { hostname } from 'node:os'
import { type LostLease, loadProviders, measure, type RunningProcess, type ServiceContext } from '@postrider/core'
import { runExportLoops } from './loops/export-loops.ts'
import { runLeaseLoop } from './loops/lease-loop.ts'
import { runSchemaLoop } from './loops/schema-loop.ts'
import { runLoops } from './loops/table.ts'
import { runWebhookLoop } from './loops/webhook-loop.ts'
import { leftNotes, openAnswerNotes } from './queue/answer-notes.ts'
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
  await core.serviceTime.noteDelivery()
  const lease = await core.deliveries.hold({ host: hostname(), pid: process.pid, onLost })
  const { workerId } = lease
  const notes = openAnswerNotes(config.dataDir, workerId, log)
  const recorder = createRecorder({ core, log, notes })
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
  const left = leftNotes(config.dataDir)
  const leases = runLeaseLoop({
    core,
    log,
    workerId,
    left,
    onTakenOver: () => claims?.wake(),
    onAnswer: lease.answered,
  })
  claims = runClaimLoop({ core, log, workerId, dispatcher, workers: leases.living, onAnswer: lease.answered })
  const listening = await core.deliveries.listen(claims.wake)
  const webhooks = runWebhookLoop({ core, log })
  const measuring = measure(core.serviceFigures)
  const numbered = await core.events.listen(webhooks.wake)
  const background = [webhooks, ...runExportLoops({ core, log }), ...runLoops({ core, log, config })]
  if (config.migrate === 'auto') background.push(runSchemaLoop({ core, log }))
  return {
    async close() {
      const atRest = Promise.all(background.map((loop) => loop.stop()))
      await Promise.all([listening.close(), numbered.close()]).catch(() => {})
      await claims.stop()
      await dispatcher.drain(DRAIN_MS)
      await atRest
      measuring()
      notes.close()
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
