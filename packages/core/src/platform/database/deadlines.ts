import type { Sql } from './database.ts'

/**
 * Milliseconds a statement waits for a connection, and then for a sign of life on it, by its kind. A connection that has been
 * silent for longer is dropped, and another opened in its place: a lost NAT entry or an address that moved tells nobody, and
 * the kernel takes a quarter of an hour to find out. What was on its way may have been done.
 */
export const DEADLINES = {
  /** Accepts, claims, records, and what they look up. Two of them fit into what an accept may take (COMMIT_PATIENCE). */
  mail: 5000,
  /** What people read and change, and steps of background work: the server, which ends a statement after 15 s, speaks first. */
  work: 16_000,
  /** Migrations, recounts, imports and partitions on their way out, which may be at one statement for long. */
  long: 3_600_000,
} as const

/** The same pool or session, for statements of this kind. */
export function within(sql: Sql, kind: keyof typeof DEADLINES): Sql {
  return (sql as Sql & { within(milliseconds: number): Sql }).within(DEADLINES[kind])
}

/** Milliseconds since any connection of the pool said something, while it waits for something. */
export function quietFor(sql: Sql): number {
  return (sql as Sql & { quiet(): number }).quiet()
}
