import { parseAddress } from '../mime/address.ts'
import { type Edit, edited } from '../mime/conformance/edits.ts'
import { mailboxField } from '../mime/header.ts'
import { endOfName, type Incomplete, isUserName, readMailboxes } from '../mime/mailboxes.ts'
import { readable } from '../mime/words.ts'
import type { Field } from './header.ts'

/** Maximum length of a value; longer ones are not a name that lacks quotes. */
const MAX_LENGTH = 998

/** Fields whose addresses are completed. */
const ADDRESS_FIELDS = ['from', 'sender', 'reply-to', 'to', 'cc']
/** Octets of the longest field that is read for it, and addresses that are completed in one: 40,000 took 136 ms, and made 5 MB of 80 kB. */
const MAX_ADDRESSES = 8192
const MAX_COMPLETED = 100
const [AT, COMMA] = [64, 44]
/** RFC 5321 4.5.3.1.1. */
const MAX_LOCAL_PART = 64

export interface Repaired {
  readonly header: Buffer
  /** The correction, in words for the reply. */
  readonly corrected: string
}

/**
 * Returns the header with what submission servers correct (RFC 6409 8); undefined if there is nothing to correct.
 *
 * - From without the quotes that its name needs: `John Doe, Inc. <a@b.example>` (RFC 5322 3.2.3, 3.4). Many programs write it this way. It
 *   stays as it is if the name may be another address.
 * - Addresses without a domain in From, Sender, Reply-To, To and Cc: `root (Cron Daemon)`, as cron writes it, and `MAILER-DAEMON <>`, as dma
 *   does. They get this domain, if there is one.
 */
export function repaired(header: Buffer, fields: readonly Field[], domain: string | undefined): Repaired | undefined {
  const quoted = quotesIn(fields)
  const completed = domain === undefined || quoted ? [] : completions(header, fields, domain)
  const edits = [...(quoted ? [quoted] : []), ...completed.flatMap((field) => field.edits)]
  if (edits.length === 0) return undefined
  const names = completed.map(({ name }) => name).join(', ')
  return {
    header: edited(header, edits),
    corrected: quoted
      ? 'quotes were added to the name in From'
      : `the domain ${domain} was added to addresses in ${names}`,
  }
}

function quotesIn(fields: readonly Field[]): Edit | undefined {
  const found = fields.filter(({ name }) => name === 'from')
  const [from] = found
  const mailbox = found.length === 1 && from ? unquotedMailbox(from.value) : undefined
  return from && mailbox && { start: from.start, end: from.end, text: Buffer.from(mailboxField('From', [mailbox])) }
}

interface Completion {
  /** As written. */
  readonly name: string
  readonly edits: readonly Edit[]
}

function completions(header: Buffer, fields: readonly Field[], domain: string): Completion[] {
  const perhaps = fields.filter(
    (field) =>
      ADDRESS_FIELDS.includes(field.name) && field.end - field.start <= MAX_ADDRESSES && !looksComplete(header, field),
  )
  if (perhaps.length === 0) return []
  const inOrder = ADDRESS_FIELDS.flatMap((name) => perhaps.filter((field) => field.name === name))
  return inOrder.flatMap((field) => {
    const text = header.toString('latin1', field.start, field.end)
    const [name = ''] = text.split(/[\s:]/, 1)
    const begin = text.indexOf(':') + 1
    const { incomplete } = readMailboxes(text.slice(begin))
    if (incomplete.length > MAX_COMPLETED) return []
    const whole = incomplete.filter((one) => isAddress(text, { ...one, at: begin + one.at }))
    if (whole.length === 0) return []
    const edits = whole.map(({ at, local }) => {
      const start = field.start + begin + at
      return { start, end: start, text: `${local}@${domain}` }
    })
    return [{ name, edits }]
  })
}

/**
 * Whether text without a domain is meant as an address: what is in brackets, and a word that may be a user of the machine. The others are names that
 * have no address, or one half of a name without quotes, `DOE, John <a@b.example>`: a domain would make them addresses that do not exist.
 */
function isAddress(text: string, { at, local }: Incomplete): boolean {
  if (local !== '') return isUserName(local)
  if (/^\s*>/.test(text.slice(at, at + MAX_LOCAL_PART))) return true
  const word =
    text
      .slice(Math.max(0, at - MAX_LOCAL_PART), at)
      .split(/[\s,:;]/)
      .at(-1) ?? ''
  const comma = text.indexOf(',', at)
  return isUserName(word) && !(/^[A-Z]/.test(word) && comma !== -1 && endOfName(text, comma + 1) !== -1)
}

/** Whether each element of a list has an `@`: that is so of nearly all, and reading them would take a tenth of what a small message takes. */
function looksComplete(header: Buffer, { start, end }: Field): boolean {
  let [ats, commas] = [0, 0]
  for (let at = start; at < end; at++) {
    const octet = header[at]
    if (octet === AT) ats++
    else if (octet === COMMA) commas++
  }
  return ats > commas
}

function unquotedMailbox(value: string): { name: string; address: string } | undefined {
  const open = value.lastIndexOf('<')
  if (open === -1 || !value.endsWith('>') || value.length > MAX_LENGTH) return undefined
  const address = value.slice(open + 1, -1).trim()
  const phrase = value.slice(0, open).trim()
  // Quotes, brackets and comments may contain anything. Only these characters require quotes.
  if (!/[@,;:[\]]/.test(phrase) || /[<>"()\\]/.test(phrase) || !parseAddress(address)) return undefined
  const isOther = (word: string): boolean => word.toLowerCase() !== address.toLowerCase() && Boolean(parseAddress(word))
  if (phrase.split(/[\s,;:]+/).some(isOther)) return undefined
  return { name: readable(phrase), address }
}
