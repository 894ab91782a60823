import {
  isFieldName,
  isMessageId,
  isReservedField,
  LIMITS,
  readMailboxes,
  type SubmittedMailbox,
  valueProblem,
} from '@postrider/core'
import { isGiven, type RawMail, type RawPersonalization } from './body.ts'
import { unfolded } from './unfolded.ts'

/** The headers of a call that are fields which the service writes itself, and those that cannot be written. */
export interface OwnFields {
  /** The mail without them, and without folds in the others. */
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
  if (!isChanged(mail.headers) && !all.some(({ headers }) => isChanged(headers))) return { mail, ignored: [] }
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
      const written = writtenOf(name, value)
      const date = isOfMessage && name.toLowerCase() === 'date' ? dateOf(written) : undefined
      const sender = isOfMessage && name.toLowerCase() === 'sender' ? senderOf(written) : undefined
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
      (one): RawPersonalization => (isChanged(one.headers) ? { ...one, headers: othersIn(one.headers) } : one),
    ),
  }
}

function ownIn(headers: Headers): [name: string, value: unknown][] {
  return Object.entries(headers ?? {}).filter(isOwn)
}

function othersIn(headers: Headers): Readonly<Record<string, unknown>> | null {
  if (!isGiven(headers)) return null
  const others = Object.entries(headers).filter((entry) => !isOwn(entry))
  return Object.fromEntries(others.map(([name, value]) => [name, writtenOf(name, value)]))
}

function isChanged(headers: Headers): boolean {
  return isGiven(headers) && Object.entries(headers).some((entry) => isOwn(entry) || writtenOf(...entry) !== entry[1])
}

function isOwn([name, value]: readonly [name: string, value: unknown]): boolean {
  const written = writtenOf(name, value)
  if (name.toLowerCase() === MESSAGE_ID) return !isMessageId(written)
  if (isReservedField(name) || !isFieldName(name)) return true
  return written.length > LIMITS.headerText || valueProblem(name, written) !== undefined
}

/** Returns the value on one line. Libraries give an id without its brackets, too. */
function writtenOf(name: string, value: unknown): string {
  const line = unfolded(String(value))
  if (name.toLowerCase() !== MESSAGE_ID) return line
  const id = line.trim()
  return isMessageId(`<${id}>`) ? `<${id}>` : id
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
