import {
  type ClaimedDelivery,
  count,
  DELIVERY_CLASSES,
  type LoadedMessage,
  type Outcome,
  observe,
  type Providers,
  partsOfPlace,
  type TlsLevel,
} from '@postrider/core'
import type { SmtpConnection } from '../smtp/connection.ts'

export interface FinishedAttempt {
  readonly delivery: ClaimedDelivery
  readonly outcome: Outcome
  readonly message: LoadedMessage | undefined
  readonly destination: string | undefined
}

/** Counts a recorded attempt in the metrics of this process. */
export function countAttempt(
  { delivery, outcome, message, destination = '' }: FinishedAttempt,
  providers: Providers,
): void {
  const { kind } = outcome
  const provider = providers.named(partsOfPlace(destination).base)?.name ?? 'other'
  count('attempts_total', { outcome: kind, provider })
  if (outcome.kind === 'dropped') return
  observe('attempt_seconds', outcome.milliseconds / 1000, { outcome: outcome.kind })
  if (outcome.kind !== 'delivered') count('attempt_failures_total', { outcome: outcome.kind, stage: outcome.stage })
  if (outcome.kind === 'deferred' && outcome.indeterminate) count('indeterminate_attempts_total', {})
  if (outcome.kind !== 'delivered' || !message) return
  // Mail that is delivered by its first attempt may have been scheduled.
  const since = delivery.attempt === 1 ? delivery.dueAt : message.acceptedAt.getTime()
  observe('delivery_seconds', Math.max(Date.now() - since, 0) / 1000, { class: DELIVERY_CLASSES[delivery.class] })
}

/** Counts a session that was opened, with TLS or without. */
export function countSession({ tls, level, isVerified }: SmtpConnection): void {
  const version = tls === 'TLSv1.2' || tls === 'TLSv1.3' ? tls : 'none'
  count('outgoing_tls_total', {
    version,
    level,
    result: version === 'none' ? 'none' : isVerified ? 'verified' : 'unverified',
  })
}

/** Counts a session that was not begun, because TLS was not as demanded. */
export function countRefusedSession(level: TlsLevel): void {
  count('outgoing_tls_total', { version: 'none', level, result: 'refused' })
}
