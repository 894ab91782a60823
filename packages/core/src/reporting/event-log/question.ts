import { parseDay } from '../../accounts/credits/days.ts'
import { EVENT_TYPES, type EventType, eventType, eventTypesWhere } from '../../events/event-types.ts'
import { parseAddress } from '../../mime/address.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'

/** What is asked of the event log, as a client says it. */
export interface LogQuestion {
  readonly accountId: number
  /** `yyyy-mm-dd`, a day in the account's time zone. */
  readonly first: string
  /** The last day, and part of it. Undefined: all since then. */
  readonly last?: string | undefined
  /** Words of {@link LOG_WORDS}, in any case; none: all. */
  readonly events?: readonly string[]
  readonly sort?: 'asc' | 'desc'
  /** Rows. Clamped to 1,000, and to 5,000 with `scroll`. */
  readonly limit: number
  /** Rows to be passed over. */
  readonly offset?: number
  readonly email?: string | undefined
  readonly from?: string | undefined
  /** As it was handed in, with its merge tags. */
  readonly subject?: string | undefined
  readonly reference?: string | undefined
  readonly messageId?: string | undefined
  /** Where the page before ended. */
  readonly scroll?: string | undefined
}

/** Which deliveries are wanted, by what happened to them; one of these is enough. */
export interface WantedEvents {
  /** A server took it. */
  readonly sent: boolean
  readonly types: readonly EventType[]
  /** Bounces of one kind only. */
  readonly bounces?: 'hard' | 'soft'
}

/** The filters in core's terms. `nothing`: there can be no such row. */
export interface Filter {
  /** Undefined: whatever happened. */
  readonly events?: WantedEvents | undefined
  readonly recipientKey?: string | undefined
  readonly from?: string | undefined
  readonly subject?: string | undefined
  readonly reference?: string | undefined
  /** A UUID. */
  readonly messageId?: string | undefined
  readonly nothing: boolean
}

/** In the order in which they are listed to clients; filters of further types come after these. */
const LISTED = [
  ...(['processed', 'sent', 'open', 'click', 'unsubscribe', 'bounce', 'softbounce', 'hardbounce'] as const),
  ...(['spam', 'invalid', 'dropped'] as const),
]

type Meaning = 'all' | 'sent' | 'soft' | 'hard' | readonly EventType[]

/** Filters that do not go by the type of an event alone. */
const SPECIAL: Readonly<Record<string, Meaning>> = {
  processed: 'all',
  sent: 'sent',
  softbounce: 'soft',
  hardbounce: 'hard',
}

const NAMED: Readonly<Record<string, Meaning>> = Object.fromEntries(
  [...new Set([...LISTED, ...EVENT_TYPES.flatMap((type) => eventType(type).log.filter ?? [])])].map((filter) => [
    filter,
    SPECIAL[filter] ?? eventTypesWhere(({ log }) => log.filter === filter),
  ]),
)
const BOUNCES = eventTypesWhere(({ log }) => log.filter === 'bounce')

/** v5.1's; each stands alone. */
const TOTALS: Readonly<Record<string, string>> = {
  total_requested: 'processed',
  total_delivered: 'sent',
  total_opened: 'open',
  total_clicked: 'click',
}

/** v2 contract 12.1. */
export const LOG_WORDS = [...Object.keys(NAMED), ...Object.keys(TOTALS)]

/** Longest text of a filter. */
const MOST_CHARACTERS = 255

/** Throws dateInvalid, datesReversed; equal days are one day (v2 contract 12.2). */
export function requireDays({ first, last }: Pick<LogQuestion, 'first' | 'last'>): void {
  const from = parseDay(first)
  if (last !== undefined && parseDay(last) < from) throw new ServiceError('datesReversed')
}

/** Throws parameterInvalid. */
export function filterOf(question: LogQuestion): Filter {
  const { email, from, subject, reference, messageId } = question
  for (const [name, text] of Object.entries({ email, fromaddress: from, subject, xapiheader: reference })) {
    if (text !== undefined && text.length > MOST_CHARACTERS) {
      throw invalidParameter(name, `must have at most ${MOST_CHARACTERS} characters`)
    }
  }
  const texts = [email, from, subject, reference, messageId]
  return {
    events: wantedEvents(question.events ?? []),
    // A recipient that was no address is kept in lower case.
    recipientKey: email === undefined ? undefined : (parseAddress(email)?.key ?? email.toLowerCase()),
    from: from?.trim().toLowerCase(),
    subject,
    reference,
    messageId: messageId === undefined ? undefined : uuidOf(messageId),
    // The database knows no NUL.
    nothing: texts.some((text) => text?.includes('\0')) || (messageId !== undefined && !uuidOf(messageId)),
  }
}

function wantedEvents(words: readonly string[]): WantedEvents | undefined {
  const asked = words.map((word) => word.trim().toLowerCase()).filter((word) => word !== '')
  const [only] = asked
  const total = only !== undefined && asked.length === 1 ? TOTALS[only] : undefined
  const named = (total ? [total] : asked).map((word) => {
    const meaning = Object.hasOwn(NAMED, word) ? NAMED[word as keyof typeof NAMED] : undefined
    if (meaning === undefined && Object.hasOwn(TOTALS, word))
      throw invalidParameter('events', `${word} cannot be combined with other events`)
    if (meaning === undefined)
      throw invalidParameter('events', `must be a comma-separated list of: ${LOG_WORDS.join(', ')}`)
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

function uuidOf(text: string): string | undefined {
  const hex = text.replaceAll('-', '').toLowerCase()
  if (!/^[0-9a-f]{32}$/.test(hex)) return undefined
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
