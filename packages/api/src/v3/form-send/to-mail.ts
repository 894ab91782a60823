import { readMailboxes, type SubmissionField } from '@postrider/core'
import { JsonError, parseStrictJson } from '../../http/strict-json.ts'
import type { RawMail, RawMailbox } from '../mail-send/body.ts'
import { refuse, V3Refusal } from '../refusal.ts'
import type { Form } from './fields.ts'

/** The form as a body of POST /v3/mail/send, without the files, which have no base64 here. Throws V3Refusal. */
export function mailOf(form: Form): RawMail {
  const { values } = form
  const one = (name: string): string | undefined => values.get(name)?.at(-1) || undefined
  const seen = new Set<string>()
  const mailboxes = (list: string): RawMailbox[] =>
    (values.get(list) ?? []).flatMap((written, at) => {
      const mailbox = mailboxOf(written, values.get(`${list}name`)?.[at])
      const key = String(mailbox.email).toLowerCase()
      // Programs repeat those of cc in to: each of them gets one copy.
      if (key === '' || seen.has(key)) return []
      seen.add(key)
      return [mailbox]
    })
  const [to, cc, bcc] = [mailboxes('to'), mailboxes('cc'), mailboxes('bcc')]
  const from = mailboxOf(one('from') ?? '', one('fromname'))
  const [text, html, replyTo] = [one('text'), one('html'), one('replyto')]
  requireFilled({ to, from, subject: one('subject'), body: text ?? html, directives: directivesOf(form) })
  return {
    // Those of X-SMTPAPI take their place.
    personalizations: [{ to: to.length > 0 ? to : [from], cc, bcc }],
    from,
    ...(replyTo === undefined ? {} : { reply_to: mailboxOf(replyTo, undefined) }),
    subject: one('subject'),
    content: [
      ...(text === undefined ? [] : [{ type: 'text/plain', value: text }]),
      ...(html === undefined ? [] : [{ type: 'text/html', value: html }]),
    ],
    headers: headersOf(one('headers'), one('date')),
  }
}

/** The value of x-smtpapi; undefined if it is blank. */
export function directivesOf({ values }: Form): string | undefined {
  return values.get('x-smtpapi')?.at(-1)?.trim() || undefined
}

export const NO_RECIPIENT = 'Missing destination email'

/** The texts that this API had. */
function requireFilled(given: {
  readonly to: readonly RawMailbox[]
  readonly from: RawMailbox
  readonly subject: string | undefined
  readonly body: string | undefined
  readonly directives: string | undefined
}): void {
  const { to, from, subject, body, directives } = given
  const missing = [
    ...(to.length === 0 && directives === undefined ? [NO_RECIPIENT] : []),
    ...(from.email === '' ? ['Empty from email address (required)'] : []),
    ...(subject === undefined ? ['Missing subject'] : []),
    ...(body === undefined ? ['Missing email body'] : []),
  ]
  if (missing.length > 0)
    throw new V3Refusal(
      400,
      missing.map((message) => ({ message, field: null, help: null })),
    )
}

function mailboxOf(written: string, name: string | undefined): RawMailbox {
  const email = written.trim()
  const { mailboxes } = email.endsWith('>') && email.length <= MAX_MAILBOX ? readMailboxes(email) : { mailboxes: [] }
  const [read] = mailboxes
  return { email: read?.email ?? email, name: name || (read?.name ?? '') }
}

const MAX_MAILBOX = 1000

function headersOf(written: string | undefined, date: string | undefined): Record<string, string> {
  const dated = date === undefined ? {} : { Date: date }
  if (written === undefined) return dated
  let headers: unknown
  try {
    headers = parseStrictJson(Buffer.from(written))
  } catch (error) {
    throw error instanceof JsonError ? refuse(400, 'must be a JSON object', 'headers') : error
  }
  // PHP writes an empty object as an empty list.
  if (Array.isArray(headers) && headers.length === 0) return dated
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw refuse(400, 'must be a JSON object', 'headers')
  }
  const texts = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
  ])
  return { ...Object.fromEntries(texts), ...dated }
}

const NAMES: Partial<Record<SubmissionField, string>> = {
  fromEmail: 'from',
  fromName: 'fromname',
  replyTo: 'replyto',
  recipient: 'to',
  names: 'toname',
  content: 'text',
  attachments: 'files',
  attachmentContent: 'files',
  scheduledAt: 'x-smtpapi.send_at',
  tags: 'x-smtpapi.category',
  substitutions: 'x-smtpapi.sub',
  sections: 'x-smtpapi.section',
  customArgs: 'x-smtpapi.unique_args',
  template: 'x-smtpapi.filters.templates',
  batch: 'x-smtpapi.batch_id',
  groups: 'x-smtpapi.asm_groups_to_display',
  bypass: 'x-smtpapi.filters',
  footer: 'x-smtpapi.filters.footer',
  openTracking: 'x-smtpapi.filters.opentrack',
  unsubscribe: 'x-smtpapi.filters.subscriptiontrack',
  linkParameters: 'x-smtpapi.filters.ganalytics',
  idempotencyKey: 'Idempotency-Key',
}

/** The form's names of what core refuses. */
export function nameOfField(field: SubmissionField, _envelope?: number, key?: string): string {
  const name = NAMES[field] ?? field
  return key === undefined ? name : `${name}.${key}`
}
