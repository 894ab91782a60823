import { databaseErrorCode, onlyRow, openSession, type Sql } from './database.ts'
import { withDeadline } from './deadlines.ts'
import { SESSION_SETTINGS } from './session-settings.ts'

/** The oldest Postgres on which the schema works, as in server_version_num. */
const OLDEST_POSTGRES = 150_000

/** Something that the service needs of its database, and that this one does not have. */
export interface Unmet {
  readonly problem: string
  readonly fix: string
  /** It may pass by itself, so that a restart helps. */
  readonly isPassing?: true
}

/** The facts that {@link NEEDS} judge. */
export interface DatabaseFacts {
  readonly version: string
  readonly versionNumber: number
  readonly database: string
  readonly role: string
  readonly encoding: string
  /** Whether it is a standby or its transactions are read-only, and not by this program's own wish. */
  readonly isReadOnly: boolean
  readonly isStandby: boolean
  /** The schema in which tables are made; null if search_path names none that exists. */
  readonly schema: string | null
  readonly mayCreate: boolean
  /** The owner of the tables, if this role may not act as it; null if it may, or if there are no tables yet. */
  readonly otherOwner: string | null
  /** Settings whose value damages or refuses mail. */
  readonly wrong: readonly { readonly name: string; readonly value: string }[]
}

export type NeedName = 'version' | 'encoding' | 'settings' | 'writable' | 'rights' | 'owner'

interface Need {
  readonly name: NeedName
  /** Only programs that migrate need it; or mail is accepted for some weeks without it, so only doctor checks it. */
  readonly of?: 'migrations' | 'coming weeks'
  readonly judge: (facts: DatabaseFacts) => Unmet | undefined
}

/** The needs that start, readiness and doctor check. */
export const NEEDS: readonly Need[] = [
  {
    name: 'version',
    judge: ({ version, versionNumber }) =>
      versionNumber >= OLDEST_POSTGRES
        ? undefined
        : {
            problem: `Postgres ${version} is older than 15, the oldest that is supported`,
            fix: 'upgrade the server with pg_upgrade',
          },
  },
  {
    name: 'encoding',
    judge: ({ database, encoding }) =>
      encoding === 'UTF8'
        ? undefined
        : {
            problem: `the database has the encoding ${encoding}, which cannot store all mail`,
            fix:
              `CREATE DATABASE ${identifier(`${database}_utf8`)} ENCODING 'UTF8' TEMPLATE template0, then pg_dump and pg_restore if the old one ` +
              'has mail, and set DATABASE_URL to the new one',
          },
  },
  {
    name: 'settings',
    judge: ({ role, wrong }) =>
      wrong.length === 0
        ? undefined
        : {
            problem: `sessions have ${wrong.map(({ name, value }) => `${name} = ${value}`).join(' and ')}, and mail could be damaged`,
            fix: `${wrong.map(({ name }) => remedyOf(name, role)).join('; ')}; then restart the pooler, if there is one, and the processes`,
          },
  },
  {
    name: 'writable',
    judge: ({ database, isReadOnly, isStandby }) =>
      !isReadOnly || isStandby
        ? undefined
        : {
            problem:
              'the database takes no changes: its transactions are read-only (default_transaction_read_only = on)',
            fix:
              `find out who set it: some services do when the disk is nearly full; then SET default_transaction_read_only = off; ALTER DATABASE ` +
              `${identifier(database)} RESET default_transaction_read_only, and the same for the role and the server`,
            isPassing: true,
          },
  },
  {
    name: 'rights',
    of: 'migrations',
    judge: ({ database, role, schema, mayCreate }) => {
      if (schema === null)
        return {
          problem: 'search_path names no schema that exists, so no table can be made',
          fix: `create the schema, or ALTER ROLE ${identifier(role)} RESET search_path and ALTER DATABASE ${identifier(database)} RESET search_path`,
        }
      if (mayCreate) return undefined
      return {
        problem: `the role ${role} may not create tables in the schema ${schema}`,
        fix: `as the owner of the database or a superuser: GRANT CREATE, USAGE ON SCHEMA ${identifier(schema)} TO ${identifier(role)}`,
      }
    },
  },
  {
    name: 'owner',
    of: 'coming weeks',
    judge: ({ role, otherOwner }) =>
      otherOwner === null
        ? undefined
        : {
            problem: `the tables belong to ${otherOwner}, so the role ${role} cannot create the partitions of the coming weeks`,
            fix:
              `GRANT ${identifier(otherOwner)} TO ${identifier(role)}; ALTER ROLE ${identifier(role)} SET role = '${otherOwner}'; ` +
              'then restart the processes',
          },
  },
]

/** As a statement names it. */
function identifier(name: string): string {
  return /^([a-z_][a-z0-9_]*|[A-Z]+)$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}

function remedyOf(name: string, role: string): string {
  const setting = SESSION_SETTINGS[name]
  return setting
    ? `ALTER ROLE ${identifier(role)} SET ${name} = '${setting.value}'`
    : `ALTER ROLE ${identifier(role)} RESET ${name}`
}

