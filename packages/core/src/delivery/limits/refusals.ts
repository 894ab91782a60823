import type { AnySql, Sql } from '../../platform/database/database.ts'
import type { BounceClass } from '../outcomes/bounce-rules.ts'

/** Minutes that are counted together. */
const INTERVAL = '5 minutes'
const MAX_AGE = '1 hour'
const MAX_INTERVALS = 12
/** Rows that an overview reads, the latest: one for each destination, class and five minutes in which it refused. */
const MAX_READ = 100_000
/** Characters of a reply. */
const MAX_REPLY = 200
/** Of an address, also as a link has it. */
const AT_SIGNS = ['@', '%40', '＠'] as const
const INT_MAX = 2_147_483_647

/** Replies of one class with which a destination refused mail; not about a recipient's address or mailbox, and no greylisting. */
export interface Refused {
  readonly class: BounceClass
  /** Deliveries that bounced. */
  readonly permanent: number
  /** Attempts that were deferred. */
  readonly forNow: number
  /** The latest of the replies, at most 200 characters, without addresses. */
  readonly reply: string
}

export interface NewRefused extends Refused {
  readonly place: string
}

export interface RefusedAs extends Refused {
  /** When the latest was counted. */
  readonly at: Date
}

/** Refusals of a destination within the last hour. The numbers are of all classes; class, reply and time are of the most frequent one. */
export interface RefusedAt extends RefusedAs {
  readonly place: string
}

export interface RefusedOverview {
  /** Those that refused most first. */
  readonly places: readonly RefusedAt[]
  /** Number of destinations beyond these. */
  readonly others: number
  /** Whether the numbers are lower bounds, and destinations may be missing: too many refused. */
  readonly partial: boolean
}

/** A reply as it is stored: shortened, and without the addresses that it quotes. */
export function storedReply(text: string): string {
  const words = text.split(' ').map((word) => (AT_SIGNS.some((sign) => word.includes(sign)) ? '…' : word))
  const kept = words.join(' ').toWellFormed()
  return kept.length > MAX_REPLY ? `${kept.slice(0, MAX_REPLY - 1).toWellFormed()}…` : kept
}

/** Adds what a worker was refused since the last call. */
export async function countRefusals(sql: AnySql, refused: readonly NewRefused[]): Promise<void> {
  if (refused.length === 0) return
  await sql`
    insert into destination_refusals as d (since, place, class, permanent, for_now, reply, at)
    select date_bin(${INTERVAL}::text::interval, service_now(), 'epoch'), place, class, permanent, for_now, reply, service_now()
      from unnest(${refused.map(({ place }) => place)}::text[], ${refused.map((one) => one.class)}::text[],
                  ${refused.map(({ permanent }) => permanent)}::int[], ${refused.map(({ forNow }) => forNow)}::int[],
                  ${refused.map(({ reply }) => storedReply(reply))}::text[]) as r(place, class, permanent, for_now, reply)
     -- Every writer locks rows in the same order.
     order by place, class
    on conflict (since, place, class) do update
       set permanent = d.permanent + excluded.permanent, for_now = d.for_now + excluded.for_now, reply = excluded.reply, at = excluded.at`
}

/** Returns what was refused within the last hour, by destination; at most `limit` of them. It reads a range of the key, at most 100,000 rows. */
export async function readRefusals(sql: Sql, limit: number): Promise<RefusedOverview> {
  const rows = await sql<(RefusedAt & { readonly of: number; readonly read: number })[]>`
    with latest as materialized (
      select * from destination_refusals where since > service_now() - ${MAX_AGE}::text::interval order by since desc limit ${MAX_READ}
    ), by_class as (
      ${byClass(sql)} from latest group by place, class
    ), by_place as (
      select distinct on (place) place, class, reply, at, sum(permanent) over one as permanent, sum(for_now) over one as for_now
        from by_class window one as (partition by place) order by place, permanent + for_now desc, class
    )
    select place, class, ${toInteger(sql, sql`permanent`)} as permanent, ${toInteger(sql, sql`for_now`)} as "forNow", reply, at,
           count(*) over ()::int as of, (select count(*) from latest)::int as read
      from by_place order by permanent + for_now desc, place limit ${limit}`
  const [{ of, read } = { of: 0, read: 0 }] = rows
  return {
    places: rows.map(({ of: _of, read: _read, ...one }) => one),
    others: of - rows.length,
    partial: read >= MAX_READ,
  }
}

/** Returns what a destination refused within the last hour, the most frequent class first. A few index probes. */
export async function refusalsAt(sql: Sql, place: string): Promise<RefusedAs[]> {
  return sql<RefusedAs[]>`
    select class, ${toInteger(sql, sql`permanent`)} as permanent, ${toInteger(sql, sql`for_now`)} as "forNow", reply, at
      from (${byClass(sql)} from destination_refusals
             where since = any(array(select date_bin(${INTERVAL}::text::interval, service_now(), 'epoch') - n * ${INTERVAL}::text::interval
                                       from generate_series(0, ${MAX_INTERVALS}) n))
               and since > service_now() - ${MAX_AGE}::text::interval and place = ${place} group by place, class) one
     order by one.permanent + one.for_now desc, class`
}

function byClass(sql: AnySql): ReturnType<AnySql> {
  return sql`
    select place, class, sum(permanent) as permanent, sum(for_now) as for_now, max(at) as at, (array_agg(reply order by at desc))[1] as reply`
}

function toInteger(sql: AnySql, sum: ReturnType<AnySql>): ReturnType<AnySql> {
  return sql`least(${sum}, ${INT_MAX})::int`
}

/** Deletes refusals that are no longer shown. Returns the number of rows. */
export async function forgetRefusals(sql: Sql): Promise<number> {
  return (await sql`delete from destination_refusals where since < service_now() - interval '2 hours'`).count
}
