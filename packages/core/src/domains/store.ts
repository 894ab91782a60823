import { noteOwners } from '../accounts/notices/note-owners.ts'
import { insertEvents, ofAccount } from '../events/insert-events.ts'
import { type AnySql, onlyRow } from '../platform/database/database.ts'
import { storableJson } from '../platform/database/storable.ts'
import type { DomainStatus } from './checks/domain-state.ts'
import type { Domain, DomainState } from './domain.ts'
import type { SeenRecords } from './records.ts'

/** Interval of DNS checks: daily if all records are valid, hourly while a change is expected. */
const DAILY = '1 day'
const HOURLY = '1 hour'
/** Time a worker has to check a domain it claimed, before another worker may. */
const CHECK_LEASE = '10 minutes'
/** Time after which a claim is deleted if its records never were valid. */
const CLAIM_LIFETIME = '14 days'

/** A domain with the data that only this module uses. */
export interface StoredDomain extends Domain {
  readonly records: SeenRecords
}

const columns = (sql: AnySql) => sql`
  id, account_id as "accountId", name, state, envelope_name as "envelopeName", shared, ed25519, return_path_host as "returnPathHost",
  created_at as "createdAt", checked_at as "checkedAt", verified_at as "verifiedAt", broken_since as "brokenSince", claim_ends_at as "claimEndsAt", records`

export interface NewDomain {
  readonly accountId: number
  readonly name: string
  readonly state: DomainState
  readonly envelopeName: string | null
  readonly ed25519: boolean
}

export async function insertDomain(sql: AnySql, domain: NewDomain): Promise<StoredDomain> {
  const { accountId, name, state, envelopeName, ed25519 } = domain
  return onlyRow(
    await sql<StoredDomain[]>`
      insert into domains (account_id, name, state, envelope_name, ed25519, check_at, activated_at, claim_ends_at)
      values (${accountId}, ${name}, ${state}, ${envelopeName}, ${ed25519},
              service_now() + ${state === 'active' ? DAILY : HOURLY}::text::interval,
              case when ${state === 'active'} then service_now() end,
              case when ${state === 'pending'} then service_now() + ${CLAIM_LIFETIME}::text::interval end)
      returning ${columns(sql)}`,
  )
}

