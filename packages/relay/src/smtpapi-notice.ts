import { type Core, type Log, parseAddress, ServiceError, type Submission } from '@postrider/core'
import { SMTPAPI_DROPPED } from './smtpapi.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'

export interface Undone {
  /** What was accepted and dropped. */
  readonly submission: Submission
  readonly problems: readonly SmtpApiProblem[]
  readonly messageId: string
  /** MAIL FROM. */
  readonly to: string
}

/** Tells MAIL FROM why nothing was sent, if there is anything to tell. The message is stored whatever becomes of that. */
export async function tellSender({ core, log }: { core: Core; log: Log }, undone: Undone): Promise<void> {
  if (undone.problems.length === 0 || undone.to === '') return
  try {
    await core.messages.accept(notice(undone))
  } catch (error) {
    if (error instanceof ServiceError) log.info({ refusal: error.errorName }, 'a sender was not told')
    else log.warn({ err: error }, 'a sender was not told')
  }
}

/**
 * The mail that tells a sender why nothing was sent. It comes from the postmaster of the sender's own domain; it wants no answer
 * and no bounce (RFC 3834 5.2, RFC 5321 4.5.5), and there is one for a message however often that is offered.
 */
function notice({ submission, problems, messageId, to }: Undone): Submission {
  const { principal, from, subject, clientAddress } = submission
  const domain = parseAddress(from?.email ?? '')?.domain ?? ''
  return {
    door: 'smtp',
    // It is from the service: what the key may not send or to whom is not asked.
    principal: { ...principal, restrictions: null, rates: { ...principal.rates, recipients: null } },
    clientAddress,
    from: { email: `postmaster@${domain}`, name: '' },
    subject: `Not delivered: ${SMTPAPI_DROPPED}`,
    replyTo: undefined,
    content: {
      ...{ kind: 'parts', html: undefined, amp: undefined, nullReturnPath: true },
      text: textOf({ messageId, problems, subject, recipients: recipientsIn(submission) }),
    },
    literal: true,
    templateId: undefined,
    attachmentIds: [],
    attachments: [],
    envelopes: [
      {
        ...{ to: [to], cc: [], bcc: [], reference: undefined, referenceCc: undefined },
        ...{ attributes: {}, headers: { 'Auto-Submitted': 'auto-generated' }, attachments: [] },
      },
    ],
    tags: [],
    settings: {},
    scheduledAt: undefined,
    idempotencyKey: `notice of ${messageId}`,
    fingerprint: Buffer.from(messageId),
    nameOf: (field) => field,
  }
}

function recipientsIn({ envelopes }: Submission): number {
  return envelopes.reduce((sum, { to, bcc }) => sum + to.length + bcc.length, 0)
}

interface Told {
  readonly messageId: string
  readonly problems: readonly SmtpApiProblem[]
  readonly subject: string | undefined
  readonly recipients: number
}

function textOf({ messageId, problems, subject, recipients }: Told): string {
  return [
    'A message was accepted and then sent to nobody, since its X-SMTPAPI field cannot be carried out.',
    '',
    `Message: ${messageId}`,
    `Subject: ${subject ?? ''}`,
    `Recipients: ${recipients}, each recorded as dropped`,
    '',
    ...problems.map(({ path, problem }) => `- ${path}: ${problem}`),
    '',
    'It is not tried again. Mend the field and send the message anew.',
    '',
  ].join('\r\n')
}
