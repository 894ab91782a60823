import type { ReturnPathTarget } from '../delivery/return-path.ts'
import type { Sql } from '../platform/database/database.ts'
import type { Secrets } from '../platform/secrets.ts'
import { unsubscribe } from '../tracking/unsubscribe.ts'
import { complain } from './complaint.ts'
import { findTarget } from './find-target.ts'
import { bounceLate } from './late-bounce.ts'
import { notedRecipients } from './noted-recipients.ts'
import { type BounceReading, type ReportedRecipient, type ReturnReading, readReturn } from './read/index.ts'
import { lockReported, type ReportedDelivery } from './reported-delivery.ts'
import type { ReturnEffect } from './return-effect.ts'

export interface TakenReturn {
  /** The message that came back, with its header. */
  readonly raw: Buffer
  /** Its recipients, among them the return path that it was sent to. If undefined, those that servers noted in its header. */
  readonly recipients?: readonly string[] | undefined
}

export interface ReturnResult extends ReturnEffect {
  readonly kind: ReturnReading['kind']
  /** Null if it has no valid mark. */
  readonly delivery: ReturnPathTarget | null
}

export interface ReturnDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly now: () => number
  readonly hardBounceDays: number
}

/**
 * Reads a message that came back, and does what follows from it, in one transaction that is committed when this returns. Each kind of report has
 * its effect once per delivery; one without a valid mark of this service has none. Throws if the database is unavailable.
 */
export async function takeReturn(
  dependencies: ReturnDependencies,
  { raw, recipients = notedRecipients(raw) }: TakenReturn,
): Promise<ReturnResult> {
  const { sql, secrets, now } = dependencies
  const reading = readReturn(raw)
  const target = findTarget({ secrets, recipients, reading, now: now() })
  const known = { kind: reading.kind, delivery: target ?? null }
  const none = withoutEffect(reading)
  if (none) return { ...known, effect: 'none', why: none }
  if (!target) return { ...known, effect: 'none', why: 'unsigned' }
  if (reading.kind === 'opt-out') return { ...known, ...(await optOut(dependencies, target)) }
  const effect = await sql.begin(async (transaction): Promise<ReturnEffect> => {
    const delivery = await lockReported(transaction, target)
    if (!delivery) return { effect: 'none', why: 'gone' }
    if (reading.kind === 'complaint') return complain(transaction, delivery, reading.feedbackType)
    const recipient = failedRecipient(reading as BounceReading, delivery) as ReportedRecipient
    return bounceLate(transaction, delivery, { recipient, hardBounceDays: dependencies.hardBounceDays })
  })
  return { ...known, ...(effect as ReturnEffect) }
}

function withoutEffect(reading: ReturnReading): ReturnEffect['why'] {
  const { kind } = reading
  if (kind === 'bounce') return reading.recipients.some(({ action }) => action === 'failed') ? null : 'not-failed'
  return kind === 'complaint' || kind === 'opt-out' ? null : kind
}

/**
 * Returns the recipient of the report that failed. A delivery has one recipient, but a list may have passed the message on to many, whose names
 * the report has: a soft failure then decides, because the address itself exists.
 */
function failedRecipient(
  { recipients }: BounceReading,
  { recipientKey }: ReportedDelivery,
): ReportedRecipient | undefined {
  const failed = recipients.filter(({ action }) => action === 'failed')
  return (
    failed.find(({ recipient }) => recipient.toLowerCase() === recipientKey) ??
    failed.find(({ hard }) => !hard) ??
    failed[0]
  )
}

async function optOut({ sql }: ReturnDependencies, target: ReturnPathTarget): Promise<ReturnEffect> {
  const delivery = await sql.begin((transaction) => lockReported(transaction, target))
  if (!delivery) return { effect: 'none', why: 'gone' }
  const { accountId, messageId, recipientNo } = delivery as ReportedDelivery
  const link = { kind: 'unsubscribe', accountId, messageId, recipientNo, group: 0, link: 0, url: '' } as const
  await unsubscribe(sql, { target: link, ip: null, userAgent: null })
  return { effect: 'unsubscribed', why: null }
}
