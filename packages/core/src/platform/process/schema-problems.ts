import { databaseErrorCode, onlyRow, type Sql } from '../database/database.ts'
import {
  outdatedBy,
  readSchemaState,
  type SchemaState,
  SchemaTooOld,
  schemaStateOf,
} from '../database/migrations/migrate.ts'
import { schemaVersion } from '../database/migrations/migration-files.ts'
import { isMarked, isMarkedFor } from '../database/replication/recovery-target.ts'
import { agreeOnSecret, KEY_ROWS, keyRows } from '../security/key-agreement.ts'
import type { Secrets } from '../security/secrets.ts'

const UNDEFINED_TABLE = '42P01'

/**
 * Why this process cannot work with the schema of the database, or with its secrets. `target`: see {@link targetOf}.
 *
 * Every process asks every second, so it is one statement as long as all is right.
 */
export async function schemaProblems(sql: Sql, secrets: Secrets, target: string): Promise<string[]> {
  return (await isAllRight(sql, secrets, target)) ? [] : findProblems(sql, secrets, target)
}

async function isAllRight(sql: Sql, secrets: Secrets, target: string): Promise<boolean> {
  const read = sql<{ names: string[]; minimum: number | null; isMarked: boolean; rows: Record<string, string> }[]>`
    select array(select name from schema_migrations order by name) as names, (select version from schema_minimum) as minimum,
           ${isMarkedFor(sql, target)} as "isMarked",
           (select coalesce(json_object_agg(name, value), '{}') from instance where name = any(${Object.values(KEY_ROWS)}::text[])) as rows`
  const row = await read.then(onlyRow, (error: unknown) => {
    if (databaseErrorCode(error) !== UNDEFINED_TABLE) throw error
    return undefined
  })
  if (!row || schemaStateOf(row.names).pending.length > 0) return false
  const { fingerprint, pseudonymKeys } = keyRows(Object.entries(row.rows))
  const isNew = row.minimum === null || row.minimum <= schemaVersion()
  return isNew && row.isMarked && fingerprint !== undefined && secrets.use(fingerprint, pseudonymKeys)
}

async function findProblems(sql: Sql, secrets: Secrets, target: string): Promise<string[]> {
  const schema = await readSchemaState(sql)
  if (schema.pending.length > 0) return [migrationsMissing(schema)]
  const outdated = await outdatedBy(sql)
  if (outdated) return [tooOld(outdated)]
  if (!(await isMarked(sql, target))) return [restoredBefore(target)]
  return (await agreeOnSecret(sql, secrets))
    ? []
    : [
        'SECRET_KEY differs from the one this database was set up with: use the value of the first host (its DATA_DIR/secret-key, ' +
          'if its environment does not set it); to rotate it, set the former value in SECRET_KEY_PREVIOUS',
      ]
}

/** The reason why a process cannot work with a schema that lacks migrations. Of an empty database all are missing, and their names tell nothing. */
export function migrationsMissing({ pending, isEmpty, tooOld }: Omit<SchemaState, 'later' | 'unknown'>): string {
  if (tooOld !== undefined) return new SchemaTooOld(tooOld).message
  const what = isEmpty
    ? `the database is empty (${pending.length} migrations are to be applied)`
    : `migrations not applied: ${pending.join(', ')}`
  return `${what}; run "npm run postrider -- migrate"`
}

function tooOld({ version, minimum }: { version: number; minimum: number }): string {
  return (
    `a newer version of Postrider has changed the schema, and this one is too old for it (its last migration is ${version}, the schema requires ` +
    `${minimum}): run the newer version, or restore a backup from before the upgrade`
  )
}

/** Mail that was delivered after the moment would be delivered again, and numbers of events given to others unnoticed. */
function restoredBefore(target: string): string {
  return (
    `the database was restored to an earlier moment (${target}), and the mail of its queue may have been delivered since: run "postrider ` +
    `restored", which holds it`
  )
}
