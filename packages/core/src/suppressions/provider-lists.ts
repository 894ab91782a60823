import { parseAddress } from '../mime/address.ts'
import { readIsoTime } from '../platform/iso-time.ts'
import { ACCOUNT_REASONS, type SuppressionReason } from './suppression.ts'

/** Content of a column of a list. `origin`: who added the entry. `tags`: the part of the mail to which an unsubscribe applies. */
export type Field = 'email' | 'domain' | 'reason' | 'origin' | 'since' | 'group' | 'told' | 'status' | 'tags'

interface List {
  readonly of: string
  /** Names in lower-case letters and digits only, so that `EmailAddress`, `email_address` and `Email address` are one. */
  readonly columns: Readonly<Record<string, Field | 'ignored'>>
  /** The reason of all entries, if the list is one of several and does not say it. */
  readonly reason?: SuppressionReason
}

const SENDGRID = { email: 'email', created: 'since' } as const
const MAILGUN = { address: 'email', createdat: 'since' } as const

/**
 * The lists that providers export. A list with a reason of its own is recognized by exactly these columns, since it must not be taken for another;
 * the others by address and reason.
 */
const LISTS: readonly List[] = [
  { of: 'SendGrid bounces', columns: { status: 'status', reason: 'told', ...SENDGRID }, reason: 'hardbounce' },
  { of: 'SendGrid invalid emails', columns: { reason: 'told', ...SENDGRID }, reason: 'hardbounce' },
  { of: 'SendGrid spam reports', columns: { ip: 'ignored', ...SENDGRID }, reason: 'abuse' },
  { of: 'SendGrid unsubscribes', columns: SENDGRID, reason: 'unsubscribe' },
  { of: 'Mailgun bounces', columns: { ...MAILGUN, code: 'status', error: 'told' }, reason: 'hardbounce' },
  { of: 'Mailgun unsubscribes', columns: { ...MAILGUN, tags: 'tags' }, reason: 'unsubscribe' },
  { of: 'Mailgun complaints', columns: MAILGUN, reason: 'abuse' },
  {
    of: 'Postmark',
    columns: { emailaddress: 'email', suppressionreason: 'reason', origin: 'origin', createdat: 'since' },
  },
  { of: 'Amazon SES', columns: { emailaddress: 'email', reason: 'reason', lastupdatetime: 'since' } },
  { of: 'Resend', columns: { email: 'email', origin: 'reason', createdat: 'since' } },
]

/** Our own, in any combination, and what lists are commonly called. */
const OWN: List['columns'] = {
  email: 'email',
  emailaddress: 'email',
  address: 'email',
  domain: 'domain',
  reason: 'reason',
  since: 'since',
  group: 'group',
}

/** The providers' words for reasons, in lower-case letters; with the origin, where it makes a difference. */
const REASONS: ReadonlyMap<string, SuppressionReason> = new Map([
  ...ACCOUNT_REASONS.map((reason) => [reason, reason] as const),
  // Postmark. A recipient's own "manual" suppression is a click on the unsubscribe link.
  ['spamcomplaint', 'abuse'],
  ['manualsuppression', 'manual'],
  ['manualsuppression recipient', 'unsubscribe'],
  // Amazon SES and Resend.
  ['bounce', 'hardbounce'],
  ['complaint', 'abuse'],
])
/** Postmark's, of which none is the reason. */
const ORIGINS: readonly string[] = ['recipient', 'customer', 'admin']
/** Mailgun: an unsubscribe of all mail. */
const ALL_TAGS = '*'

/** How the rows of a file are read. */
export interface Layout {
  readonly fields: readonly (Field | undefined)[]
  /** The reason of rows without one. */
  readonly reason?: SuppressionReason | undefined
  readonly hasHeader: boolean
}

