import type { Actor } from '../../accounts/audit/index.ts'
import type { DeliveryClass } from '../../accounts/mail-class.ts'
import { requireNotDeleted } from '../../accounts/require-active.ts'
import { parseDomain } from '../../mime/address.ts'
import { onlyRow, type Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { requireAccount } from '../require-account.ts'
import { changeEgress, poolNamed, requireName } from './change-egress.ts'
import { hasSource, isUsed } from './choose-source.ts'
import { MAX_EGRESS, type Pool, type PoolRule, readEgress } from './egress.ts'

export interface PoolSettings {
  /** The name of the pool that sends if no source of this one can; null: none. */
  readonly fallback?: string | null | undefined
  /** Only rules choose it, not the messages themselves. */
  readonly isReserved?: boolean | undefined
}

/** Adds a pool. Throws parameterInvalid. */
export async function addPool(sql: Sql, name: string, settings: PoolSettings, by: Actor): Promise<Pool> {
  requireName(name, 'pool')
  return changeEgress(sql, by, async (transaction, egress) => {
    if (egress.pools.some((pool) => pool.name === name))
      throw invalidParameter('pool', `${JSON.stringify(name)} exists`)
    if (egress.pools.length >= MAX_EGRESS.pools)
      throw invalidParameter('pool', `the limit of ${MAX_EGRESS.pools} pools is reached`)
    const { fallback = null, isReserved = false } = settings
    const fallbackId = fallback === null ? null : poolNamed(egress, fallback, 'fallback').id
    await transaction`
      insert into pools (name, fallback_id, reserved) values (${name}, ${fallbackId}::int, ${String(isReserved)}::text::boolean)`
    const result = poolNamed(await readEgress(transaction), name)
    return { result, action: 'pool.add', object: `pool ${name}`, after: { fallback, isReserved } }
  })
}

/** Changes a pool. Throws parameterInvalid. */
export async function changePool(sql: Sql, name: string, settings: PoolSettings, by: Actor): Promise<Pool> {
  return changeEgress(sql, by, async (transaction, egress) => {
    const before = poolNamed(egress, name)
    const { fallback, isReserved = before.isReserved } = settings
    const fallbackId =
      fallback === undefined ? before.fallbackId : fallback === null ? null : poolNamed(egress, fallback, 'fallback').id
    if (fallbackId === before.id) throw invalidParameter('fallback', 'must be another pool')
    const pools = egress.pools.map((pool) => (pool.id === before.id ? { ...pool, fallbackId } : pool))
    const cannotSend = hasSource(egress, before.id) && !hasSource({ ...egress, pools }, before.id)
    if (cannotSend && isUsed(egress, before))
      throw invalidParameter('fallback', `must have sources: ${name}, which rules or other pools use, has none`)
    await transaction`
      update pools set fallback_id = ${fallbackId}::int, reserved = ${String(isReserved)}::text::boolean where id = ${before.id}`
    const result = poolNamed(await readEgress(transaction), name)
    return { result, action: 'pool.change', object: `pool ${name}`, before: { ...before }, after: { ...result } }
  })
}

/** Removes a pool without sources and rules, and that is not the fallback of another pool. Throws parameterInvalid. */
export async function removePool(sql: Sql, name: string, by: Actor): Promise<void> {
  await changeEgress(sql, by, async (transaction, egress) => {
    const { id } = poolNamed(egress, name)
    const uses = [
      ...egress.sources.filter(({ poolId }) => poolId === id).map((one) => `source ${one.name}`),
      ...egress.rules.filter(({ poolId }) => poolId === id).map((one) => `rule ${one.id}`),
      ...egress.pools.filter(({ fallbackId }) => fallbackId === id).map((one) => `pool ${one.name}`),
    ]
    if (uses.length > 0) throw invalidParameter('pool', `is in use by ${uses.slice(0, 5).join(', ')}`)
    await transaction`delete from pools where id = ${id}`
    return { result: undefined, action: 'pool.remove', object: `pool ${name}` }
  })
}

export interface NewPoolRule {
  readonly pool: string
  readonly accountId?: number | undefined
  readonly class?: DeliveryClass | undefined
  readonly sendingDomain?: string | undefined
  readonly tag?: string | undefined
  /** The place among the rules, from 1; the last if undefined. */
  readonly position?: number | undefined
}

const MAX_TAG = 255

/** Adds a rule: mail that meets all given conditions uses the pool. Throws parameterInvalid. */
export async function addPoolRule(sql: Sql, rule: NewPoolRule, by: Actor): Promise<PoolRule> {
  const { accountId, class: of, tag, position } = rule
  const sendingDomain = rule.sendingDomain === undefined ? undefined : parseDomain(rule.sendingDomain)
  if (rule.sendingDomain !== undefined && sendingDomain === undefined)
    throw invalidParameter('domain', 'must be a domain name')
  if (tag !== undefined && (tag === '' || tag.length > MAX_TAG))
    throw invalidParameter('tag', `must have 1 to ${MAX_TAG} characters`)
  if ([accountId, of, sendingDomain, tag].every((condition) => condition === undefined)) {
    throw invalidParameter('account', 'must be given, or class, domain or tag')
  }
  return changeEgress(sql, by, async (transaction, egress) => {
    const pool = poolNamed(egress, rule.pool)
    if (egress.rules.length >= MAX_EGRESS.rules)
      throw invalidParameter('pool', `the limit of ${MAX_EGRESS.rules} rules is reached`)
    if (!hasSource(egress, pool.id))
      throw invalidParameter('pool', `${pool.name} has no sources, and neither has its fallback; add one first`)
    const at = position ?? egress.rules.length + 1
    if (!Number.isInteger(at) || at < 1 || at > egress.rules.length + 1) {
      throw invalidParameter('position', `must be from 1 to ${egress.rules.length + 1}`)
    }
    await requireAccount(transaction, accountId)
    if (accountId !== undefined) await requireNotDeleted(transaction, accountId)
    const order = egress.rules.map(({ id }) => id)
    const { id } = onlyRow(
      await transaction<{ id: number }[]>`
        insert into pool_rules (position, pool_id, account_id, class, sending_domain, tag)
        values (${at}::int, ${pool.id}, ${accountId ?? null}::int, ${of ?? null}::smallint, ${sendingDomain ?? null}, ${tag ?? null})
        returning id`,
    )
    order.splice(at - 1, 0, id)
    await transaction`
      update pool_rules r set position = o.position
        from unnest(${order}::int[]) with ordinality as o(id, position) where r.id = o.id and r.position <> o.position`
    const result = (await readEgress(transaction)).rules.find((one) => one.id === id) as PoolRule
    const after = { pool: pool.name, accountId, class: of, sendingDomain, tag, position: at }
    return { result, action: 'pool.rule.add', object: `pool rule ${id}`, after }
  })
}

/** Throws parameterInvalid. */
export async function removePoolRule(sql: Sql, id: number, by: Actor): Promise<void> {
  await changeEgress(sql, by, async (transaction, egress) => {
    const rule = egress.rules.find((one) => one.id === id)
    if (!rule) throw invalidParameter('rule', `${id} does not exist`)
    await transaction`delete from pool_rules where id = ${id}`
    return { result: undefined, action: 'pool.rule.remove', object: `pool rule ${id}`, before: { ...rule } }
  })
}
