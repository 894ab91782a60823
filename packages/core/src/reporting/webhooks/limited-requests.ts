import { randomUUID } from 'node:crypto'
import { selectHolder } from '../../accounts/store.ts'
import type { Event } from '../../events/event.ts'
import { createSharedSlots } from '../../platform/concurrency/shared-slots.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/net/outbound-http.ts'
import { bodyOf, post, probe, type Target, type WebhookResponse } from './send.ts'

/** Maximum numbers of concurrent probes and tests, in all of the process and of one holder. A receiver has ten seconds to respond. */
const SLOTS = { total: 32, each: 4, what: 'webhook probes' } as const

/** Requests for which a client of the account waits. Their number is limited; all methods throw overloaded. */
export interface LimitedRequests {
  /** Probes a URL. Throws webhookUnanswered. */
  requireResponse(accountId: number, target: Target): Promise<void>
  /** Sends events as a test and returns the receiver's response. */
  test(accountId: number, target: Target, events: readonly Event[]): Promise<WebhookResponse>
}

export function createLimitedRequests({ sql, http }: { sql: Sql; http: OutboundHttp }): LimitedRequests {
  const inSlot = createSharedSlots(SLOTS)
  const limited = async <T>(accountId: number, fn: () => Promise<T>) => inSlot(await selectHolder(sql, accountId), fn)

  return {
    async requireResponse(accountId, target) {
      const problem = await limited(accountId, () => probe(http, target, requestId('probe')))
      if (problem !== undefined) throw new ServiceError('webhookUnanswered', { values: { problem }, reason: problem })
    },
    test: (accountId, target, events) =>
      limited(accountId, () => post(http, target, { id: requestId('test'), body: bodyOf(target, events) })),
  }
}

function requestId(prefix: 'probe' | 'test'): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`
}
