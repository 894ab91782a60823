import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the migrations. */
export const SQL_DIR = fileURLToPath(new URL('../../../../../../sql/', import.meta.url))
/**
 * The files up to this number are the baseline, which makes the schema of a new database as 91 migrations did before. The first line of
 * each later file states its kind.
 */
export const BASELINE = 91
/** The first of the 91, by which a database shows that these have made it. */
const FIRST_BEFORE = '0001_clock.sql'
/** The last version that has them. */
export const LAST_BEFORE = 'ce6262ae'

/**
 * When a migration is applied. `expand` adds, and is applied before a process works. The others are applied while processes work:
 * `backfill` fills what was added, in steps; `index` builds an index concurrently; `contract` removes what programs before `since` use,
 * once none of these runs.
 */
export type MigrationKind =
  | { readonly kind: 'expand' }
  | { readonly kind: 'backfill'; readonly table: string }
  | { readonly kind: 'index'; readonly index: string }
  | { readonly kind: 'contract'; readonly since: number }

export interface Migration {
  readonly name: string
  readonly text: string
  readonly digest: string
  readonly is: MigrationKind
}

const known = new Map<string, readonly Migration[]>()

/** Returns the migrations of this version, in order. They are read once; sql/ is part of the program. */
export function migrations(folder = SQL_DIR): readonly Migration[] {
  const read = known.get(folder) ?? readMigrations(folder)
  known.set(folder, read)
  return read
}

function readMigrations(folder: string): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(`${folder}/${name}`, 'utf8')
      return { name, text, digest: createHash('sha256').update(text).digest('hex'), is: kindOf(name, text) }
    })
}

/** Reads the kind from the first line. Throws an Error if it has none. */
function kindOf(name: string, text: string): MigrationKind {
  if (versionOf(name) <= BASELINE) return { kind: 'expand' }
  const [, kind, of = '', version] = (text.split('\n', 1)[0] ?? '').split(' ')
  if (kind === 'expand') return { kind }
  if (kind === 'backfill' && of !== '') return { kind, table: of }
  if (kind === 'index' && of !== '') return { kind, index: of }
  if (kind === 'contract' && of === 'since' && Number(version) > 0) return { kind, since: Number(version) }
  throw new Error(
    `sql/${name}: the first line must be "-- expand", "-- backfill TABLE", "-- index NAME" or "-- contract since VERSION" (sql/README.md)`,
  )
}

/** The number of a migration. */
export const versionOf = (name: string): number => Number(name.slice(0, 4))

/**
 * Returns how many of the 91 migrations before the baseline a database has, by the names of all that it has; undefined if it was made by the
 * baseline, or is empty. With all 91 it has the schema of the baseline.
 */
export function countBefore(applied: readonly string[]): number | undefined {
  if (!applied.includes(FIRST_BEFORE)) return undefined
  return applied.filter((name) => versionOf(name) <= BASELINE).length
}

/** The version of the programs with regard to the schema: the number of their last migration. */
export const schemaVersion = (): number => versionOf(migrations().at(-1)?.name ?? '0')
