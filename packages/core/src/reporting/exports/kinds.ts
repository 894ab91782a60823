import { invalidParameter } from '../../platform/errors.ts'
import type { Event, EventType } from '../events/index.ts'
import { isHardBounce } from '../events/words.ts'

/** What a dump calls an event: the words of webhooks (contract 16.4), with bounces told apart. */
const KINDS = [
  ...(['processed', 'sent', 'deferred', 'hardbounce', 'softbounce', 'dropped', 'invalid'] as const),
  ...(['opened', 'clicked', 'unsubscribed', 'spam'] as const),
] as const
export type ExportKind = (typeof KINDS)[number]

/** A deferral is none of the outcomes that the interface knows of, so it comes only when it is asked for. */
const BY_DEFAULT: readonly ExportKind[] = KINDS.filter((kind) => kind !== 'deferred')

/** The words of logs (contract 12.1) and those of webhooks. */
const WORDS: ReadonlyMap<string, readonly ExportKind[]> = new Map<string, readonly ExportKind[]>([
  ...KINDS.map((kind) => [kind, [kind]] as const),
  ['open', ['opened']],
  ['click', ['clicked']],
  ['unsubscribe', ['unsubscribed']],
  ['unsub', ['unsubscribed']],
  ['bounce', ['hardbounce', 'softbounce']],
  ['bounced', ['hardbounce', 'softbounce']],
  ['abuse', ['spam']],
])

/** None: all. Throws parameterInvalid (events). */
export function kindsOf(events: readonly string[]): ExportKind[] {
  const words = events.map((word) => word.trim().toLowerCase()).filter((word) => word !== '')
  const kinds = words.flatMap((word) => {
    const named = WORDS.get(word)
    if (!named) throw invalidParameter('events', `each must be one of: ${[...WORDS.keys()].join(', ')}`)
    return named
  })
  return [...new Set(kinds)]
}

/** Undefined: it has no place in a dump. */
export function kindOf({ type, detail }: Event): ExportKind | undefined {
  if (type === 'domain') return undefined
  if (type === 'complained') return 'spam'
  if (type === 'bounced') return isHardBounce(detail.class) ? 'hardbounce' : 'softbounce'
  // Given up after many tries: the next message may well arrive.
  return type === 'expired' ? 'softbounce' : type
}

/** Which events of a run are wanted. */
export function wantedBy(kinds: readonly string[]): (event: Event) => boolean {
  const wanted = new Set<string>(kinds.length > 0 ? kinds : BY_DEFAULT)
  return (event) => wanted.has(kindOf(event) ?? '')
}

/** The types that these kinds are among. */
export function typesOf(kinds: readonly string[]): EventType[] {
  const wanted = kinds.length > 0 ? kinds : BY_DEFAULT
  return [...new Set(wanted.flatMap((kind) => TYPES[kind as ExportKind] ?? []))]
}

const TYPES: Readonly<Record<ExportKind, readonly EventType[]>> = {
  processed: ['processed'],
  sent: ['sent'],
  deferred: ['deferred'],
  hardbounce: ['bounced'],
  softbounce: ['bounced', 'expired'],
  dropped: ['dropped'],
  invalid: ['invalid'],
  opened: ['opened'],
  clicked: ['clicked'],
  unsubscribed: ['unsubscribed'],
  spam: ['complained'],
}
