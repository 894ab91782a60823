import type { ReturnPathTarget } from '../delivery/return-path.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'
import { unsubscribe } from '../tracking/unsubscribe.ts'
import { complain } from './complaint.ts'
import { bounceLate } from './late-bounce.ts'
import type { BounceReading, ReportedRecipient } from './read/index.ts'
import { hasEvent, lockReported, type ReportedDelivery } from './reported-delivery.ts'
import type { Reading, ReturnEffect } from './return-result.ts'

export interface Applied extends ReturnEffect {
  /** Undefined if it is no longer stored, or its recipient was erased. */
  readonly delivery: ReportedDelivery | undefined
}

export interface ReadReturn {
  /** The id under which it is stored, if it is. */
  readonly returnId: string
  readonly reading: Reading
  /** The delivery that it is about; undefined if it has no valid mark. */
  readonly target: ReturnPathTarget | undefined
}

/**
 * Does what follows from a report, and calls `note` in the same transaction, unless an attempt at the delivery is in progress: then nothing
 * is done, and the report must be taken again. Each kind of report has its effect once per delivery.
 */
export async function applyReading(
  { sql, hardBounceDays }: { readonly sql: Sql; readonly hardBounceDays: number },
  { returnId, reading, target }: ReadReturn,
  note: (transaction: SqlTransaction, applied: Applied) => Promise<void>,
): Promise<Applied> {
  const none = withoutEffect(reading)
  // In a transaction of its own, which locks in another order. If only this one is committed, the report is taken again.
  const isOptedOut = reading.kind === 'opt-out' && target !== undefined && (await optOut(sql, target, returnId))
  const applied = await sql.begin(async (transaction): Promise<Applied> => {
    const delivery = target && (await lockReported(transaction, target))
    const effect = none ? ({ effect: 'none', why: none } as const) : await apply(transaction, delivery)
    const result = { ...effect, delivery }
    if (result.why !== 'in-flight') await note(transaction, result)
    return result
  })
  return applied as Applied

  async function apply(transaction: SqlTransaction, delivery: ReportedDelivery | undefined): Promise<ReturnEffect> {
    if (!target) return { effect: 'none', why: 'unsigned' }
    if (!delivery) return { effect: 'none', why: 'gone' }
    if (reading.kind === 'opt-out')
      return isOptedOut ? { effect: 'unsubscribed', why: null } : { effect: 'none', why: 'repeated' }
    if (reading.kind === 'complaint')
      return complain(transaction, delivery, { feedback: reading.feedbackType, returnId })
    const recipient = failedRecipient(reading as BounceReading, delivery) as ReportedRecipient
    return bounceLate(transaction, delivery, { recipient, hardBounceDays, returnId })
  }
}

function withoutEffect(reading: Reading): ReturnEffect['why'] {
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

/** Returns false if the recipient had unsubscribed because of this message before: an old report does not undo a later consent. */
async function optOut(sql: Sql, target: ReturnPathTarget, returnId: string): Promise<boolean> {
  const delivery = (await sql.begin(async (transaction) => {
    const found = await lockReported(transaction, target)
    return found && !(await hasEvent(transaction, found, 'unsubscribed')) ? found : undefined
  })) as ReportedDelivery | undefined
  if (!delivery) return false
  const { accountId, messageId, recipientNo } = delivery
  const link = { kind: 'unsubscribe', accountId, messageId, recipientNo, group: 0, link: 0, url: '' } as const
  await sql.begin((transaction) => unsubscribe(transaction, { target: link, ip: null, userAgent: null, returnId }))
  // There is no event if the address was unsubscribed already.
  return hasEvent(sql, delivery, 'unsubscribed')
}
