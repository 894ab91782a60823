import { createCache } from '../cache.ts'
import type { AnySql, Sql } from '../database.ts'
import type { Secrets } from '../secrets.ts'

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
  /** Takes opt-outs back, in the transaction of the change. Answers how many there were. */
  remove(sql: AnySql, accountId: number, keys: readonly string[]): Promise<number>
}

export interface Recipient {
  readonly accountId: number
  /** The address in its canonical lower-case form. */
  readonly key: string
}

/** Milliseconds; a request to forget waits longer than this between writing the hashes and deleting the addresses. */
export const FORGOTTEN_AGE_MS = 3000

export function forgottenOf({ sql, secrets }: { sql: Sql; secrets: Secrets }): Forgotten {
  const lists = createCache<ReadonlySet<number>>({
    maxAge: FORGOTTEN_AGE_MS,
    maxEntries: 1,
    load: async () => {
      const rows = await sql<{ accountId: number }[]>`select account_id as "accountId" from forgotten_accounts`
      return new Set(rows.map(({ accountId }) => accountId))
    },
  })
  const hash = (accountId: number, key: string): Buffer =>
    secrets.mac('forgotten recipient', Buffer.from(`${accountId} ${key}`))

  return {
    hash,
    accounts: () => lists.get(''),
    async reasons(recipients) {
      const accounts = await lists.get('')
      const asked = recipients.flatMap(({ accountId, key }, at) =>
        accounts.has(accountId) ? [{ at, accountId, hash: hash(accountId, key).toString('hex') }] : [],
      )
      const reasons = recipients.map((): string | null => null)
      if (asked.length === 0) return reasons
      const rows = await sql<{ at: number; reason: string }[]>`
        select a.at, f.reason
          from unnest(${asked.map(({ at }) => at)}::int[], ${asked.map(({ accountId }) => accountId)}::int[],
                      ${asked.map(({ hash }) => hash)}::text[]) as a(at, account_id, hash)
          join forgotten f on f.account_id = a.account_id and f.hash = decode(a.hash, 'hex')`
      for (const { at, reason } of rows) reasons[at] = reason
      return reasons
    },
    async remove(sql, accountId, keys) {
      const hashes = keys.map((key) => hash(accountId, key).toString('hex'))
      const rows = await sql`
        delete from forgotten f using unnest(${hashes}::text[]) as gone(hash)
         where f.account_id = ${accountId} and f.hash = decode(gone.hash, 'hex')`
      return rows.count
    },
  }
}
