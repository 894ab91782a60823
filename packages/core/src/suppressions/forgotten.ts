import { createCache } from '../platform/cache.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { appliesDespiteBypass, type BypassedEntry, type Fragment } from './bypass.ts'
import { leavesComplaints, type SuppressionReason } from './suppression.ts'

/**
 * Opt-outs of erased recipients, stored as keyed hashes. Queried only for accounts that have any; every process caches
 * the list of these accounts.
 */
export interface Forgotten {
  hash(accountId: number, key: string): Buffer
  /** The accounts that have hashed opt-outs, at most {@link FORGOTTEN_AGE_MS} old. */
  accounts(): Promise<ReadonlySet<number>> | ReadonlySet<number>
  /** For each recipient, the reason why it must not receive mail, or null. */
  reasons(recipients: readonly Recipient[]): Promise<(string | null)[]>
  /** Returns the opt-outs of a recipient that apply to a message of its unsubscribe group. */
  entries(
    recipient: Recipient,
  ): Promise<{ group: number; reason: SuppressionReason; since: Date; unsubscribed: boolean }[]>
  /**
   * Removes opt-outs, only those with these reasons if given, within the transaction of the change. Returns how many were removed. Of a complaint of a
   * recipient who is unsubscribed, too, the unsubscribe is left if only complaints are removed, and the complaint if only unsubscribes are.
   */
  remove(
    sql: AnySql,
    removed: {
      readonly accountId: number
      readonly keys: readonly string[]
      readonly group: number
      readonly reasons?: readonly SuppressionReason[] | undefined
    },
  ): Promise<number>
}

export interface Recipient {
  readonly accountId: number
  /** The address in its canonical lower-case form. */
  readonly key: string
  /** The message's unsubscribe group, or null. */
  readonly group: number | null
  /** The lists the message bypasses, or null. */
  readonly bypass?: readonly string[] | null
}

/** Milliseconds; an erasure waits longer than this between storing the hashes and deleting the addresses. */
export const FORGOTTEN_AGE_MS = 3000

/** The hash that replaces the address of an erased recipient. */
export function forgottenHash(secrets: Secrets, accountId: number, key: string): Buffer {
  return secrets.pseudonym('forgotten recipient', Buffer.from(`${accountId} ${key}`))
}

/**
 * Columns of a hashed entry, for {@link appliesDespiteBypass}. All hashed entries belong to an account, none to the operator.
 */
export function entryOf(sql: AnySql): BypassedEntry {
  return {
    account: sql`f.account_id`,
    group: sql`f.group_id`,
    reason: sql`f.reason`,
    unsubscribed: sql`(f.unsubscribed_since is not null)`,
    manual: sql`false`,
  }
}

/**
 * The rule for a hashed entry `f` that is added again (`on conflict`), with `unsubscribed_since`. A complaint replaces every other reason and an
 * unsubscribe all but complaints, and either is remembered along with the other, as in the list itself (addedAgain in store.ts). One that expires is
 * replaced by one that does not.
 */
export function hashedAgain(sql: AnySql): Fragment {
  const rankOf = (reason: Fragment) => sql`(case ${reason} when 'abuse' then 2 when 'unsubscribe' then 1 else 0 end)`
  const replaced = sql`
    (excluded.held_until is null
     and (f.held_until is not null or ${rankOf(sql`excluded.reason`)} > ${rankOf(sql`f.reason`)}))`
  const unsubscribed = sql`
    coalesce(f.unsubscribed_since, excluded.unsubscribed_since,
             case when f.reason = 'unsubscribe' and excluded.reason = 'abuse' then f.since
                  when f.reason = 'abuse' and excluded.reason = 'unsubscribe' then excluded.since end)`
  return sql`
    on conflict (account_id, hash, group_id) do update
       set (reason, since) = (select excluded.reason, excluded.since where ${replaced}
                              union all select f.reason, f.since where not ${replaced}),
           held_until = case when f.held_until is not null and excluded.held_until is not null
                        then greatest(f.held_until, excluded.held_until) end,
           unsubscribed_since = ${unsubscribed}
     where ${replaced} or f.held_until < excluded.held_until or ${unsubscribed} is distinct from f.unsubscribed_since`
}

export function createForgotten({ sql, secrets }: { sql: Sql; secrets: Secrets }): Forgotten {
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
      const requested = recipients.flatMap(({ accountId, key, group, bypass }, at) =>
        accounts.has(accountId)
          ? [{ at, accountId, group, hash: hash(accountId, key).toString('hex'), bypass: bypass?.join() ?? null }]
          : [],
      )
      const reasons = recipients.map((): string | null => null)
      if (requested.length === 0) return reasons
      const rows = await sql<{ at: number; reason: string }[]>`
        select a.at, f.reason
          from unnest(${requested.map(({ at }) => at)}::int[], ${requested.map(({ accountId }) => accountId)}::int[],
                      ${requested.map(({ hash }) => hash)}::text[], ${requested.map(({ group }) => group)}::int[],
                      ${requested.map(({ bypass }) => bypass)}::text[])
               as a(at, account_id, hash, group_id, bypass)
          join forgotten f on f.account_id = a.account_id and f.hash = decode(a.hash, 'hex')
               and f.group_id = any(array[0, a.group_id]) and (f.held_until is null or f.held_until > service_now())
               and ${appliesDespiteBypass(sql, sql`string_to_array(a.bypass, ',')`, entryOf(sql))}`
      for (const { at, reason } of rows) reasons[at] = reason
      return reasons
    },
    entries: ({ accountId, key, group }) => sql`
      select group_id as "group", reason, since, unsubscribed_since is not null as unsubscribed from forgotten
       where account_id = ${accountId} and hash = decode(${hash(accountId, key).toString('hex')}, 'hex')
         and group_id = any(array[0, ${group}::int]) and (held_until is null or held_until > service_now())`,
    async remove(sql, { accountId, keys, group, reasons }) {
      const hashes = keys.map((key) => hash(accountId, key).toString('hex'))
      const all = sql`f.account_id = ${accountId} and f.hash = decode(removed.hash, 'hex') and f.group_id = ${group}`
      const named = reasons ? sql`${all} and f.reason = any(${[...reasons]}::text[])` : all
      const unsubscribed =
        reasons?.includes('unsubscribe') === false ? sql`f.unsubscribed_since is not null` : sql`false`
      const rows = await sql`
        with restored as (
          update forgotten f set reason = 'unsubscribe', since = f.unsubscribed_since, unsubscribed_since = null
            from unnest(${hashes}::text[]) as removed(hash) where ${named} and ${unsubscribed}
          returning 1
        ), complaints as (
          update forgotten f set unsubscribed_since = null from unnest(${hashes}::text[]) as removed(hash)
           where ${leavesComplaints(reasons) ? sql`${all} and f.unsubscribed_since is not null` : sql`false`}
          returning 1
        ), deleted as (
          delete from forgotten f using unnest(${hashes}::text[]) as removed(hash) where ${named} and not (${unsubscribed})
          returning 1
        )
        select from restored union all select from complaints union all select from deleted`
      return rows.count
    },
  }
}
