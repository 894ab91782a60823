import { createCache } from '../platform/cache.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import type { Secrets } from '../platform/secrets.ts'
import { holdsDespite } from './bypass.ts'
import type { SuppressionReason } from './suppression.ts'

/**
 * The opt-outs of people who were forgotten, kept as keyed hashes. Asked for only by accounts that have any, which every process
 * knows from a list of its own.
 */
export interface Forgotten {
  hash(accountId: number, key: string): Buffer
  /** The accounts that have any, as of at most {@link FORGOTTEN_AGE_MS} ago. */
  accounts(): Promise<ReadonlySet<number>> | ReadonlySet<number>
  /** Why each of these must get no mail; null: no such reason is known. */
  reasons(recipients: readonly Recipient[]): Promise<(string | null)[]>
  /** The opt-outs of one person that hold a message of this unsubscribe group. */
  entries(recipient: Recipient): Promise<{ group: number; reason: SuppressionReason; since: Date }[]>
  /** Takes opt-outs back, in the transaction of the change. Answers how many there were. */
  remove(sql: AnySql, accountId: number, keys: readonly string[], group: number): Promise<number>
}

export interface Recipient {
  readonly accountId: number
  /** The address in its canonical lower-case form. */
  readonly key: string
  /** The unsubscribe group the message names, or null. */
  readonly group: number | null
  /** The lists the message bypasses, or null. */
  readonly bypass?: readonly string[] | null
}

/** Milliseconds; a request to forget waits longer than this between writing the hashes and deleting the addresses. */
export const FORGOTTEN_AGE_MS = 3000

/** What is kept of an address whose owner was forgotten. */
export function forgottenHash(secrets: Secrets, accountId: number, key: string): Buffer {
  return secrets.mac('forgotten recipient', Buffer.from(`${accountId} ${key}`))
}

/** An entry kept as a hash, to be asked what bypasses it. Every one is an account's own. */
export function entryOf(sql: AnySql) {
  return { account: sql`f.account_id`, group: sql`f.group_id`, reason: sql`f.reason` }
}

export function forgottenOf({ sql, secrets }: { sql: Sql; secrets: Secrets }): Forgotten {
  const lists = createCache<ReadonlySet<number>>({
    maxAge: FORGOTTEN_AGE_MS,
    maxEntries: 1,
    load: async () => {
      const rows = await sql<{ accountId: number }[]>`select account_id as "accountId" from forgotten_accounts`
      return new Set(rows.map(({ accountId }) => accountId))
    },
  })
  const hash = (accountId: number, key: string): Buffer => forgottenHash(secrets, accountId, key)

  return {
    hash,
    accounts: () => lists.get(''),
    async reasons(recipients) {
      const accounts = await lists.get('')
      const asked = recipients.flatMap(({ accountId, key, group, bypass }, at) =>
        accounts.has(accountId)
          ? [{ at, accountId, group, hash: hash(accountId, key).toString('hex'), bypass: bypass?.join() ?? null }]
          : [],
      )
      const reasons = recipients.map((): string | null => null)
      if (asked.length === 0) return reasons
      const rows = await sql<{ at: number; reason: string }[]>`
        select a.at, f.reason
          from unnest(${asked.map(({ at }) => at)}::int[], ${asked.map(({ accountId }) => accountId)}::int[],
                      ${asked.map(({ hash }) => hash)}::text[], ${asked.map(({ group }) => group)}::int[],
                      ${asked.map(({ bypass }) => bypass)}::text[])
               as a(at, account_id, hash, group_id, bypass)
          join forgotten f on f.account_id = a.account_id and f.hash = decode(a.hash, 'hex')
               and f.group_id = any(array[0, a.group_id]) and (f.held_until is null or f.held_until > service_now())
               and ${holdsDespite(sql, sql`string_to_array(a.bypass, ',')`, entryOf(sql))}`
      for (const { at, reason } of rows) reasons[at] = reason
      return reasons
    },
    entries: ({ accountId, key, group }) => sql`
      select group_id as "group", reason, since from forgotten
       where account_id = ${accountId} and hash = decode(${hash(accountId, key).toString('hex')}, 'hex')
         and group_id = any(array[0, ${group}::int]) and (held_until is null or held_until > service_now())`,
    async remove(sql, accountId, keys, group) {
      const hashes = keys.map((key) => hash(accountId, key).toString('hex'))
      const rows = await sql`
        delete from forgotten f using unnest(${hashes}::text[]) as gone(hash)
         where f.account_id = ${accountId} and f.hash = decode(gone.hash, 'hex') and f.group_id = ${group}`
      return rows.count
    },
  }
}
