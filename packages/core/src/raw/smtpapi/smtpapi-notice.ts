import type { Messages } from '../../messages/index.ts'
import { parseAddress } from '../../mime/address.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Log } from '../../platform/process/log.ts'
import { singleMessage } from '../../submission/single-message.ts'
import type { Submission } from '../../submission/submission.ts'
import { SMTPAPI_DROPPED } from './smtpapi.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'

export type NoticeLog = Pick<Log, 'info' | 'warn'>

export interface DroppedSubmission {
  /** The submission that was accepted and dropped. */
  readonly submission: Submission
  readonly problems: readonly SmtpApiProblem[]
  readonly messageId: string
  /** MAIL FROM. */
  readonly to: string
}

/** Notifies MAIL FROM why nothing was sent, if there are problems. A failure does not affect the stored message. */
export async function notifySender(
  { messages, log }: { messages: Messages; log: NoticeLog },
  dropped: DroppedSubmission,
): Promise<void> {
  if (dropped.problems.length === 0 || dropped.to === '') return
  try {
    await messages.accept(notice(dropped))
  } catch (error) {
    if (error instanceof ServiceError) log.info({ refusal: error.errorName }, 'could not send X-SMTPAPI error notice')
    else log.warn({ err: error }, 'could not send X-SMTPAPI error notice')
  }
}

/**
 * The notice to the sender. It comes from the postmaster of the sender's own domain, must cause neither replies nor bounces (RFC 3834
 * 5.2, RFC 5321 4.5.5), and is sent once per message, even if the message is submitted again.
 */
function notice({ submission, problems, messageId, to }: DroppedSubmission): Submission {
  const { door, principal, from, subject, clientAddress } = submission
  const domain = parseAddress(from?.email ?? '')?.domain ?? ''
  return {
    ...singleMessage({
      door,
      // The service sends it, so the restrictions of the key do not apply.
      principal: { ...principal, restrictions: null, rates: { ...principal.rates, recipients: null } },
      clientAddress,
      from: { email: `postmaster@${domain}`, name: '' },
      to,
      headers: { 'Auto-Submitted': 'auto-generated' },
    }),
    subject: `Not delivered: ${SMTPAPI_DROPPED}`,
    content: {
      kind: 'parts',
      html: undefined,
      amp: undefined,
      nullReturnPath: true,
      text: textOf({ messageId, problems, subject, recipients: recipientsIn(submission) }),
    },
    literal: true,
    idempotencyKey: `notice of ${messageId}`,
    fingerprint: Buffer.from(messageId),
  }
}

function recipientsIn({ envelopes }: Submission): number {
  return envelopes.reduce((sum, { to, bcc }) => sum + to.length + bcc.length, 0)
}

interface NoticeContent {
  readonly messageId: string
  readonly problems: readonly SmtpApiProblem[]
  readonly subject: string | undefined
  readonly recipients: number
}

function textOf({ messageId, problems, subject, recipients }: NoticeContent): string {
  return [
    'Your message was accepted but not delivered: its X-SMTPAPI header is invalid.',
    '',
    `Message: ${messageId}`,
    `Subject: ${subject ?? ''}`,
    `Recipients: ${recipients}, each recorded as dropped`,
    '',
    ...problems.map(({ path, problem }) => `- ${path}: ${problem}`),
    '',
    'The message will not be retried. Correct the header and send it again.',
    '',
  ].join('\r\n')
}
