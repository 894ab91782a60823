import { parseDay } from '../../accounts/credits/days.ts'
import { eventWord, isMeant } from '../../events/event-names.ts'
import { EVENT_TYPES, type EventType, eventType, eventTypesWhere } from '../../events/event-types.ts'
import { addressKey } from '../../mime/address.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'

/** A query of the event log, in the terms of a client. */
export interface LogQuery {
  readonly accountId: number
  /** The first day as `yyyy-mm-dd` in the account's time zone. */
  readonly first: string
  /** The last day, inclusive. If undefined, all days from the first one on. */
  readonly last?: string | undefined
  /** Event names of {@link LOG_EVENTS}, case-insensitive; if empty, all. */
  readonly events?: readonly string[]
  readonly sort?: 'asc' | 'desc'
  /** Maximum number of rows. Clamped to 1,000, and to 5,000 with `scroll`. */
  readonly limit: number
  /** Number of rows to skip. */
  readonly offset?: number
  readonly email?: string | undefined
  readonly from?: string | undefined
  /** The subject as submitted, with its merge tags. */
  readonly subject?: string | undefined
  readonly reference?: string | undefined
  readonly messageId?: string | undefined
  /** Cursor of the previous page. */
  readonly scroll?: string | undefined
}

/** Selects deliveries that have at least one of these events. */
export interface WantedEvents {
  /** Deliveries that a server accepted. */
  readonly sent: boolean
  readonly types: readonly EventType[]
  /** Bounces of one kind. */
  readonly bounces?: 'hard' | 'soft'
}

/** The filters in the terms of core. `nothing` is set if no row can match. */
export interface Filter {
  /** Undefined for all deliveries. */
  readonly events?: WantedEvents | undefined
  readonly recipientKey?: string | undefined
  readonly from?: string | undefined
  readonly subject?: string | undefined
  readonly reference?: string | undefined
  /** A UUID. */
  readonly messageId?: string | undefined
  readonly nothing: boolean
}

/** The filters in the order in which clients see them. Those of further types follow. */
const LISTED = [
  'processed',
  'sent',
  'open',
  'click',
  'unsubscribe',
  'bounce',
  'softbounce',
  'hardbounce',
  'spam',
  'invalid',
  'dropped',
]

type Meaning = 'all' | 'sent' | 'soft' | 'hard' | readonly EventType[]

/** Filters that depend on more than the type of an event. */
const SPECIAL: Readonly<Record<string, Meaning>> = {
  processed: 'all',
  sent: 'sent',
  softbounce: 'soft',
  hardbounce: 'hard',
}

const MEANINGS: Readonly<Record<string, Meaning>> = Object.fromEntries(
  [...new Set([...LISTED, ...EVENT_TYPES.flatMap((type) => eventType(type).log.filter ?? [])])].map((filter) => [
    filter,
    SPECIAL[filter] ?? eventTypesWhere(({ log }) => log.filter === filter),
  ]),
)
const BOUNCES = eventTypesWhere(({ log }) => log.filter === 'bounce')

/** Event names of v5.1. They cannot be combined with others. */
const TOTALS: Readonly<Record<string, string>> = {
  total_requested: 'processed',
  total_delivered: 'sent',
  total_opened: 'open',
  total_clicked: 'click',
}

/** The event names of the log, in the words of webhooks and exports. Those of the contract (v2 contract 12.1) mean the same. */
export const LOG_EVENTS = [...new Set(Object.keys(MEANINGS).map(eventWord)), ...Object.keys(TOTALS)]

/** Maximum length of a filter text in characters. */
const MAX_FILTER_LENGTH = 255

/** Checks the days. Equal days mean one day (v2 contract 12.2). Throws dateInvalid or datesReversed. */
export function requireDays({ first, last }: Pick<LogQuery, 'first' | 'last'>): void {
  const from = parseDay(first)
  if (last !== undefined && parseDay(last) < from) throw new ServiceError('datesReversed')
}

/** Returns the filters of a query. Throws parameterInvalid. */
export function parseFilter(question: LogQuery): Filter {
  const { email, from, subject, reference, messageId } = question
  for (const [name, text] of Object.entries({ email, fromaddress: from, subject, xapiheader: reference })) {
    if (text !== undefined && text.length > MAX_FILTER_LENGTH) {
      throw invalidParameter(name, `must have at most ${MAX_FILTER_LENGTH} characters`)
    }
  }
  const texts = [email, from, subject, reference, messageId]
  return {
    events: wantedEvents(question.events ?? []),
    recipientKey: email === undefined ? undefined : addressKey(email),
    from: from?.trim().toLowerCase(),
    subject,
    reference,
    messageId: messageId === undefined ? undefined : uuidOf(messageId),
    // Texts in the database never contain NUL.
    nothing: texts.some((text) => text?.includes('\0')) || (messageId !== undefined && !uuidOf(messageId)),
  }
}

function wantedEvents(words: readonly string[]): WantedEvents | undefined {
  const given = words.map((word) => word.trim().toLowerCase()).filter((word) => word !== '')
  const [only] = given
  const total = only !== undefined && given.length === 1 ? TOTALS[only] : undefined
  const named = (total ? [total] : given).map((word) => {
    const meaning = meaningOf(word)
    if (meaning === undefined && Object.hasOwn(TOTALS, word))
      throw invalidParameter('events', `${word} cannot be combined with other events`)
    if (meaning === undefined)
      throw invalidParameter('events', `must be a comma-separated list of: ${LOG_EVENTS.join(', ')}`)
    return meaning
  })
  if (named.length === 0 || named.includes('all')) return undefined
  const [hard, soft] = [named.includes('hard'), named.includes('soft')]
  const both = hard && soft ? BOUNCES : []
  const types = [...new Set([...named.flatMap((meaning) => (typeof meaning === 'string' ? [] : meaning)), ...both])]
  const one =
    hard === soft || types.includes('bounced') ? {} : { bounces: hard ? ('hard' as const) : ('soft' as const) }
  return { sent: named.includes('sent'), types, ...one }
}

/** By the names of the contract, or by the vocabulary of webhooks. */
function meaningOf(given: string): Meaning | undefined {
  const word = Object.hasOwn(MEANINGS, given) ? given : eventWord(given)
  if (Object.hasOwn(MEANINGS, word)) return MEANINGS[word]
  const types = eventTypesWhere(({ log }, type) => log.filter !== null && isMeant(word, type))
  return types.length === 0 ? undefined : types
}

function uuidOf(text: string): string | undefined {
  const hex = text.replaceAll('-', '').toLowerCase()
  if (!/^[0-9a-f]{32}$/.test(hex)) return undefined
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
