import { createSecrets, makeTrackingToken, type TrackingTarget } from '@postrider/core'
import type { Test } from 'tap'
import { DELIVERED } from '../../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { claimDue } from '../../helpers/claim.ts'
import { moveClock } from '../../helpers/database.ts'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'
import { type CallAnswer, type CallOptions, call } from '../call.ts'

export interface StoredEvent {
  readonly type: string
  readonly recipientNo: number
  readonly detail: Record<string, unknown>
}

/** People and machines with mail in their hands, and the service's door for them. */
export interface Readers {
  readonly service: TestService
  readonly base: string
  readonly sender: Sender
  /** A message that was delivered to these a minute ago; answers its id. */
  deliver(recipients?: readonly string[], sender?: Sender): Promise<string>
  /** One that waits to be delivered. */
  accept(recipients?: readonly string[], sender?: Sender): Promise<string>
  /** Has what is due delivered, now. */
  deliverAll(): Promise<void>
  pixel(messageId: string, extra?: Partial<TrackingTarget>): string
  link(messageId: string, url: string, extra?: Partial<TrackingTarget>): string
  leave(messageId: string, extra?: Partial<TrackingTarget>): string
  /** Asks as a browser does, unless told otherwise. */
  ask(path: string, options?: CallOptions): Promise<CallAnswer>
  /** Lets time go by, and answers what readers did with the message, in order. */
  seen(messageId: string): Promise<StoredEvent[]>
  /** Lets so many seconds go by. */
  pass(seconds: number): Promise<void>
}

export const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const BY_READERS = ['opened', 'clicked', 'unsubscribed']

export async function makeReaders(t: Test, settings: Record<string, string> = {}): Promise<Readers> {
  const service = await makeService(t, settings)
  const base = await service.openApi()
  const sender = await service.makeSender()
  const secrets = createSecrets(service.env.SECRET_KEY as string)
  let offset = 0
  const pass = async (seconds: number): Promise<void> => {
    offset += seconds
    await moveClock(service.sql, `${offset} seconds`)
  }
  const token = (kind: TrackingTarget['kind'], messageId: string, extra: Partial<TrackingTarget>): string => {
    const common = { accountId: sender.accountId, recipientNo: 0, group: 0, link: 0, url: '' }
    return makeTrackingToken(secrets, { ...common, kind, messageId, ...extra })
  }
  const accept = async (recipients: readonly string[] = ['lena@harbor.example'], by = sender): Promise<string> =>
    (await acceptMessage(service, by, { envelopes: recipients.map((to) => envelopeTo(to)) })).messageId
  const deliverAll = async (): Promise<void> => {
    const lease = await service.core.deliveries.register({ host: 'worker.example', pid: process.pid })
    const { workerId } = lease
    const claimed = await claimDue(service.core, { workerId, limit: 1000 })
    await service.core.deliveries.record(claimed.map((delivery) => ({ ...delivery, workerId, outcome: DELIVERED })))
    await lease.release()
  }
  return {
    service,
    base,
    sender,
    accept,
    deliverAll,
    pass,
    async deliver(recipients, by) {
      const messageId = await accept(recipients, by)
      await deliverAll()
      await pass(60)
      return messageId
    },
    pixel: (messageId, extra = {}) => `/t/o/${token('open', messageId, extra)}`,
    link: (messageId, url, extra = {}) => `/t/c/${token('click', messageId, { url, ...extra })}`,
    leave: (messageId, extra = {}) => `/t/u/${token('unsubscribe', messageId, extra)}`,
    ask: (path, { headers = {}, ...options } = {}) =>
      call(base, { method: 'GET', path, headers: { 'user-agent': BROWSER, ...headers }, ...options }),
    async seen(messageId) {
      await pass(10)
      while (await service.core.tracking.classify());
      const events = await service.sql<StoredEvent[]>`
        select type, recipient_no as "recipientNo", detail from events
         where message_id = ${messageId}::uuid and type = any(${BY_READERS}) order by occurred_at, id`
      return [...events]
    },
  }
}
