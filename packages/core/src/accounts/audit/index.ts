import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { Scope } from '../keys/api-key.ts'
import { type ActingRole, requireRole } from './require-role.ts'

export type { ActingRole } from './require-role.ts'

/**
 * The author of a change: an API key or a user, and the IP address. All null: the operator on the command line, or the
 * service itself.
 */
export interface Actor {
  readonly keyId: number | null
  /** The user who is logged in; omitted or null: none. */
  readonly userId?: number | null
  /** The scopes of the user's role, within which they manage keys. Omitted: all. */
  readonly scopes?: readonly Scope[]
  /** The role by which the user acts, which is checked again when the change is recorded. If omitted, nothing is checked. */
  readonly role?: ActingRole
  readonly address: string | null
  /** The program through which an agent uses the key, as it names itself. Omitted or null: no agent. */
  readonly agent?: string | null
}

export const OPERATOR: Actor = { keyId: null, address: null }

/** Whether it is a key or a user, and not the operator on the command line. */
export function isKnown({ keyId, userId = null }: Actor): boolean {
  return keyId !== null || userId !== null
}

/** The audit log of changes that concern all accounts. */
export const ALL_ACCOUNTS = 0

export type AuditValues = Readonly<Record<string, unknown>>

export interface Change {
  readonly accountId: number
  readonly by: Actor
  /** Such as `template.edit`. */
  readonly action: string
  /** Such as `template 12`. */
  readonly object: string
  /** Must not contain secrets, bodies or recipient addresses; addresses are logged as keyed hashes. */
  readonly before?: AuditValues
  readonly after?: AuditValues
}

export interface AuditEntry {
  /** Consecutive within the account. */
  readonly number: number
  readonly at: Date
  readonly keyId: number | null
  readonly userId: number | null
  /** The name of the user at present; null if there is none. */
  readonly userName: string | null
  /** The name of the key at present; null if there is none. */
  readonly keyName: string | null
  readonly address: string | null
  /** The program through which an agent made the change, as it named itself; null: no agent. */
  readonly agent: string | null
  readonly action: string
  readonly object: string
  readonly before: AuditValues | null
  readonly after: AuditValues | null
  readonly previousHash: Buffer
  readonly hash: Buffer
}

export interface LatestEntries {
  /** If undefined, begins with the last entry. */
  readonly before?: number | undefined
  readonly limit: number
  /** The beginning of the action, such as `template`. */
  readonly action?: string | undefined
  readonly userId?: number | undefined
}

/** Entries that a filter looks at. */
const FILTERED = 10_000

export interface Audit {
  /** Entries after number `after`, oldest first, at most `limit`. */
  list(accountId: number, page: { after: number; limit: number }): Promise<AuditEntry[]>
  /** Entries before number `before`, latest first, at most `limit`. A filter looks at the 10,000 entries before it. */
  latest(accountId: number, page: LatestEntries): Promise<AuditEntry[]>
  /** Number of the first entry that was altered or whose predecessor is missing; null if the chain is intact. */
  firstBroken(accountId: number): Promise<number | null>
}

/**
 * Appends an entry to the account's audit log. Must be called in the transaction of the change. Throws roleChanged if its author may not make it any
 * more.
 */
export async function noteChange(sql: AnySql, change: Change): Promise<void> {
  const { accountId, by, action, object, before, after } = change
  if (by.role) await requireRole(sql, by.userId ?? null, by.role)
  await sql`
    select audit_note(${accountId}::int, ${by.keyId}::int, ${by.address}::inet, ${action}::text, ${object}::text,
                      ${before ? JSON.stringify(before) : null}::text::jsonb, ${after ? JSON.stringify(after) : null}::text::jsonb, ${by.userId ?? null}::int,
                      ${by.agent ?? null}::text)`
}

/**
 * Locks the logs of several accounts for a transaction that will append to them in any order. Takes the same locks as
 * `audit_note`, lowest id first, so that two such transactions cannot deadlock.
 */
export async function lockLogs(sql: SqlTransaction, accountIds: readonly number[]): Promise<void> {
  for (const accountId of [...new Set(accountIds)].sort((a, b) => a - b)) {
    await sql`select pg_advisory_xact_lock(7742, ${accountId}::int)`
  }
}

export function createAudit(sql: Sql): Audit {
  return {
    list: (accountId, { after, limit }) => sql<AuditEntry[]>`
      select number::float8 as number, at, actor_key_id as "keyId", actor_user_id as "userId",
             (select u.name from users u where u.id = actor_user_id) as "userName",
             (select k.name from api_keys k where k.id = actor_key_id) as "keyName", host(actor_address) as address, agent, action, object, before, after,
             previous_hash as "previousHash", hash
        from audit_log where account_id = ${accountId} and number > ${after} order by number limit ${limit}`,
    latest: (accountId, { before = Number.MAX_SAFE_INTEGER, limit, action = '', userId }) => sql<AuditEntry[]>`
      select number::float8 as number, at, actor_key_id as "keyId", actor_user_id as "userId",
             (select u.name from users u where u.id = actor_user_id) as "userName",
             (select k.name from api_keys k where k.id = actor_key_id) as "keyName", host(actor_address) as address, agent, action, object, before, after,
             previous_hash as "previousHash", hash
        from (select * from audit_log where account_id = ${accountId} and number < ${before}::bigint
               order by number desc limit ${FILTERED}) latest
       where starts_with(action, ${action}::text) and (${userId ?? null}::int is null or actor_user_id = ${userId ?? null}::int)
       order by number desc limit ${limit}`,
    async firstBroken(accountId) {
      const rows = await sql<{ number: number }[]>`
        select number::float8 as number
          from (select l.number, audit_hash(l) = hash as whole,
                       previous_hash = lag(hash, 1, ''::bytea) over (order by number) as chained,
                       number = row_number() over (order by number) as counted
                  from audit_log l where account_id = ${accountId}) checked
         where not (whole and chained and counted) order by number limit 1`
      return rows[0]?.number ?? null
    },
  }
}
