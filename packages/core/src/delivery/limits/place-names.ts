import type { AnySql } from '../../platform/database/database.ts'

/** The name of a place in parts. */
interface PlaceParts {
  /** The provider or site. */
  readonly base: string
  /** The source address that mail is sent from there; undefined if the operating system chooses it. */
  readonly source: string | undefined
}

/**
 * Returns the name of a place: limits apply to a provider or site as seen from one source address, so `google@mta-1` has connections and
 * back-off of its own. Names of providers and sites have no `@`.
 */
export function sourcedPlace({ base, source }: PlaceParts): string {
  return source === undefined ? base : `${base}@${source}`
}

export function partsOfPlace(place: string): PlaceParts {
  const at = place.lastIndexOf('@')
  return at === -1 ? { base: place, source: undefined } : { base: place.slice(0, at), source: place.slice(at + 1) }
}

/** The condition that a column has a place, or that place from any source: `google` is also `google@mta-1`. Cannot use an index. */
export function isAtPlace(sql: AnySql, column: ReturnType<AnySql>, place: string): ReturnType<AnySql> {
  return sql`(${column} is not distinct from ${place}::text or starts_with(${column}, ${place}::text || '@'))`
}