/** Settings with the values that they need. */
const WANTED = {
  ...Object.fromEntries(
    Object.entries(SESSION_SETTINGS).flatMap(([name, { needs }]) => (needs ? [[name, needs]] : [])),
  ),
  session_replication_role: '^origin$',
  client_encoding: '^UTF8$',
}

/** Reads no table, and works on servers that are too old. */
export async function readDatabaseFacts(sql: Sql): Promise<DatabaseFacts> {
  return onlyRow(await sql<DatabaseFacts[]>`select ${factColumns(sql)}`)
}

/** Whether the pool was opened as one that changes nothing. */
function isReadOnlyPool({ options }: Sql): boolean {
  return (options.connection as Record<string, unknown>).default_transaction_read_only === 'on'
}

/** For a select without a table. */
export function factColumns(sql: Sql): ReturnType<Sql> {
  const isOwnWish = isReadOnlyPool(sql)
  return sql`
    current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
    current_database()::text as database, current_user::text as role, getdatabaseencoding()::text as encoding,
    (current_setting('transaction_read_only') = 'on' and not ${isOwnWish}::boolean) as "isReadOnly", pg_is_in_recovery() as "isStandby",
    current_schema()::text as schema, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreate",
    (select pg_get_userbyid(relowner)::text from pg_class
      where oid = to_regclass('messages') and not pg_has_role(relowner, 'USAGE')) as "otherOwner",
    (select coalesce(json_agg(json_build_object('name', name, 'value', current_setting(name))), '[]')
       from unnest(${Object.keys(WANTED)}::text[], ${Object.values(WANTED)}::text[]) as needed(name, pattern)
      where current_setting(name) !~ pattern) as wrong`
}

/** Returns the needs that are not met; with `toMigrate`, also those of migrations. */
function unmetOf(facts: DatabaseFacts, { toMigrate }: { readonly toMigrate: boolean }): Unmet[] {
  return NEEDS.flatMap((one) =>
    one.of === 'coming weeks' || (one.of === 'migrations' && !toMigrate) ? [] : (one.judge(facts) ?? []),
  )
}

/** Returns the problem with one of the needs; undefined if it is met. */
export function judgeNeed(name: NeedName, facts: DatabaseFacts): Unmet | undefined {
  return NEEDS.find((need) => need.name === name)?.judge(facts)
}

/** As reasons of a process that is not ready, without names: anyone may ask for them. */
export function unmetReasons(facts: DatabaseFacts): string[] {
  const nameless = { ...facts, database: 'DATABASE', role: 'ROLE' }
  return unmetOf(nameless, { toMigrate: false }).map(unmetText)
}

export const unmetText = ({ problem, fix }: Unmet): string => `${problem}: ${fix}`

/** Thrown at start. */
export class DatabaseUnfit extends Error {
  /** Whether a restart may help. */
  readonly isPassing: boolean

  constructor(unmet: Unmet) {
    super(unmetText(unmet))
    this.isPassing = unmet.isPassing ?? false
  }
}

/** Throws {@link DatabaseUnfit} if the service cannot work on this database, before it changes anything. */
export async function requireFitDatabase(sql: Sql, options: { readonly toMigrate: boolean }): Promise<void> {
  const asked = withDeadline(sql, 'mail')
  const [unmet] = unmetOf(await readDatabaseFacts(asked), options)
  if (unmet) throw new DatabaseUnfit(unmet)
  if (await sharesSessions(asked)) throw new DatabaseUnfit(PROBLEM_OF_POOLER)
}

export const PROBLEM_OF_POOLER: Unmet = {
  problem:
    'the pooler of DATABASE_URL gives a session to several clients in turn (pool_mode = transaction or statement), and the service keeps ' +
    'locks, prepared statements and LISTEN in its sessions',
  fix: 'set DATABASE_URL to the server itself, or pool_mode = session for this database (docs/postgres.md#poolers)',
}

/** Times that a pooler may by chance give different sessions. */
const LOOKS = 3
/** SQLSTATE of a prepared statement that another session has. */
const NOT_PREPARED = '26000'

/** Whether connections have no session of their own: another one gets the same, or one does not keep its own. */
export async function sharesSessions(sql: Sql): Promise<boolean> {
  const [first, second] = [withDeadline(openSession(sql), 'mail'), withDeadline(openSession(sql), 'mail')]
  try {
    const own = await sessionOf(first)
    // A lost connection is replaced by one with another session, once.
    let changes = 0
    for (let look = 1; look <= LOOKS; look++) {
      if ((await sessionOf(second)) === own) return true
      if ((await sessionOf(first)) !== own) changes++
    }
    return changes > 1
  } catch (error) {
    if (databaseErrorCode(error) === NOT_PREPARED) return true
    throw error
  } finally {
    await Promise.all([first, second].map((session) => session.end({ timeout: 1 })))
  }
}

async function sessionOf(session: Sql): Promise<number> {
  return onlyRow(await session<{ pid: number }[]>`select pg_backend_pid() as pid`).pid
}
