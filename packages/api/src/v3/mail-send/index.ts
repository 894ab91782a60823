import { type Core, defined, LIMITS, ServiceError, type Submission, shortMessageId } from '@postrider/core'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { traceParentOf } from '../../http/trace-parent.ts'
import { sayIgnored } from '../../ignored.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { V3Refusal } from '../refusal.ts'
import { isEnabled, type RawMail } from './body.ts'
import { checkMail } from './check.ts'
import { HELP_PATH } from './help-page.ts'
import { readMail } from './kinds.ts'
import { takeOwnFields } from './own-fields.ts'
import type { RuleName } from './rules.ts'
import { toSubmission } from './to-submission.ts'
import { ValidationErrors } from './validation-errors.ts'

/** POST /v3/mail/send (contract section 2): one call is one message, whose envelopes are the personalizations. */
export const MAIL_SEND: readonly Operation[] = [
  operation({
    name: 'sendMail',
    summary: 'Send a message to one or more recipients',
    cli: 'message send',
    section: '2',
    method: 'POST',
    path: '/mail/send',
    scope: 'send',
    right: 'mail.send',
    status: 202,
    anyBody: true,
    sends: true,
    act: (_input, call) => sendMail(call),
  }),
]

/** Responds with only a status and the message's id: 202, or 200 for a dry run (contract 2.2). */
async function sendMail({ core, principal, by, publicUrl, request, reply }: Call): Promise<void> {
  const errors = new ValidationErrors(`${publicUrl}${HELP_PATH}`)
  const mail = readMail(request.body, errors)
  requireSize(mail, request.octets?.length ?? 0)
  core.messages.requireRecipients(mail.personalizations?.length ?? 0)
  const now = core.clock.now()
  checkMail({ mail, errors, now })
  const { date, sender, ...own } = takeOwnFields(mail)
  const isOwn = sender === undefined || (await core.messages.namesOwn(sender.email, principal))
  sayIgnored(reply, [...own.ignored, ...(isOwn ? [] : ['headers.Sender'])])
  const fields = defined({ date, sender: isOwn ? sender : undefined })
  const call = { mail: own.mail, fields, principal, clientAddress: by.address, now }
  const idempotencyKey = idempotencyKeyOf(request)
  const submission = { ...toSubmission({ ...call, idempotencyKey }), traceParent: traceParentOf(request) }
  await requireGroup(submission, core, errors)
  try {
    if (isEnabled(mail.mail_settings?.sandbox_mode)) {
      await core.messages.validateOnly(submission)
      reply.code(200)
      return
    }
    const { messageId, repeated } = await core.messages.accept(submission)
    reply.header('x-message-id', shortMessageId(messageId))
    if (repeated) reply.header('idempotent-replayed', 'true')
  } catch (error) {
    throw withV3Text(error, submission, errors, publicUrl)
  }
}

/** Row 54. Checked after everything else. */
async function requireGroup({ settings: { group }, principal }: Submission, core: Core, errors: ValidationErrors) {
  if (group === undefined) return
  if ((await core.groups.known(principal.account.id, [group])).has(group)) return
  errors.add('groupUnknown', 'asm.group_id', { given: group })
  throw errors.refusal
}

/** Row 74: the size of the message without the base64 overhead of its attachments. Throws tooLarge. */
function requireSize({ attachments }: RawMail, octets: number): void {
  if (octets <= LIMITS.messageSize) return
  const encoded = (attachments ?? []).reduce(
    (sum, { content }) => sum + (typeof content === 'string' ? content.length : 0),
    0,
  )
  if (octets - encoded / 4 > LIMITS.messageSize) throw new ServiceError('tooLarge')
}

/** Errors of core for which v3 has its own texts and fields. */
const OWN: Readonly<Record<string, readonly [rule: RuleName, field: string]>> = {
  subjectMissing: ['subjectMissing', 'subject'],
  contentMissing: ['contentMissing', 'content'],
  templateUnknown: ['templateUnknown', 'template_id'],
  batchUnknown: ['batchUnknown', 'batch_id'],
  poolUnknown: ['poolUnknown', 'ip_pool_name'],
}

function withV3Text(error: unknown, { templateKey }: Submission, errors: ValidationErrors, publicUrl: string): unknown {
  if (!(error instanceof ServiceError)) return error
  if (error.errorName === 'senderInvalid') {
    const message =
      `The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. ` +
      `${error.values.domain === undefined ? '' : `${error.values.problem}. `}See ${publicUrl}/docs`
    return new V3Refusal(403, [{ message, field: 'from', help: null }])
  }
  const own = OWN[error.errorName]
  if (own === undefined) return error
  errors.add(...own, templateKey === undefined ? {} : { given: templateKey })
  return errors.refusal
}
