import type { AnySql } from '../../platform/database/database.ts'

/** The name of a destination in parts. */
interface DestinationParts {
  /** The provider or site. */
  readonly base: string
  /** The source address that mail is sent from there; undefined if the operating system chooses it. */
  readonly source: string | undefined
}

/**
 * Returns the name of a destination: limits apply to a provider or site as seen from one source address, so `google@mta-1` has connections and
 * back-off of its own. Names of providers and sites have no `@`.
 */
export function sourcedDestination({ base, source }: DestinationParts): string {
  return source === undefined ? base : `${base}@${source}`
}

export function partsOfDestination(destination: string): DestinationParts {
  const at = destination.lastIndexOf('@')
  return at === -1
    ? { base: destination, source: undefined }
    : { base: destination.slice(0, at), source: destination.slice(at + 1) }
}

/** The condition that a column has a destination, or that destination from any source: `google` is also `google@mta-1`. Cannot use an index. */
export function isAtDestination(sql: AnySql, column: ReturnType<AnySql>, destination: string): ReturnType<AnySql> {
  return sql`(${column} is not distinct from ${destination}::text or starts_with(${column}, ${destination}::text || '@'))`
}
