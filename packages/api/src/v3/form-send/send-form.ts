import { createHash } from 'node:crypto'
import {
  type Core,
  defined,
  followSmtpApi,
  ServiceError,
  type Submission,
  unknownTo,
  validFileName,
} from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientAddress } from '../../http/client-address.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { JsonError } from '../../http/strict-json.ts'
import { traceParentOf } from '../../http/trace-parent.ts'
import { sayIgnored } from '../../ignored.ts'
import { MultipartError } from '../../v2/body/multipart.ts'
import { checkMail } from '../mail-send/check.ts'
import { HELP_PATH } from '../mail-send/help-page.ts'
import { takeOwnFields } from '../mail-send/own-fields.ts'
import { toSubmission } from '../mail-send/to-submission.ts'
import { ValidationErrors } from '../mail-send/validation-errors.ts'
import { refuse, V3Refusal } from '../refusal.ts'
import { type Form, readForm } from './fields.ts'
import { directivesOf, mailOf, NO_RECIPIENT, nameOfField } from './to-mail.ts'

interface FormCall {
  readonly core: Core
  readonly publicUrl: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Whether other calls wait while the form is read. */
  readonly isShared: boolean
}

/** Accepts what the form says, as POST /v3/mail/send would; X-SMTPAPI is that of the relay. */
export async function sendForm(call: FormCall): Promise<void> {
  const { core, request, reply } = call
  const form = readable(call)
  const submission = await submissionOf(form, call)
  const directives = directivesOf(form)
  const followed = directives === undefined ? submission : await withDirectives(directives, submission, form, core)
  core.messages.requireRecipients(followed.envelopes.length)
  try {
    const { repeated } = await core.messages.accept(followed)
    if (repeated) reply.header('idempotent-replayed', 'true')
  } catch (error) {
    throw inOwnWords(error)
  }

  function readable({ isShared }: FormCall): Form {
    try {
      return readForm(request, isShared)
    } catch (error) {
      throw unreadable(error)
    }
  }
}

/** Says what is wrong with the form, which the errors of the JSON API do not. */
function unreadable(error: unknown): unknown {
  if (error instanceof MultipartError || error instanceof JsonError) return refuse(400, error.message)
  if (!(error instanceof ServiceError)) return error
  const { errorName, values } = error
  if (errorName === 'jsonInvalid') return refuse(400, String(values.problem))
  return errorName === 'tooLarge' ? refuse(413, `A form may have at most ${values.limit}.`) : error
}

async function submissionOf(form: Form, { core, publicUrl, request, reply }: FormCall): Promise<Submission> {
  const { principal } = request
  const whole = mailOf(form)
  const now = core.clock.now()
  checkMail({ mail: whole, errors: new ValidationErrors(`${publicUrl}${HELP_PATH}`), now })
  const { mail, date, sender, ignored } = takeOwnFields(whole)
  const isOwn = sender === undefined || (await core.messages.namesOwn(sender.email, principal))
  sayIgnored(reply, [...ignored, ...(isOwn ? [] : ['headers.Sender'])])
  const fields = defined({ date, sender: isOwn ? sender : undefined })
  const idempotencyKey = idempotencyKeyOf(request)
  const common = { principal, clientAddress: clientAddress(request), now, idempotencyKey }
  return {
    ...toSubmission({ mail, fields, ...common }),
    attachments: form.files.map(({ fileName, content }) => {
      const contentId = form.contentIds.get(fileName)
      return { fileName: validFileName(fileName), content, ...(contentId ? { contentId, disposition: 'inline' } : {}) }
    }),
    fingerprint: idempotencyKey === undefined ? undefined : fingerprintOf(form),
    traceParent: traceParentOf(request),
    nameOf: nameOfField,
  }
}

/** Throws V3Refusal for a field that the relay would have reported to the sender by mail. */
async function withDirectives(written: string, submission: Submission, form: Form, core: Core): Promise<Submission> {
  const [{ to: recipients }] = submission.envelopes as [Submission['envelopes'][number]]
  const target = { submission, recipients, now: new Date(core.clock.now()) }
  const accountId = submission.principal.account.id
  const followed = await followSmtpApi(written, target, (api) => unknownTo(core, accountId, api))
  if ('problems' in followed) {
    const errors = followed.problems.map(({ path, problem }) => {
      const field = path === 'X-SMTPAPI' ? 'x-smtpapi' : `x-smtpapi.${path}`
      return { message: problem, field, help: null }
    })
    throw new V3Refusal(400, errors)
  }
  const isNamed = (followed.api.to?.length ?? 0) > 0 || (form.values.get('to') ?? []).some((email) => email !== '')
  if (!isNamed) throw refuse(400, NO_RECIPIENT)
  // Arguments may be of any kind.
  return { ...followed.submission, nameOf: nameOfField }
}

/** Without the key, which may be another one when the call is repeated. */
function fingerprintOf({ values, files, contentIds }: Form): Buffer {
  const hash = createHash('sha256').update('v3 form')
  const texts = [...values].filter(([name]) => name !== 'api_key' && name !== 'api_user').sort()
  hash.update(JSON.stringify([texts, [...contentIds].sort()]))
  for (const { fileName, content } of files) hash.update(JSON.stringify([fileName, content.length])).update(content)
  return hash.digest()
}

function inOwnWords(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.errorName !== 'senderInvalid') return error
  const problem = error.values.domain === undefined ? '' : ` ${error.values.problem}.`
  return refuse(403, `The from address does not match a verified Sender Identity.${problem}`, 'from')
}