export async function selectDomains(sql: AnySql, accountId: number | undefined): Promise<StoredDomain[]> {
  return sql<StoredDomain[]>`
    select ${columns(sql)} from domains
     where deleted_at is null ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}`} order by name`
}

export interface DomainPage {
  /** Undefined means any state. */
  readonly states: readonly DomainState[] | undefined
  readonly name: string | undefined
  readonly limit: number
  readonly offset: number
}

export async function selectDomainPage(
  sql: AnySql,
  accountId: number,
  { states, name, limit, offset }: DomainPage,
): Promise<{ domains: StoredDomain[]; total: number }> {
  // A separate statement per combination of filters: one plan for all of them would read all of the account's domains.
  const matching = sql`
    account_id = ${accountId} and deleted_at is null
    ${states ? sql`and state = any(${[...states]}::text[])` : sql``}
    ${name === undefined ? sql`` : sql`and name = ${name}`}`
  const [domains, counted] = await Promise.all([
    sql<StoredDomain[]>`
      select ${columns(sql)} from domains where ${matching} order by name limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from domains where ${matching}`,
  ])
  return { domains, total: onlyRow(counted).total }
}

/** Selects the domain with this name that an account owns (not a claim). */
export async function selectHolder(sql: AnySql, name: string): Promise<StoredDomain | undefined> {
  const [holder] = await selectHolders(sql, [name])
  return holder
}

/** Selects the domains with these names that an account owns, in their order; undefined where there is none. */
export async function selectHolders(sql: AnySql, names: readonly string[]): Promise<(StoredDomain | undefined)[]> {
  const rows = await sql<StoredDomain[]>`
    select ${columns(sql)} from domains where name = any(${[...names]}::text[]) and state <> 'pending' and deleted_at is null`
  const byName = new Map(rows.map((domain) => [domain.name, domain]))
  return names.map((name) => byName.get(name))
}

/** Selects the account's domain with this name, including claims. */
export async function selectOwn(sql: AnySql, accountId: number, name: string): Promise<StoredDomain | undefined> {
  const rows = await sql<StoredDomain[]>`
    select ${columns(sql)} from domains where account_id = ${accountId} and name = ${name} and deleted_at is null`
  return rows[0]
}

/** Selects claims of this name by any account, at most 20. */
export async function selectClaims(sql: AnySql, name: string): Promise<StoredDomain[]> {
  return sql<StoredDomain[]>`
    select ${columns(sql)} from domains where name = ${name} and state = 'pending' and deleted_at is null
     order by id limit 20`
}

export async function countClaims(sql: AnySql, accountId: number): Promise<number> {
  const counted = await sql<{ count: number }[]>`
    select count(*)::int as count from domains where account_id = ${accountId} and state = 'pending' and deleted_at is null`
  return onlyRow(counted).count
}

/** Selects the domain that owns the name and locks it until the end of the transaction. */
export async function lockHolder(sql: AnySql, name: string): Promise<StoredDomain | undefined> {
  const rows = await sql<StoredDomain[]>`
    select ${columns(sql)} from domains where name = ${name} and state <> 'pending' and deleted_at is null for update`
  return rows[0]
}

export async function selectDomainById(sql: AnySql, id: number): Promise<StoredDomain | undefined> {
  const rows = await sql<StoredDomain[]>`select ${columns(sql)} from domains where id = ${id} and deleted_at is null`
  return rows[0]
}

/** Locks a domain for a change and returns it with the database's time. */
export async function lockDomain(sql: AnySql, id: number): Promise<(StoredDomain & { now: Date }) | undefined> {
  const rows = await sql<(StoredDomain & { now: Date })[]>`
    select ${columns(sql)}, service_now() as now from domains where id = ${id} and deleted_at is null for update`
  return rows[0]
}

/** Activates a domain for the operator. Failed checks do not revert this until the records have been valid once. */
export async function activateDomain(sql: AnySql, id: number): Promise<StoredDomain> {
  return onlyRow(
    await sql<StoredDomain[]>`
      update domains set state = 'active', verified_at = null, broken_since = null, claim_ends_at = null,
                         activated_at = coalesce(activated_at, service_now()),
                         check_at = service_now() + ${DAILY}::text::interval
       where id = ${id} returning ${columns(sql)}`,
  )
}

/**
 * Adds an event to the account's log if a domain becomes able to send or stops being so. Must be called in the
 * transaction of the change. A state is undefined if the domain did not exist before, or does not exist after.
 */
export async function noteActivity(
  sql: AnySql,
  { accountId, name }: Pick<Domain, 'accountId' | 'name'>,
  { before, after }: { before: DomainState | undefined; after: DomainState | undefined },
): Promise<void> {
  if ((before === 'active') === (after === 'active')) return
  const detail = { domain: name, ...(before && { before }), after: after ?? 'deleted' }
  await insertEvents(sql, { from: ofAccount(sql, accountId), type: 'domain', detail })
  if (before !== 'active') return
  await insertEvents(sql, { from: ofAccount(sql, accountId), type: 'domain_inactive', detail })
  // A deletion is the owner's own act.
  if (after === undefined) return
  await noteOwners(sql, [{ accountId, kind: 'domain', subject: name, detail: { after } }])
}

export async function updateShared(sql: AnySql, id: number, shared: boolean): Promise<StoredDomain> {
  return onlyRow(
    await sql<StoredDomain[]>`update domains set shared = ${shared} where id = ${id} returning ${columns(sql)}`,
  )
}

export async function updateEd25519(sql: AnySql, id: number, ed25519: boolean): Promise<StoredDomain> {
  return onlyRow(
    await sql<StoredDomain[]>`update domains set ed25519 = ${ed25519} where id = ${id} returning ${columns(sql)}`,
  )
}

/** Demotes a domain to a claim, because another account proved that it owns the name. */
export async function demoteDomain(sql: AnySql, id: number): Promise<void> {
  await sql`
    update domains set state = 'pending', verified_at = null, broken_since = null,
                       claim_ends_at = service_now() + ${CLAIM_LIFETIME}::text::interval
     where id = ${id}`
}

/**
 * Marks a domain as deleted if it was ever active, because its key is needed to sign accepted mail. Others are deleted.
 */
export async function deleteDomain(sql: AnySql, id: number): Promise<void> {
  const { count } = await sql`delete from domains where id = ${id} and activated_at is null`
  if (count === 0) await sql`update domains set deleted_at = service_now() where id = ${id}`
}

/** Schedules a check soon, because a new key waits for its record. */
export async function checkOften(sql: AnySql, id: number): Promise<void> {
  await sql`
    update domains set check_at = least(check_at, service_now() + ${HOURLY}::text::interval) where id = ${id}`
}

/** Due domains whose accounts take turns, the most overdue ones: to sort 10,000 takes 30 ms, and after an hour's stop all may be due. */
const TAKING_TURNS = 10_000

/**
 * Claims domains that are due, so that no other worker checks them. Accounts, each with its subaccounts, take turns; of each, the most overdue domain is
 * first.
 */
export async function claimDueDomains(sql: AnySql, limit: number): Promise<number[]> {
  const isDue = sql`d.check_at <= service_now() and d.deleted_at is null`
  const rows = await sql<{ id: number }[]>`
    update domains set check_at = service_now() + ${CHECK_LEASE}::text::interval
     where id in (
       select d.id
         from (select d.id, d.check_at, row_number() over (partition by coalesce(a.parent_id, a.id) order by d.check_at) as turn
                 from (select * from domains d where ${isDue} order by d.check_at limit ${TAKING_TURNS}) d
                 join accounts a on a.id = d.account_id) due
         join domains d on d.id = due.id
        -- Again, since another worker may have claimed it meanwhile.
        where ${isDue}
        order by due.turn, due.check_at limit ${limit} for update of d skip locked)
    returning id`
  return rows.map(({ id }) => id)
}

export interface CheckResult extends DomainStatus {
  readonly records: SeenRecords
  readonly returnPathHost: string | null
  readonly often: boolean
}

export async function updateChecked(sql: AnySql, id: number, result: CheckResult): Promise<StoredDomain> {
  const { state, verifiedAt, brokenSince, records, returnPathHost, often } = result
  // Spread by a tenth, so that domains added together are not always checked together.
  return onlyRow(
    await sql<StoredDomain[]>`
      update domains set state = ${state}, verified_at = ${verifiedAt}, broken_since = ${brokenSince},
                         claim_ends_at = case when ${state === 'pending'} then claim_ends_at end,
                         activated_at = coalesce(activated_at, case when ${state === 'active'} then service_now() end),
                         records = ${storableJson(records)}::text::jsonb, return_path_host = ${returnPathHost},
                         checked_at = service_now(),
                         check_at = service_now() + ${often ? HOURLY : DAILY}::text::interval * (0.95 + random() * 0.1)
       where id = ${id} returning ${columns(sql)}`,
  )
}
