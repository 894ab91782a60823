import { type AddressObject, type EmailAddress, type ParsedMail, simpleParser } from 'mailparser'
import type { Head, Mailbox } from '../inbox-entry.ts'
import { readBeginning } from './read-beginning.ts'
import { readableMessage } from './readable-message.ts'

/** The data that the list shows as soon as a message was received. */
export interface Beginning {
  readonly subject: string
  readonly head: Head
  /** Of the field X-Tags, by which a program tags what it sends. */
  readonly tags: readonly string[]
}

export const EMPTY_HEAD: Head = { from: undefined, to: [], cc: [], replyTo: [], messageId: '' }
export const EMPTY_BEGINNING: Beginning = { subject: '', head: EMPTY_HEAD, tags: [] }

/** mailparser reads no more than 1 MiB of header. */
const MAX_HEADER_BYTES = 1024 * 1024 + 1
/** Maximum line length of RFC 5322. The list holds 10,000 subjects, so longer ones are truncated. */
const MAX_LENGTH = 998
/** The inbox holds the heads of 10,000 messages: 4 kB each at most, however many mailboxes strangers write. */
const MAX_MAILBOXES = 20
const MAX_HEAD = 4000
const MAX_NAME = 320

/** Parses only the header: parsing a whole message takes half a millisecond or more. */
export async function readHead(file: string): Promise<Beginning> {
  const beginning = readBeginning(file, MAX_HEADER_BYTES)
  const end = beginning.indexOf('\r\n\r\n')
  const header = end === -1 ? beginning : beginning.subarray(0, end + 4)
  const parsed = await simpleParser(readableMessage(header)).catch(() => undefined)
  if (!parsed) return EMPTY_BEGINNING
  return { subject: (parsed.subject ?? '').slice(0, MAX_LENGTH), head: headOf(parsed), tags: tagsOf(parsed) }
}

/** The mailboxes of all fields together have {@link MAX_HEAD} characters; those behind are left out. */
export function headOf({ from, to, cc, replyTo, messageId = '' }: ParsedMail): Head {
  let left = MAX_HEAD
  const fitting = (field: AddressObject | AddressObject[] | undefined): Mailbox[] => {
    const found: Mailbox[] = []
    for (const one of mailboxes(field)) {
      left -= one.name.length + one.address.length
      if (left < 0 || found.length === MAX_MAILBOXES) break
      found.push(one)
    }
    return found
  }
  return {
    from: fitting(from)[0],
    to: fitting(to),
    cc: fitting(cc),
    replyTo: fitting(replyTo),
    messageId: messageId.slice(0, MAX_NAME).replace(/^<|>$/g, ''),
  }
}

/** Members of groups stand for the group. */
export function* mailboxes(field: AddressObject | AddressObject[] | undefined): Generator<Mailbox> {
  for (const { value } of [field ?? []].flat()) for (const one of value) yield* members(one)
}

function* members({ name, address, group }: EmailAddress): Generator<Mailbox> {
  if (group) for (const one of group) yield* members(one)
  else if (address || name) yield { name: name.slice(0, MAX_NAME), address: (address ?? '').slice(0, MAX_NAME) }
}

function tagsOf({ headers }: ParsedMail): readonly string[] {
  const given = headers.get('x-tags')
  return typeof given === 'string' ? given.slice(0, MAX_LENGTH).split(',') : []
}
