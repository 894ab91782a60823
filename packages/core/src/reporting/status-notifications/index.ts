import { HOUR, type RateLimits } from '../../accounts/rate-limits/index.ts'
import type { Messages } from '../../messages/index.ts'
import { OPERATOR_PRINCIPAL, plainMail, plainSender, wholeMessage } from '../../messages/plain-mail.ts'
import { parseAddress } from '../../mime/address.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { composeNotification, SUBJECTS } from './compose.ts'
import {
  claimNotification,
  type DueNotification,
  type NotifiedDelivery,
  putOffAccount,
  queueNotifications,
  removeNotification,
  selectNotified,
} from './queue.ts'

/** The result of one notification. */
export interface SentNotification {
  readonly accountId: number
  readonly messageId: string
  /** Why it could not be sent. */
  readonly problem?: string
  /** Whether it is tried again. */
  readonly isRetried?: boolean
}

/** The mail that senders get about their deliveries (RFC 3461, RFC 3464). */
export interface NotificationMail {
  /** See queue.ts. */
  readonly queue: typeof queueNotifications
  /**
   * Sends one notification that is due, from the domain that it goes to, with the null return path. Each is accepted once, whatever is killed
   * when: its key is idempotent. Returns undefined if none is due. Any number of processes may call it; one at a time gets a notification.
   */
  sendSome(): Promise<SentNotification | undefined>
}

export interface NotificationDependencies {
  readonly sql: Sql
  readonly messages: Messages
  readonly rateLimits: RateLimits
  /** The name of the service, as in Received. */
  readonly host: string
}

/** Notifications of one account in an hour; the others wait for the next. */
const MAX_PER_HOUR = 500
/** Hours after which it is given up, since what it says is no longer news. */
const MAX_HOURS = 48

export function createNotificationMail({
  sql,
  messages,
  rateLimits,
  host,
}: NotificationDependencies): NotificationMail {
  async function originalOf({ accountId, messageId, recipientNo }: DueNotification): Promise<Buffer | undefined> {
    try {
      return await messages.source({ accountId, messageId, recipientNo })
    } catch (error) {
      if (error instanceof ServiceError && error.row.smtp.code >= 500) return undefined
      throw error
    }
  }

  async function accept(due: DueNotification, delivery: NotifiedDelivery): Promise<void> {
    const { to } = delivery.wanted
    const principal = await plainSender(sql, due.accountId, OPERATOR_PRINCIPAL)
    if (!principal) return
    const from = `mailer-daemon@${parseAddress(to)?.domain ?? ''}`
    const mime = composeNotification({ due, delivery, from, host, original: await originalOf(due) })
    const key = `notification ${due.messageId} ${due.recipientNo} ${due.id}`
    await messages.accept({
      ...plainMail({ principal, from: { email: from, name: '' }, to, clientAddress: '127.0.0.1' }),
      subject: SUBJECTS[due.action],
      content: wholeMessage(mime, { nullReturnPath: true }),
      idempotencyKey: key,
      fingerprint: Buffer.from(key),
    })
  }

  return {
    queue: queueNotifications,
    async sendSome() {
      const due = await claimNotification(sql)
      if (!due) return undefined
      const { id, accountId, messageId, hours } = due
      const sent = { accountId, messageId }
      if (hours > MAX_HOURS) {
        await removeNotification(sql, id)
        return { ...sent, problem: `more than ${MAX_HOURS} hours have passed since` }
      }
      const rate = {
        name: `notifications ${accountId}`,
        what: 'notifications per hour',
        limit: MAX_PER_HOUR,
        seconds: HOUR,
      }
      const { refused, retryAfter } = await rateLimits.take([rate])
      if (refused) {
        await putOffAccount(sql, accountId, retryAfter)
        return { ...sent, problem: `the account has more than ${MAX_PER_HOUR} in this hour`, isRetried: true }
      }
      const delivery = await selectNotified(sql, due)
      try {
        if (delivery) await accept(due, delivery)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        const isRetried = error.row.smtp.code < 500
        if (!isRetried) await removeNotification(sql, id)
        return { ...sent, problem: error.message, isRetried }
      }
      await removeNotification(sql, id)
      return sent
    },
  }
}