/** The layout of a file with this first row; undefined if it has neither addresses nor domains. */
export function layoutOf(first: readonly string[]): Layout | undefined {
  if (first.some(isAddress)) return withoutHeader(first)
  const names = first.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
  const list = LISTS.find((one) => isList(one, names))
  const columns: List['columns'] = { ...(list?.columns ?? OWN), group: 'group' }
  const fields = names.map((name) => fieldOf(Object.hasOwn(columns, name) ? columns[name] : undefined))
  if (!fields.includes('email') && !fields.includes('domain')) return undefined
  return { fields, reason: list?.reason, hasHeader: true }
}

function isList({ columns, reason }: List, names: readonly string[]): boolean {
  if (reason === undefined) {
    return Object.entries(columns).every(
      ([name, field]) => !['email', 'reason'].includes(field) || names.includes(name),
    )
  }
  const others = names.filter((name) => name !== 'group')
  return others.length === Object.keys(columns).length && others.every((name) => Object.hasOwn(columns, name))
}

function fieldOf(field: Field | 'ignored' | undefined): Field | undefined {
  return field === 'ignored' ? undefined : field
}

const isAddress = (cell: string): boolean => parseAddress(cell.trim()) !== undefined
/** RFC 3463 2, or the three digits of RFC 5321 4.2. */
const isStatus = (cell: string): boolean => /^[245](\d\d|\.\d{1,3}\.\d{1,3})$/.test(cell)

/** By what the first row has, in any order. What a list with addresses and times only is, it does not say. */
function withoutHeader(first: readonly string[]): Layout {
  const cells = first.map((cell) => cell.trim())
  const fields: (Field | undefined)[] = cells.map(() => undefined)
  const name = (field: Field, fits: (cell: string) => boolean): boolean => {
    const at = cells.findIndex((cell, at) => cell !== '' && fields[at] === undefined && fits(cell))
    if (at !== -1) fields[at] = field
    return at !== -1
  }
  name('email', isAddress)
  name('since', (cell) => readListTime(cell) !== undefined)
  if (name('status', isStatus)) {
    name('told', () => true)
    return { fields, reason: 'hardbounce', hasHeader: false }
  }
  if (name('tags', (cell) => cell === ALL_TAGS)) return { fields, reason: 'unsubscribe', hasHeader: false }
  name('origin', (cell) => ORIGINS.includes(cell.toLowerCase()))
  // A word that is not known is the reason, too, so that the report has it.
  if (!name('reason', (cell) => reasonOfWord(cell) !== undefined)) name('reason', (cell) => /^[a-z _-]+$/i.test(cell))
  return { fields, hasHeader: false }
}

/** Returns our reason for a provider's word, undefined if it is not known. */
export function reasonOfWord(word: string, origin = ''): SuppressionReason | undefined {
  const key = word.toLowerCase().replaceAll(/[ _-]/g, '')
  return REASONS.get(`${key} ${origin.toLowerCase()}`) ?? REASONS.get(key)
}

/** Whether these tags of an unsubscribe are all mail. */
export function isOfAllMail(tags: string): boolean {
  return tags.includes(ALL_TAGS)
}

/** Seconds since 1970, as SendGrid has them and the AWS CLI prints them. */
const SECONDS = /^\d{9,10}(\.\d{1,9})?$/
/** RFC 5322 3.3, with the zone names of Mailgun. */
const MAIL_TIME = /^(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4} \d\d:\d\d(?::\d\d)? (?:utc|gmt|[+-]\d{4})$/i
/** ISO 8601, with what Go, Ruby and Postgres write: a space before the time and the zone, the zone's name, its hours only. */
const TIME = /^(\d{4}-\d\d-\d\d)[ t](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(?:z|utc|gmt|([+-]\d\d):?(\d\d)?(?: utc)?)?$/i

/** Returns a time as one of the providers writes it; without a zone it is UTC. */
export function readListTime(text: string): Date | undefined {
  if (SECONDS.test(text)) return new Date(Math.round(Number(text) * 1000))
  if (MAIL_TIME.test(text)) {
    const time = new Date(text)
    return Number.isNaN(time.getTime()) ? undefined : time
  }
  const [, day, clock, hours, minutes = '00'] = TIME.exec(text) ?? []
  return readIsoTime(day === undefined ? text : `${day}T${clock}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`)
}
