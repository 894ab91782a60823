import { jsonKind } from '../input.ts'
import { badRequest } from '../refusal.ts'
import type { RawMail } from './body.ts'
import type { ValidationErrors } from './validation-errors.ts'

/** The type of JSON allowed at a place. Leaves that have a rule of their own are not listed. */
type Kind =
  | { readonly is: 'object'; readonly members: Readonly<Record<string, Kind>> }
  | { readonly is: 'list'; readonly of: Kind }
  /** An object whose keys are chosen by the client; its values are checked by the rules. */
  | { readonly is: 'map' }
  /** The same with strings as values; other values are rejected without naming the field (contract rows 18 and 23). */
  | { readonly is: 'texts' }
  | { readonly is: 'text' }

const TEXT: Kind = { is: 'text' }
const MAP: Kind = { is: 'map' }
const TEXTS: Kind = { is: 'texts' }
const object = (members: Readonly<Record<string, Kind>>): Kind => ({ is: 'object', members })
const list = (of: Kind): Kind => ({ is: 'list', of })

const MAILBOX = object({ name: TEXT })
const MAIL = object({
  from: MAILBOX,
  personalizations: list(
    object({
      to: list(MAILBOX),
      cc: list(MAILBOX),
      bcc: list(MAILBOX),
      from: MAILBOX,
      headers: MAP,
      substitutions: TEXTS,
      dynamic_template_data: MAP,
      custom_args: TEXTS,
    }),
  ),
  reply_to: MAILBOX,
  reply_to_list: list(MAILBOX),
  content: list(MAP),
  attachments: list(MAP),
  sections: MAP,
  headers: MAP,
  custom_args: TEXTS,
  asm: MAP,
  mail_settings: object({
    bypass_list_management: MAP,
    bypass_spam_management: MAP,
    bypass_bounce_management: MAP,
    bypass_unsubscribe_management: MAP,
    footer: MAP,
    sandbox_mode: MAP,
  }),
  tracking_settings: object({ click_tracking: MAP, open_tracking: MAP, subscription_tracking: MAP, ganalytics: MAP }),
})

/** Parses the body as a message. Throws V3Refusal at the first place that has another type of JSON (contract rows 72, 73). */
export function readMail(body: unknown, errors: ValidationErrors): RawMail {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest()
  look(body, MAIL, '', errors)
  errors.throwIfAny()
  return body
}

function look(value: unknown, kind: Kind, path: string, errors: ValidationErrors): void {
  const expected = { object: 'object', map: 'object', texts: 'object', list: 'array', text: 'string' }[kind.is]
  const given = jsonKind(value)
  if (given !== expected) {
    errors.addMessage(`Invalid type. Expected: ${expected}, given: ${given}.`, path)
  } else if (kind.is === 'list') {
    for (const [at, item] of (value as unknown[]).entries()) look(item, kind.of, `${path}.${at}`, errors)
  } else if (kind.is === 'texts') {
    for (const text of Object.values(value as object)) if (typeof text !== 'string') throw badRequest()
  } else if (kind.is === 'object') {
    for (const [name, member] of Object.entries(kind.members)) {
      const inside = (value as Record<string, unknown>)[name]
      // Some clients set an omitted field to null.
      if (inside !== undefined && inside !== null) look(inside, member, path === '' ? name : `${path}.${name}`, errors)
    }
  }
}
