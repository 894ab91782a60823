import { randomUUID } from 'node:crypto'
import type { Event } from '../../events/event.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/outbound-http.ts'
import { post, probe, type Target, type WebhookResponse, writeBody } from './send.ts'

/** Maximum number of concurrent probes and tests per process. */
const MAX_PROBES = 32

/** Requests for which a client waits. Their number is limited; all methods throw overloaded. */
export interface LimitedRequests {
  /** Probes a URL. Throws webhookUnanswered. */
  requireResponse(target: Target): Promise<void>
  /** Sends events as a test and returns the receiver's response. */
  test(target: Target, events: readonly Event[]): Promise<WebhookResponse>
}

export function createLimitedRequests(http: OutboundHttp): LimitedRequests {
  let probing = 0

  async function limited<T>(fn: () => Promise<T>): Promise<T> {
    if (probing >= MAX_PROBES) throw new ServiceError('overloaded', { reason: 'too many webhook probes' })
    probing++
    return fn().finally(() => probing--)
  }

  return {
    async requireResponse(target) {
      const problem = await limited(() => probe(http, target, requestId('probe')))
      if (problem !== undefined) throw new ServiceError('webhookUnanswered', { values: { problem }, reason: problem })
    },
    test: (target, events) =>
      limited(() => post(http, target, { id: requestId('test'), body: writeBody(target, events) })),
  }
}

function requestId(prefix: 'probe' | 'test'): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`
}
