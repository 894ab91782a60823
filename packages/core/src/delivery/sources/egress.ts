import type { DeliveryClass } from '../../accounts/mail-class.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type { WarmUp, WarmUpPlan } from './warm-up.ts'

/** An address that mail is sent from. */
export interface Source {
  readonly id: number
  readonly name: string
  readonly poolId: number
  /** The address that receivers see. */
  readonly address: string
  /** An IPv6 address in addition to an IPv4 one. */
  readonly address6: string | null
  /** The local address, if the network translates it to `address`. */
  readonly bind: string | null
  /** The name in EHLO. */
  readonly helo: string
  /** Its share of the pool's mail, compared with the other weights. */
  readonly weight: number
  readonly isPaused: boolean
  /** Null if it is not warmed up. */
  readonly warmUpPlan: WarmUpPlan | null
  /** Where it is warmed up; elsewhere the plan begins with the first message. */
  readonly warmUps: readonly WarmUp[]
  /** Why it is paused. */
  readonly reason: string | null
  /** Number of running workers whose host has the address. */
  readonly workers: number
}

export interface Pool {
  readonly id: number
  readonly name: string
  /** The pool that sends if no source of this one can. */
  readonly fallbackId: number | null
  /** Only rules choose it. */
  readonly isReserved: boolean
}

/** All given conditions must be met. */
export interface PoolRule {
  readonly id: number
  readonly poolId: number
  readonly accountId: number | null
  readonly class: DeliveryClass | null
  readonly sendingDomain: string | null
  /** The id of that domain; null if no account has it. */
  readonly domainId: number | null
  readonly tag: string | null
}

/** The sources, their pools, and the rules that choose a pool, in their order. */
export interface Egress {
  readonly sources: readonly Source[]
  readonly pools: readonly Pool[]
  readonly rules: readonly PoolRule[]
}

/** The pool of mail that no rule concerns. */
export const DEFAULT_POOL = 'default'

/** Maximum numbers: workers have all of them in memory. */
export const MAX_EGRESS = { sources: 1000, pools: 200, rules: 1000 } as const

/** Reads the sources, pools and rules. They are few, and workers read them every few seconds. */
export async function readEgress(sql: AnySql): Promise<Egress> {
  return onlyRow(
    await sql<Egress[]>`
      select
        (select coalesce(json_agg(s order by s.id), '[]') from (
          select s.id, s.name, s.pool_id as "poolId", host(s.address) as address, host(s.address6) as address6, host(s.bind) as bind, s.helo,
                 s.weight, s.state = 'paused' as "isPaused", s.reason, s.warm_up_plan as "warmUpPlan",
                 (select coalesce(json_agg(json_build_object('provider', w.provider, 'day', w.day,
                                                             'isSpent', coalesce(w.spent_until > service_now(), false)) order by w.provider), '[]')
                    from source_warm_ups w where w.source_id = s.id and s.warm_up_plan is not null) as "warmUps",
                 (select count(*)::int from source_workers w where w.source_id = s.id) as workers
            from sources s) s) as sources,
        (select coalesce(json_agg(p order by p.id), '[]') from (
          select id, name, fallback_id as "fallbackId", reserved as "isReserved" from pools) p) as pools,
        (select coalesce(json_agg(r order by r.position, r.id), '[]') from (
          select r.id, r.position, r.pool_id as "poolId", r.account_id as "accountId", r.class, r.sending_domain as "sendingDomain", r.tag,
                 (select d.id from domains d
                    where d.name = r.sending_domain and d.deleted_at is null and d.state <> 'pending') as "domainId"
            from pool_rules r) r) as rules`,
  )
}
