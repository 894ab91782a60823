import { countMergeTags, renderMergeTags, tagsWithout } from '../../composition/merge.ts'
import { eventTypesWhere } from '../../events/event-types.ts'
import { atOnce } from '../../platform/concurrency/turns.ts'
import { dropText, isHardBounce, replyText } from '../events/texts.ts'

/** Maximum opens, and maximum clicks, of one row: the latest ones. */
export const MAX_HITS = 20

/** One delivery in the log. Times are `yyyy-mm-dd hh:mm:ss` in the account's time zone. */
export interface LogRow {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  readonly transactionNumber: string
  readonly recipient: string
  readonly from: string
  readonly acceptedAt: string
  /** Time when a server accepted it; empty until then. */
  readonly deliveredAt: string
  /** Time of the latest change. */
  readonly changedAt: string
  readonly status: LogStatus
  readonly size: number
  /** The server's reply, or the reason why nothing was sent. */
  readonly remarks: string
  readonly subject: string
  readonly reference: string
  readonly tags: readonly string[]
  readonly opens: readonly Hit[]
  readonly clicks: readonly (Hit & { readonly link: string })[]
}

export interface Hit {
  /** Empty in privacy mode. */
  readonly ip: string
  readonly time: string
}

/** The statuses of deliveries with the names of v2 contract 12.1, from the last stage to the first. */
export const LOG_STATUSES = [
  'spam',
  'unsubscribe',
  'click',
  'open',
  'hardbounce',
  'softbounce',
  'dropped',
  'invalid',
  'sent',
  'processed',
] as const
export type LogStatus = (typeof LOG_STATUSES)[number]

/** An event that a human or a server caused after the message was accepted. */
export interface Notable {
  readonly type: string
  readonly time: string
  readonly ip: string | null
  readonly url: string | null
  readonly class: string | null
  /** The server's reply in a bounce; null for other events. */
  readonly serverReply: { readonly code?: number; readonly enhanced?: string; readonly reply?: string } | null
}

/** A row as read from the database. */
export interface StoredRow extends Omit<LogRow, 'status' | 'remarks' | 'opens' | 'clicks' | 'reference'> {
  readonly reference: string | null
  readonly state: string
  readonly reason: string | null
  readonly merged: boolean
  /** Whether the attributes are the only values for its tags, so that a tag without one is empty. */
  readonly whole: boolean
  readonly attributes: Readonly<Record<string, string>> | null
  readonly code: number | null
  readonly enhanced: string | null
  readonly reply: string | null
  /** In chronological order. */
  readonly notable: readonly Notable[]
}

/** Returns the row of the log for a stored one. */
export function toLogRow(stored: StoredRow): LogRow {
  const { notable, subject } = stored
  const hits = (type: string) => notable.filter((event) => event.type === type)
  return {
    messageId: stored.messageId,
    recipientNo: stored.recipientNo,
    transactionNumber: stored.transactionNumber,
    recipient: stored.recipient,
    from: stored.from,
    acceptedAt: stored.acceptedAt,
    deliveredAt: stored.deliveredAt,
    changedAt: stored.changedAt,
    status: statusOf(stored),
    size: stored.size,
    remarks: remarksOf(stored),
    subject: stored.merged ? mergedSubject(stored) : subject,
    reference: stored.reference ?? '',
    tags: stored.tags,
    opens: hits('opened').map(({ ip, time }) => ({ ip: ip ?? '', time })),
    clicks: hits('clicked').map(({ ip, url, time }) => ({ ip: ip ?? '', link: url ?? '', time })),
  }
}

/** Returns the subject as the recipient saw it; as submitted if that requires more than the attributes. */
function mergedSubject({ subject, attributes, whole }: StoredRow): string {
  const values = attributes ?? {}
  return whole || tagsWithout([atOnce(countMergeTags(subject))], values).length === 0
    ? renderMergeTags(subject, values)
    : subject
}

/** The statuses that the occurrence of one event decides, the furthest first. */
const BY_EVENT = LOG_STATUSES.flatMap((status) =>
  eventTypesWhere(({ log }) => log.statuses.length === 1 && log.statuses[0] === status).map((type) => ({
    type,
    status,
  })),
)

function statusOf(stored: StoredRow): LogStatus {
  const { state, reason } = stored
  const byEvent = BY_EVENT.find(({ type }) => stored.notable.some((event) => event.type === type))
  if (byEvent) return byEvent.status
  const bounce = bounceOf(stored)
  // Expired mail is a soft bounce, because no server permanently rejected it.
  if (bounce || state === 'expired') return isHardBounce(bounce?.class ?? undefined) ? 'hardbounce' : 'softbounce'
  if (state === 'dropped') return reason === 'invalid' ? 'invalid' : 'dropped'
  return state === 'delivered' ? 'sent' : 'processed'
}

function bounceOf({ notable }: StoredRow): Notable | undefined {
  return notable.findLast(({ type }) => type === 'bounced')
}

function remarksOf(stored: StoredRow): string {
  const { state, reason, code, enhanced, reply } = stored
  if (state === 'dropped') return dropText(reason ?? undefined)
  const bounce = state === 'delivered' ? bounceOf(stored) : undefined
  return replyText(bounce ? (bounce.serverReply ?? {}) : { code, enhanced, reply })
}
