import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'

/** Who changes something: a key, from an address. Both null: the operator at the command line, or the service itself. */
export interface Actor {
  readonly keyId: number | null
  readonly address: string | null
}

export const OPERATOR: Actor = { keyId: null, address: null }

export type AuditValues = Readonly<Record<string, unknown>>

export interface Change {
  readonly accountId: number
  readonly by: Actor
  /** `template.edit`. */
  readonly action: string
  /** `template 12`. */
  readonly object: string
  /** Never a secret, a body, or a recipient's address: that goes as its keyed hash. */
  readonly before?: AuditValues
  readonly after?: AuditValues
}

export interface AuditEntry {
  /** Without gaps within the account. */
  readonly number: number
  readonly at: Date
  readonly keyId: number | null
  readonly address: string | null
  readonly action: string
  readonly object: string
  readonly before: AuditValues | null
  readonly after: AuditValues | null
  readonly previousHash: Buffer
  readonly hash: Buffer
}

export interface Audit {
  /** Entries after number `after`, oldest first, at most `limit`. */
  list(accountId: number, page: { after: number; limit: number }): Promise<AuditEntry[]>
  /** The number of the first entry that was altered, or that lacks its predecessor; null: the chain is whole. */
  firstBroken(accountId: number): Promise<number | null>
}

/** Adds an entry to the account's audit log. To be called in the transaction of the change it tells of. */
export async function noteChange(sql: AnySql, change: Change): Promise<void> {
  const { accountId, by, action, object, before, after } = change
  await sql`
    select audit_note(${accountId}::int, ${by.keyId}::int, ${by.address}::inet, ${action}::text, ${object}::text,
                      ${before ? JSON.stringify(before) : null}::text::jsonb, ${after ? JSON.stringify(after) : null}::text::jsonb)`
}

/**
 * For a transaction that will note changes in the logs of several accounts, in whatever order: locks them as `audit_note` does, but
 * the lowest id first, so that no two such transactions wait for each other.
 */
export async function lockLogs(sql: SqlTransaction, accountIds: readonly number[]): Promise<void> {
  for (const accountId of [...new Set(accountIds)].sort((a, b) => a - b)) {
    await sql`select pg_advisory_xact_lock(7742, ${accountId}::int)`
  }
}

export function auditOf(sql: Sql): Audit {
  return {
    list: (accountId, { after, limit }) => sql<AuditEntry[]>`
      select number::float8 as number, at, actor_key_id as "keyId", host(actor_address) as address, action, object, before, after,
             previous_hash as "previousHash", hash
        from audit_log where account_id = ${accountId} and number > ${after} order by number limit ${limit}`,
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
