import { isIP } from 'node:net'
import type { Actor } from '../../accounts/audit/index.ts'
import { parseDomain } from '../../mime/address.ts'
import { onlyRow, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { LIMITS_CHANNEL } from '../limits/overrides.ts'
import { changeEgress, poolNamed, requireName, sourceNamed } from './change-egress.ts'
import { hasSource, isUsed } from './choose-source.ts'
import { DEFAULT_POOL, type Egress, MAX_EGRESS, readEgress, type Source } from './egress.ts'
import { isWarmUpPlan, WARM_UP_PLANS } from './warm-up.ts'

export interface NewSource {
  readonly name: string
  readonly address: string
  readonly address6?: string | undefined
  readonly bind?: string | undefined
  readonly helo: string
  /** The name of its pool; `default` if undefined. */
  readonly pool?: string | undefined
  /** From 1 to 100; 10 if undefined. */
  readonly weight?: number | undefined
  /** The plan by which it is warmed up; not at all if undefined. */
  readonly warmUpPlan?: string | undefined
  /** Adds it without a PTR record that resolves back to the address. */
  readonly force?: boolean | undefined
}

/** Throws parameterInvalid unless the DNS has what receivers require of these addresses. */
export type ConfirmAddresses = (source: {
  readonly address: string
  readonly address6: string | null
  readonly helo: string
}) => Promise<void>

const WEIGHT = { usual: 10, most: 100 } as const
const MAX_REASON = 1000

/** Adds a source that `confirm` accepts; the pool `default` is created with its first one. Throws parameterInvalid. */
export async function addSource(
  { sql, confirm }: { readonly sql: Sql; readonly confirm: ConfirmAddresses },
  source: NewSource,
  by: Actor,
): Promise<Source> {
  const { name, pool: poolName = DEFAULT_POOL, weight = WEIGHT.usual } = source
  requireName(name, 'name')
  const addresses = addressesOf(source)
  const helo = parseDomain(source.helo)
  if (helo === undefined || !helo.includes('.')) throw invalidParameter('helo', 'must be a fully qualified host name')
  requireWeight(weight)
  requirePlan(source.warmUpPlan, 'warm-up')
  requireUnused(await readEgress(sql), name, addresses)
  if (!source.force) await confirm({ ...addresses, helo })
  return changeEgress(sql, by, async (transaction, egress) => {
    requireUnused(egress, name, addresses)
    if (poolName === DEFAULT_POOL)
      await transaction`insert into pools (name) values (${DEFAULT_POOL}) on conflict do nothing`
    else poolNamed(egress, poolName)
    const { address, address6, bind } = addresses
    await transaction`
      insert into sources (name, pool_id, address, address6, bind, helo, weight, warm_up_plan)
      select ${name}, id, ${address}::inet, ${address6}::inet, ${bind}::inet, ${helo}, ${weight}::int,
      ${source.warmUpPlan ?? null} from pools where name = ${poolName}`
    const result = sourceNamed(await readEgress(transaction), name)
    const after = { ...addresses, helo, pool: poolName, weight, warmUpPlan: source.warmUpPlan }
    return { result, action: 'source.add', object: `source ${name}`, after }
  })
}

export interface SourceChange {
  readonly weight?: number | undefined
  readonly pool?: string | undefined
  /** Begins the warm-up again with the first day of a plan; null ends it. */
  readonly warmUpPlan?: string | null | undefined
  /** The reason of a pause; null ends it. */
  readonly pause?: string | null | undefined
}

/** Changes a source. Mail of a paused one is sent by the others of its pool. Throws parameterInvalid. */
export async function changeSource(sql: Sql, name: string, change: SourceChange, by: Actor): Promise<Source> {
  const { weight, pool: poolName, pause, warmUpPlan } = change
  if (weight !== undefined) requireWeight(weight)
  requirePlan(warmUpPlan, 'plan')
  if (typeof pause === 'string' && (pause.trim() === '' || pause.length > MAX_REASON)) {
    throw invalidParameter('reason', `must have 1 to ${MAX_REASON} characters`)
  }
  return changeEgress(sql, by, async (transaction, egress) => {
    const { id, ...before } = sourceNamed(egress, name)
    const poolId = poolName === undefined ? before.poolId : poolNamed(egress, poolName).id
    if (poolId !== before.poolId) requireOtherSource(egress, { id, ...before })
    const reason = pause === undefined ? before.reason : pause
    const state = reason === null ? 'active' : 'paused'
    await transaction`
      update sources set weight = ${weight ?? before.weight}::int, pool_id = ${poolId}, state = ${state}, reason = ${reason},
             warm_up_plan = ${warmUpPlan === undefined ? before.warmUpPlan : warmUpPlan}
       where id = ${id}`
    if (warmUpPlan !== undefined) await transaction`delete from source_warm_ups where source_id = ${id}`
    if (pause !== undefined) await noteWhoPaused(transaction, id, pause !== null)
    const result = sourceNamed(await readEgress(transaction), name)
    return {
      result,
      action: 'source.change',
      object: `source ${name}`,
      before: changeable(before),
      after: changeable(result),
    }
  })
}

/** A pause of the operator is not ended by the service, and a source that the operator has resumed is not paused for the same listing. */
async function noteWhoPaused(sql: SqlTransaction, id: number, isPaused: boolean): Promise<void> {
  await sql`update sources set paused_by = ${isPaused ? 'operator' : null} where id = ${id}`
  if (!isPaused) await sql`update source_listings set overruled = true where source_id = ${id} and severe`
}

/** Removes a source. Its mail that waits is sent by the others of its pool. Throws parameterInvalid. */
export async function removeSource(sql: Sql, name: string, by: Actor): Promise<void> {
  await changeEgress(sql, by, async (transaction, egress) => {
    const source = sourceNamed(egress, name)
    requireOtherSource(egress, source)
    await transaction`delete from sources where id = ${source.id}`
    const { address, address6, bind, helo } = source
    return {
      result: undefined,
      action: 'source.remove',
      object: `source ${name}`,
      before: { address, address6, bind, helo },
    }
  })
}

/**
 * The sources that this worker can use; all others learn of a change at once. Returns how many rows were changed. Without effect if the worker
 * was presumed dead.
 */
export async function registerSources(sql: Sql, workerId: number, sourceIds: readonly number[]): Promise<number> {
  const { changed } = onlyRow(
    await sql<{ changed: number }[]>`
      with own as materialized (
        select s.id from sources s where s.id = any(${[...sourceIds]}::int[])
      ), gone as (
        delete from source_workers where worker_id = ${workerId} and source_id <> all(${[...sourceIds]}::int[]) returning 1
      ), added as (
        insert into source_workers (source_id, worker_id)
        select own.id, w.id from own, (select id from workers where id = ${workerId} for key share) w
        on conflict do nothing returning 1
      )
      select changed, case when changed > 0 then pg_notify(${LIMITS_CHANNEL}, '')::text end
        from (select ((select count(*) from gone) + (select count(*) from added))::int) as c(changed)`,
  )
  return changed
}

interface Addresses {
  readonly address: string
  readonly address6: string | null
  readonly bind: string | null
}

function addressesOf({ address, address6, bind }: NewSource): Addresses {
  const family = familyOf(address, 'address')
  if (address6 !== undefined && (family !== 4 || familyOf(address6, 'address6') !== 6)) {
    throw invalidParameter('address6', 'must be an IPv6 address, in addition to an IPv4 address')
  }
  if (bind !== undefined && familyOf(bind, 'bind') !== family) {
    throw invalidParameter('bind', 'must be an IP address of the same version as the address')
  }
  return { address: plain(address), address6: plain(address6), bind: plain(bind) }
}

/** IPv6 addresses that contain an IPv4 one (RFC 4291 2.5.5), in their shortest form: they would be that address a second time. */
const CONTAINS_IPV4 = /^::(?:ffff:)?[0-9a-f]{1,4}:[0-9a-f]{1,4}$/

/** The shortest form of an IPv6 address (RFC 5952). */
function plain(address: string): string
function plain(address: string | undefined): string | null
function plain(address: string | undefined): string | null {
  if (address === undefined || !address.includes(':')) return address ?? null
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function familyOf(address: string, parameter: string): number {
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || /^[0:.]+$/.test(address)) throw invalidParameter(parameter, 'must be the IP address of a host')
  if (CONTAINS_IPV4.test(plain(address))) throw invalidParameter(parameter, 'must be given in the form of IPv4')
  return family
}

function requireWeight(weight: number): void {
  if (Number.isInteger(weight) && weight >= 1 && weight <= WEIGHT.most) return
  throw invalidParameter('weight', `must be a whole number from 1 to ${WEIGHT.most}`)
}

function requireUnused({ sources }: Egress, name: string, { address, address6 }: Addresses): void {
  if (sources.length >= MAX_EGRESS.sources)
    throw invalidParameter('name', `the limit of ${MAX_EGRESS.sources} sources is reached`)
  if (sources.some((one) => one.name === name))
    throw invalidParameter('name', `${JSON.stringify(name)} is in use by another source`)
  for (const [parameter, given] of Object.entries({ address, address6 })) {
    const other = given && sources.find((one) => [one.address, one.address6].includes(given))
    if (other) throw invalidParameter(parameter, `is in use by source ${other.name}`)
  }
}

/** Mail must not be sent from other addresses because the last one of its pool, and of the fallback pools, is gone. */
function requireOtherSource(egress: Egress, source: Source): void {
  const pool = egress.pools.find(({ id }) => id === source.poolId)
  const sources = egress.sources.filter(({ id }) => id !== source.id)
  if (!pool || !isUsed(egress, pool) || hasSource({ ...egress, sources }, pool.id)) return
  throw invalidParameter(
    'source',
    `is the last one of the pool ${pool.name}, which rules or other pools use; add another source, or remove these rules first`,
  )
}

function requirePlan(plan: string | null | undefined, parameter: string): void {
  if (plan === undefined || plan === null || isWarmUpPlan(plan)) return
  throw invalidParameter(parameter, `must be one of ${Object.keys(WARM_UP_PLANS).join(', ')}`)
}

function changeable({ weight, poolId, isPaused, reason, warmUpPlan }: Omit<Source, 'id'>) {
  return { weight, poolId, isPaused, reason, warmUpPlan }
}
