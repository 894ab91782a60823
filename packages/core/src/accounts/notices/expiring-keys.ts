import { insertEvents, ofAccount } from '../../events/insert-events.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { noteOwners } from './note-owners.ts'

/** Days before its end at which a key is expiring. Keys that were made for a shorter time expire as they were meant to. */
const EXPIRING_DAYS = 14
/** Keys of one round. */
const CHUNK = 100
const MAX_SHOWN = 20

/** A key that expires soon and has no successor. */
export interface ExpiringKey {
  readonly id: number
  readonly name: string
  readonly expiresAt: Date
}

const isExpiring = (sql: AnySql) => sql`
  k.revoked_at is null and k.replaced_by is null and k.expires_at > service_now()
  and k.expires_at <= service_now() + make_interval(days => ${EXPIRING_DAYS}) and k.expires_at - k.created_at > make_interval(days => ${EXPIRING_DAYS})`

/** Returns the keys of an account that expire soon, the next one first; at most 20. */
export async function selectExpiringKeys(sql: AnySql, accountId: number): Promise<ExpiringKey[]> {
  return sql<ExpiringKey[]>`
    select k.id, k.name, k.expires_at as "expiresAt" from api_keys k
     where k.account_id = ${accountId} and ${isExpiring(sql)} order by k.expires_at limit ${MAX_SHOWN}`
}

/** Writes the event of some keys that have begun to expire, and notes it for the owners: once for each expiry, whichever process sees it. */
export async function noteExpiringKeys(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    const keys = await transaction<(ExpiringKey & { accountId: number })[]>`
      with due as (
        select k.id from api_keys k where ${isExpiring(transaction)} and k.expiry_told is distinct from k.expires_at
         order by k.expires_at limit ${CHUNK} for update skip locked
      )
      update api_keys k set expiry_told = k.expires_at from due where k.id = due.id
      returning k.id, k.account_id as "accountId", k.name, k.expires_at as "expiresAt"`
    for (const { id, accountId, name, expiresAt } of keys) {
      await insertEvents(transaction, {
        from: ofAccount(transaction, accountId),
        type: 'key_expiring',
        detail: { key: id, keyName: name, expiresAt: expiresAt.toISOString() },
      })
    }
    await noteOwners(
      transaction,
      keys.map(({ id, accountId, name, expiresAt }) => ({
        accountId,
        kind: 'key' as const,
        subject: String(id),
        mark: expiresAt.toISOString(),
        detail: { name, expiresAt: expiresAt.toISOString() },
      })),
    )
  })
}
