import { type ClaimedDelivery, type Core, createCore, createLog, type Outcome, openDatabase } from '@postrider/core'
import type { Test } from 'tap'
import { claimDue } from '../../helpers/claim.ts'
import { registerWorker } from '../../helpers/lease.ts'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

/** A service whose queue a test fills and empties by hand, without a worker process. */
export interface TestQueue {
  readonly service: TestService
  readonly core: Core
  readonly sender: Sender
  /** Accepts one message to these recipients; answers its id (UUID). */
  accept(recipients: readonly string[], scheduledAt?: Date): Promise<string>
  /** A worker's number. */
  register(): Promise<number>
  /** Claims all that is due. */
  claimAll(workerId: number): Promise<ClaimedDelivery[]>
}

export async function makeQueue(t: Test): Promise<TestQueue> {
  const service = await makeService(t)
  const { core } = service
  const sender = await service.makeSender()
  // Each lease holds a connection for good.
  const leases = openCore(t, service, 12)
  return {
    service,
    core,
    sender,
    async accept(recipients, scheduledAt) {
      const envelopes = recipients.map((to) => envelopeTo(to))
      return (await acceptMessage(service, sender, { envelopes, scheduledAt })).messageId
    },
    async register() {
      return (await registerWorker(t, leases)).workerId
    },
    claimAll: (workerId) => claimDue(core, { workerId, limit: 10_000 }),
  }
}

/** The same core by other connections: a pool of its own, perhaps by way of a proxy. */
export function openCore(t: Test, service: TestService, connections: number, url = service.env.DATABASE_URL): Core {
  const sql = openDatabase({ url: url as string, name: 'test', connections })
  const core = createCore({ sql, config: service.config, log: createLog('test', 'silent') })
  t.teardown(async () => {
    core.readiness.close()
    await sql.end({ timeout: 0 })
  })
  return core
}

export function keyOf({ messageId, recipientNo }: { messageId: string; recipientNo: number }): string {
  return `${messageId} ${recipientNo}`
}

export function recipients(count: number, domain = 'harbor.example'): string[] {
  return Array.from({ length: count }, (_, at) => `r${at}@${domain}`)
}

const TRIED = { stage: 'dot', host: 'mx1.harbor.example', address: '192.0.2.1', steps: [], milliseconds: 7 } as const

export const DELIVERED: Outcome = {
  ...TRIED,
  kind: 'delivered',
  reply: { code: 250, enhanced: '2.0.0', text: 'taken' },
}
export const BOUNCED: Outcome = {
  ...TRIED,
  kind: 'bounced',
  stage: 'rcpt',
  reply: { code: 550, enhanced: '5.1.1', text: 'no such user here' },
}
export const DEFERRED: Outcome = {
  ...TRIED,
  kind: 'deferred',
  indeterminate: false,
  stage: 'rcpt',
  reply: { code: 451, enhanced: '4.7.1', text: 'greylisted' },
}
export const INDETERMINATE: Outcome = {
  ...TRIED,
  kind: 'deferred',
  indeterminate: true,
  reply: { code: 0, enhanced: '4.4.1', text: 'the server closed the connection' },
}
export const DROPPED: Outcome = { kind: 'dropped', reason: 'unsubscribe' }
