import { UNDEMANDING } from '../delivery/tls/levels.ts'
import { selectHolder } from '../domains/store.ts'
import type { Config } from '../platform/config/config.ts'
import type { Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { SubmittedAttachment } from '../submission/submission.ts'
import type { Acceptance } from './accept.ts'
import type { Messages } from './index.ts'
import { OPERATOR_PRINCIPAL, plainMail, plainSender, wholeMessage } from './plain-mail.ts'

/** A message of the service itself. */
export interface ServiceMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly attachments?: readonly SubmittedAttachment[]
  readonly replyTo?: string | undefined
  /** The whole message, instead of text and attachments, without Date and Message-ID. It is delivered even if TLS fails (RFC 8460 3). */
  readonly mime?: Buffer
  /** Repeated calls with it send one message, within 24 hours. */
  readonly key: string
}

/** Mail of the service to its operator and to the owners of accounts. */
export interface ServiceMail {
  /** Where mail to the operator goes; undefined if that is not set. */
  readonly operatorMail: string | undefined
  /** Whether messages can be sent: SERVICE_DOMAIN is set. */
  readonly isPossible: boolean
  /**
   * Accepts a message from `noreply@` SERVICE_DOMAIN, in the account that has this domain. Suppressions of the operator's own address do not
   * apply.
   *
   * Throws senderInvalid if no account has the domain or it is not active, and the errors of `accept`.
   */
  send(message: ServiceMessage): Promise<Acceptance>
}

export interface ServiceMailDependencies {
  readonly sql: Sql
  readonly messages: Messages
  readonly config: Pick<Config, 'operatorMail' | 'serviceDomain'>
}

/** Time after which a message that could not be accepted is given up: its key must not expire before (idempotency.ts). */
export const SERVICE_MAIL_HOURS = 20

export function createServiceMail({ sql, messages, config }: ServiceMailDependencies): ServiceMail {
  const { operatorMail, serviceDomain } = config
  return {
    operatorMail,
    isPossible: serviceDomain !== undefined,
    async send({ to, subject, text, attachments = [], replyTo, key, mime }) {
      const holder = serviceDomain === undefined ? undefined : await selectHolder(sql, serviceDomain)
      const principal = holder && (await plainSender(sql, holder.accountId, OPERATOR_PRINCIPAL))
      if (!principal) {
        const problem = `SERVICE_DOMAIN (${serviceDomain ?? 'not set'}) is not a sending domain of any account`
        throw new ServiceError('senderInvalid', { values: { domain: serviceDomain ?? '', problem, where: problem } })
      }
      const from = { email: `noreply@${serviceDomain}`, name: 'Postrider' }
      const mail = plainMail({ principal, from, to, clientAddress: '127.0.0.1' })
      return messages.accept({
        ...mail,
        subject,
        content: mime
          ? wholeMessage(mime, { nullReturnPath: false })
          : { kind: 'parts', html: undefined, text, amp: undefined },
        attachments,
        replyTo,
        // Its text may quote what others wrote.
        literal: true,
        settings: {
          ...mail.settings,
          ...(to === operatorMail ? { bypass: ['all'] as const } : {}),
          ...(mime ? { tls: UNDEMANDING } : {}),
        },
        idempotencyKey: key,
        fingerprint: Buffer.from(key),
      })
    },
  }
}
