import type { PlaceDetails, RefusedOverview } from '@postrider/core'
import { table } from '../../table.ts'
import { duration } from './queue-format.ts'

const HEADING = ['bounced', 'for now', 'class', 'last', 'reply']
const PARTIAL = 'too many destinations refused mail: the numbers are lower bounds, and some may be missing'

/** Refusals of all destinations within the last hour, below a blank line; nothing if they refused nothing. */
export function refusedLines({ places, others, partial }: RefusedOverview, now: number): string[] {
  if (places.length === 0) return []
  const rows = places.map((one) => [one.place, ...cellsOf(one, now)])
  return [
    '',
    // Of several classes, the most frequent one.
    table(['refused within an hour', ...HEADING.with(2, 'mostly')], rows),
    ...(others > 0 ? [`others that refused mail: ${others}; show them with --limit`] : []),
    ...(partial ? [PARTIAL] : []),
  ]
}

/** Refusals of one destination within the last hour, below a blank line. */
export function refusedHere(refused: PlaceDetails['refused'], now: number): string[] {
  if (refused.length === 0) return []
  const [first = '', ...others] = HEADING
  return [
    '',
    table(
      [`refused within an hour: ${first}`, ...others],
      refused.map((one) => cellsOf(one, now)),
    ),
  ]
}

function cellsOf({ permanent, forNow, class: of, at, reply }: PlaceDetails['refused'][number], now: number) {
  return [permanent, forNow, of, duration(now - at.getTime()), reply]
}
