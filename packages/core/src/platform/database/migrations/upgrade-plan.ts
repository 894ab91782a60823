import type { Sql } from '../database.ts'
import { type OlderProgram, olderPrograms } from './later-migrations.ts'
import { readSchemaState, SchemaTooOld } from './migrate.ts'
import { type Migration, type MigrationKind, migrations } from './migration-files.ts'

/** A table that a migration names. */
export interface TouchedTable {
  readonly name: string
  /** As the database estimates. */
  readonly rows: number
  readonly bytes: number
}

export interface PlannedMigration {
  readonly name: string
  readonly kind: MigrationKind['kind']
  readonly tables: readonly TouchedTable[]
  /** Seconds that it takes, roughly: of a statement that reads a whole table; 0 if none does. */
  readonly seconds: number
  /** Processes of an older version for which it waits. */
  readonly waitsFor: readonly OlderProgram[]
}

export interface UpgradePlan {
  /** The migrations that the database lacks, in order: those before the start of this version, then those while it works. */
  readonly migrations: readonly PlannedMigration[]
  /** Migrations that this version does not know: a newer one has used the database. */
  readonly unknown: readonly string[]
  /** Whether the database is new, with no schema to be upgraded. */
  readonly isEmpty: boolean
}

/** Rows per second that an update or a new index processes on a laptop's disk; a backfill takes twice as long. */
const ROWS_PER_SECOND = 100_000

const TABLE =
  /\b(?:update|alter table(?: if exists)?(?: only)?|drop table(?: if exists)?|delete from|insert into|on)\s+([a-z_]+)/g
/** Statements that read or write all of a table. */
const READS_ALL = /\b(?:update|delete from|create (?:unique )?index|validate constraint|set not null|select)\b/

/** Reads what this version's migrations would do to the database; changes nothing. Throws {@link SchemaTooOld}. */
export async function planUpgrade(sql: Sql): Promise<UpgradePlan> {
  const { pending, later, unknown, isEmpty, tooOld } = await readSchemaState(sql)
  if (tooOld !== undefined) throw new SchemaTooOld(tooOld)
  const missing = new Set([...pending, ...later])
  const files = migrations().filter(({ name }) => missing.has(name))
  const ordered = [...files.filter(({ is }) => is.kind === 'expand'), ...files.filter(({ is }) => is.kind !== 'expand')]
  const planned: PlannedMigration[] = []
  for (const file of ordered) planned.push(await planOne(sql, file))
  return { migrations: planned, unknown, isEmpty }
}

async function planOne(sql: Sql, { name, text, is }: Migration): Promise<PlannedMigration> {
  // Statements only: a comment may name any table.
  const statements = text.replaceAll(/--[^\n]*/g, '').toLowerCase()
  const named = new Set([...statements.matchAll(TABLE)].map(([, table]) => table as string))
  const tables = await sql<TouchedTable[]>`
    select relname as name, greatest(rows, 0)::float8 as rows, bytes::float8 as bytes
      from pg_class c, lateral (
        select sum(reltuples) as rows, sum(pg_total_relation_size(oid)) as bytes from pg_class
         where oid = c.oid or oid in (select inhrelid from pg_inherits where inhparent = c.oid)) size
     where relname = any(${[...named]}) and relkind in ('r', 'p') and pg_table_is_visible(oid) order by relname`
  const rows = READS_ALL.test(statements) ? Math.max(0, ...tables.map((table) => table.rows)) : 0
  return {
    name,
    kind: is.kind,
    tables,
    seconds: Math.ceil(((is.kind === 'backfill' ? 2 : 1) * rows) / ROWS_PER_SECOND),
    waitsFor: is.kind === 'contract' ? await olderPrograms(sql, is.since) : [],
  }
}
