import { isReservedField, readMailboxes, type SubmittedMailbox } from '@postrider/core'
import { isGiven, type RawMail, type RawPersonalization } from './body.ts'

/** The headers of a call that are fields which the service writes itself. */
export interface OwnFields {
  /** The mail without them. */
  readonly mail: RawMail
  readonly date?: Date
  /** Its address may be anybody's. */
  readonly sender?: SubmittedMailbox
  /** Paths of those that have no effect. */
  readonly ignored: readonly string[]
}

type Headers = RawMail['headers']

/** It is the message's, and read elsewhere. */
const MESSAGE_ID = 'message-id'
const MAX_DATE_LENGTH = 100
const MAX_SENDER_LENGTH = 998

/**
 * Takes the headers that core refuses out of a valid call: SendGrid refuses none of them. Date and Sender have their effect where the whole message has
 * them, the others none. What the contract refuses was refused (row 17).
 */
export function takeOwnFields(mail: RawMail): OwnFields {
  const all = mail.personalizations ?? []
  if (!hasOwn(mail.headers) && !all.some(({ headers }) => hasOwn(headers))) return { mail, ignored: [] }
  // Those of the only personalization are the message's, and win.
  const places: [path: string, headers: Headers][] = [
    ['headers', mail.headers],
    ...all.map(({ headers }, at): [string, Headers] => [`personalizations.${at}.headers`, headers]),
  ]
  const ignored: string[] = []
  const found: { date?: Date; sender?: SubmittedMailbox } = {}
  for (const [path, headers] of places) {
    const isOfMessage = path === 'headers' || all.length === 1
    for (const [name, value] of ownIn(headers)) {
      const date = isOfMessage && name.toLowerCase() === 'date' ? dateOf(String(value)) : undefined
      const sender = isOfMessage && name.toLowerCase() === 'sender' ? senderOf(String(value)) : undefined
      if (date) found.date = date
      else if (sender) found.sender = sender
      else ignored.push(`${path}.${name}`)
    }
  }
  return { mail: withoutOwn(mail), ...found, ignored }
}

function withoutOwn(mail: RawMail): RawMail {
  return {
    ...mail,
    headers: othersIn(mail.headers),
    personalizations: (mail.personalizations ?? []).map(
      (one): RawPersonalization => (hasOwn(one.headers) ? { ...one, headers: othersIn(one.headers) } : one),
    ),
  }
}

function ownIn(headers: Headers): [name: string, value: unknown][] {
  return Object.entries(headers ?? {}).filter(([name]) => isOwn(name))
}

function othersIn(headers: Headers): Readonly<Record<string, unknown>> | null {
  return isGiven(headers) ? Object.fromEntries(Object.entries(headers).filter(([name]) => !isOwn(name))) : null
}

function hasOwn(headers: Headers): boolean {
  return isGiven(headers) && Object.keys(headers).some(isOwn)
}

function isOwn(name: string): boolean {
  return isReservedField(name) && name.toLowerCase() !== MESSAGE_ID
}

function dateOf(text: string): Date | undefined {
  const date = new Date(text.slice(0, MAX_DATE_LENGTH))
  return text.length > MAX_DATE_LENGTH || Number.isNaN(date.getTime()) ? undefined : date
}

function senderOf(text: string): SubmittedMailbox | undefined {
  const isText = text.length <= MAX_SENDER_LENGTH && text.isWellFormed()
  const { mailboxes, plain } = readMailboxes(isText ? text : '')
  const [mailbox] = mailboxes
  return plain && mailbox && mailboxes.length === 1 ? { email: mailbox.email, name: mailbox.name } : undefined
}
