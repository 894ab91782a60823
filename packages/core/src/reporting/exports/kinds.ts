import type { Event } from '../../events/event.ts'
import { eventWord } from '../../events/event-names.ts'
import { type EventType, EXPORT_KINDS, type ExportKind, eventType, eventTypesWhere } from '../../events/event-types.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { isHardBounce } from '../events/texts.ts'

/** The mirrored interface has no deferrals, so they are exported only on request. */
const BY_DEFAULT: readonly ExportKind[] = EXPORT_KINDS.filter((kind) => kind !== 'deferred')

/** Several kinds at once. */
const BOTH: Readonly<Record<string, readonly ExportKind[]>> = {
  bounced: ['hardbounce', 'softbounce'],
  expired: ['softbounce'],
}
const NAMES = EXPORT_KINDS.flatMap((kind) => (kind === 'hardbounce' ? ['bounced', kind] : [kind]))

/** Returns the kinds of the given event names; empty for the default. Throws parameterInvalid (events). */
export function parseKinds(events: readonly string[]): ExportKind[] {
  const words = events.map(eventWord).filter((word) => word !== '')
  const kinds = words.flatMap((word) => {
    const kind = EXPORT_KINDS.filter((one) => one === word)
    const named = Object.hasOwn(BOTH, word) ? (BOTH[word] ?? []) : kind
    if (named.length === 0) throw invalidParameter('events', `must be a comma-separated list of: ${NAMES.join(', ')}`)
    return named
  })
  return [...new Set(kinds)]
}

/** Returns the kind of an event; undefined if it is not exported. */
export function kindOf({ type, detail }: Event): ExportKind | undefined {
  if (type === 'bounced') return isHardBounce(detail.class) ? 'hardbounce' : 'softbounce'
  return eventType(type).exportKinds[0] as ExportKind | undefined
}

/** Returns a filter for events of these kinds; if empty, for all except deferrals. */
export function wantedBy(kinds: readonly string[]): (event: Event) => boolean {
  const wanted = new Set<string>(kinds.length > 0 ? kinds : BY_DEFAULT)
  return (event) => wanted.has(kindOf(event) ?? '')
}

/** Returns the event types that contain these kinds. */
export function typesOf(kinds: readonly string[]): EventType[] {
  const wanted: readonly string[] = kinds.length > 0 ? kinds : BY_DEFAULT
  return eventTypesWhere(({ exportKinds }) => exportKinds.some((kind) => wanted.includes(kind)))
}
