import { type AnySql, onlyRow } from '../../platform/database/database.ts'

export type StsMode = 'none' | 'testing' | 'enforce'

/** The MTA-STS policy of a domain as it is stored, with times relative to now, which the database knows. */
export interface StoredPolicy {
  /** The id in the TXT record when the policy was fetched; null if none was ever fetched. */
  readonly policyId: string | null
  readonly mode: StsMode
  readonly mx: readonly string[]
  readonly fetchedAt: Date | null
  readonly expiresAt: Date | null
  /** Why the last fetch failed. */
  readonly error: string | null
  /** Milliseconds until it expires; 0 or less if it has, or if none was fetched. */
  readonly left: number
  /** Milliseconds since it was fetched. */
  readonly age: number
  /** Milliseconds until the next fetch may be tried after a failure; 0 or less if it may. */
  readonly retryIn: number
}

export interface FetchedPolicy {
  readonly policyId: string
  readonly mode: StsMode
  readonly mx: readonly string[]
  /** Seconds. */
  readonly maxAge: number
}

/** Seconds until a fetch that failed is tried again: the first time, then doubled up to the maximum. */
const RETRY = { first: 300, most: 86_400 } as const
/** A policy is fetched again each day as long as it was used within a week. */
const REFRESH = { afterHours: 24, usedWithinDays: 7 } as const
/** Days after which a policy that is neither used nor in effect is deleted. */
const FORGET_DAYS = 30
const FORGOTTEN_AT_ONCE = 1000

export async function readPolicy(sql: AnySql, domain: string): Promise<StoredPolicy | undefined> {
  const [row] = await sql<StoredPolicy[]>`
    select policy_id as "policyId", mode, mx, fetched_at as "fetchedAt", expires_at as "expiresAt", error,
           coalesce(extract(epoch from expires_at - service_now()) * 1000, 0)::float8 as left,
           coalesce(extract(epoch from service_now() - fetched_at) * 1000, 0)::float8 as age,
           coalesce(extract(epoch from retry_at - service_now()) * 1000, 0)::float8 as "retryIn"
      from mta_sts_policies where domain = ${domain}`
  return row
}

export async function storePolicy(sql: AnySql, domain: string, policy: FetchedPolicy): Promise<void> {
  const { policyId, mode, mx, maxAge } = policy
  await sql`
    insert into mta_sts_policies (domain, policy_id, mode, mx, max_age, fetched_at, expires_at, used_at)
    values (${domain}, ${policyId}, ${mode}, ${[...mx]}::text[], ${maxAge}::int, service_now(),
            service_now() + make_interval(secs => ${maxAge}::int), service_now())
    on conflict (domain) do update
       set policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx, max_age = excluded.max_age,
           fetched_at = excluded.fetched_at, expires_at = excluded.expires_at, error = null, failures = 0, retry_at = null`
}

/** Notes that the policy could not be fetched. The one that is stored stays in effect until it expires (RFC 8461 5.1). */
export async function noteFailure(sql: AnySql, domain: string, error: string): Promise<void> {
  await sql`
    insert into mta_sts_policies as p (domain, mode, used_at, error, failures, retry_at)
    values (${domain}, 'none', service_now(), ${error}, 1, service_now() + make_interval(secs => ${RETRY.first}))
    on conflict (domain) do update
       set error = excluded.error, failures = p.failures + 1,
           retry_at = service_now() + make_interval(secs => least(${RETRY.first}::int * power(2, least(p.failures, 20)), ${RETRY.most}::int))`
}

/** Notes that mail is sent to the domain, so that its policy is kept fresh. */
export async function noteUse(sql: AnySql, domain: string): Promise<void> {
  await sql`update mta_sts_policies set used_at = service_now() where domain = ${domain}`
}

/**
 * Returns domains whose policies are due to be fetched again, at most `limit`, and puts them off, so that no other worker fetches them
 * now.
 */
export async function takeDuePolicies(sql: AnySql, limit: number): Promise<string[]> {
  const rows = await sql<{ domain: string }[]>`
    update mta_sts_policies set retry_at = service_now() + make_interval(secs => ${RETRY.first})
     where domain in (select domain from mta_sts_policies
                       where used_at > service_now() - make_interval(days => ${REFRESH.usedWithinDays})
                         and fetched_at < service_now() - make_interval(hours => ${REFRESH.afterHours})
                         and (retry_at is null or retry_at <= service_now())
                       order by fetched_at limit ${limit}::int for update skip locked)
    returning domain`
  return rows.map(({ domain }) => domain)
}

/** Deletes policies that have expired and were not used for a month. Returns how many. */
export async function forgetPolicies(sql: AnySql): Promise<number> {
  const { count } = onlyRow(
    await sql<{ count: number }[]>`
      with deleted as (
        delete from mta_sts_policies
         where domain in (select domain from mta_sts_policies
                           where used_at < service_now() - make_interval(days => ${FORGET_DAYS})
                             and coalesce(expires_at, used_at) < service_now()
                           order by used_at limit ${FORGOTTEN_AT_ONCE} for update skip locked)
        returning 1)
      select count(*)::int as count from deleted`,
  )
  return count
}
