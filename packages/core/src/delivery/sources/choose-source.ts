import { createHash } from 'node:crypto'
import type { DeliveryClass } from '../../accounts/mail-class.ts'
import { DEFAULT_POOL, type Egress, type Pool, type PoolRule, type Source } from './egress.ts'

/** A delivery, as far as the choice of its source depends on it. */
export interface SourcedMail {
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly class: DeliveryClass
  /** The sending domain. */
  readonly domainId: number
  readonly tags: readonly string[]
  /** The pool that the operator has chosen for it; null if none. */
  readonly poolId: number | null
  /** The name of the pool that the message asks for. */
  readonly poolName: string | undefined
}

/** The source of a delivery, and whether it can send now. If it cannot, no other of its pool and of the fallback pools can. */
export interface SourceChoice {
  readonly source: Source
  readonly canSend: boolean
}

/**
 * Returns the source that sends a delivery; undefined if none is configured for it, so that the operating system chooses the address.
 *
 * Weighted rendezvous hashing over message and recipient: each attempt of a delivery has the same source, as greylisting servers expect, and
 * when a source is added, paused or removed, only its own share of the mail moves.
 */
export function chooseSource(
  egress: Egress,
  mail: SourcedMail,
  canSend: (source: Source) => boolean,
): SourceChoice | undefined {
  const first = fromPools(egress, mail, poolOf(egress, mail), canSend)
  // A pool without any sources must not let mail leave from whatever address the operating system chooses.
  return first ?? fromPools(egress, mail, defaultPool(egress), canSend)
}

/** From a pool or its fallback pools; undefined if they have no sources. */
function fromPools(
  egress: Egress,
  mail: SourcedMail,
  begin: Pool | undefined,
  canSend: (source: Source) => boolean,
): SourceChoice | undefined {
  let first: Source | undefined
  for (const pool of withFallbacks(egress, begin)) {
    const inOrder = ranked(egress.sources, pool, mail)
    first ??= inOrder[0]
    const source = inOrder.find(canSend)
    if (source) return { source, canSend: true }
  }
  return first && { source: first, canSend: false }
}

/** The pool that the operator, the message or a rule has chosen for a delivery. */
function poolOf(egress: Egress, mail: SourcedMail): Pool | undefined {
  const { pools, rules } = egress
  return (
    withId(egress, mail.poolId) ??
    pools.find(({ name, isReserved }) => name === mail.poolName && !isReserved) ??
    withId(egress, rules.find((rule) => concerns(rule, mail))?.poolId ?? null) ??
    defaultPool(egress)
  )
}

function defaultPool({ pools }: Egress): Pool | undefined {
  return pools.find(({ name }) => name === DEFAULT_POOL)
}

function withId({ pools }: Egress, id: number | null): Pool | undefined {
  return id === null ? undefined : pools.find((pool) => pool.id === id)
}

/** The pool, then its fallback pools. */
function* withFallbacks(egress: Egress, begin: Pool | undefined): Generator<Pool> {
  const seen = new Set<Pool>()
  // Two pools may be the fallback of each other.
  for (let pool = begin; pool && !seen.has(pool); pool = withId(egress, pool.fallbackId)) {
    seen.add(pool)
    yield pool
  }
}

/** Whether a pool or one of its fallback pools has a source that meets the condition; without one, whether it has any. */
export function hasSource(egress: Egress, poolId: number, is: (source: Source) => boolean = () => true): boolean {
  const ids = new Set([...withFallbacks(egress, withId(egress, poolId))].map(({ id }) => id))
  return egress.sources.some((source) => ids.has(source.poolId) && is(source))
}

/** Whether mail may use a pool because of a rule, or because it is the fallback of another one. */
export function isUsed({ pools, rules }: Egress, { id }: Pool): boolean {
  return rules.some(({ poolId }) => poolId === id) || pools.some(({ fallbackId }) => fallbackId === id)
}

function concerns(rule: PoolRule, mail: SourcedMail): boolean {
  return (
    (rule.accountId === null || rule.accountId === mail.accountId) &&
    (rule.class === null || rule.class === mail.class) &&
    (rule.sendingDomain === null || rule.domainId === mail.domainId) &&
    (rule.tag === null || mail.tags.includes(rule.tag))
  )
}

function ranked(sources: readonly Source[], pool: Pool, { messageId, recipientNo }: SourcedMail): Source[] {
  const own = sources.filter(({ poolId }) => poolId === pool.id)
  if (own.length < 2) return own
  const digest = createHash('md5').update(`${messageId} ${recipientNo}`).digest()
  const seed = digest.readUInt32LE(0)
  return own
    .map((source) => ({ source, score: -source.weight / Math.log(uniform(seed, source.id)) }))
    .sort((a, b) => b.score - a.score)
    .map(({ source }) => source)
}

/** A number between 0 and 1 (both excluded) for each pair; the mixing of bits is that of MurmurHash3. */
function uniform(seed: number, id: number): number {
  let bits = seed ^ Math.imul(id, 0x9e3779b1)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (((bits ^ (bits >>> 16)) >>> 0) + 0.5) / 2 ** 32
}
