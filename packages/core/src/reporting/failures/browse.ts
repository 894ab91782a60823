import { HARD_CLASSES } from '../../delivery/outcomes/bounce-rules.ts'
import { SUPPRESSED } from '../../delivery/outcomes/hard-bounces.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { bounced, byHumans } from '../event-log/notable.ts'
import type { FailedAddress, FailureFilter, FailureKind } from './failure.ts'

type Fragment = ReturnType<AnySql>

/**
 * Failures of an account that a call reads, from all its sources, the newest messages first. A list has the addresses of these, so its pages do not
 * end with the largest account's events; those of before are found with an end time, and by their address.
 */
const MAX_READ = 10_000
/** Deliveries of one address that are read. */
const MAX_OF_ADDRESS = 200

/** Returns a page of the addresses with failures, sorted by address. */
export async function browse(sql: AnySql, accountId: number, filter: FailureFilter): Promise<FailedAddress[]> {
  const { limit, offset } = filter
  return sql<FailedAddress[]>`
    with failed as materialized (${addresses(sql, accountId, filter)}),
         page as (select * from failed order by email collate "C" limit ${limit} offset ${offset})
    select p.email, p.since, (e.detail->>'code')::int as code, e.detail->>'reply' as reply, e.detail->>'enhanced' as status
      from page p
      join lateral (
        select detail from events
         where message_id = p.message_id and recipient_no = p.recipient_no and occurred_at = p.since and type in ('invalid', 'expired', 'bounced')
         limit 1) e on true
     order by p.email collate "C"`
}

export async function count(sql: AnySql, accountId: number, filter: FailureFilter): Promise<number> {
  return onlyRow(
    await sql<{ count: number }[]>`
      select count(*)::int as count from (${addresses(sql, accountId, filter)}) failed`,
  ).count
}

/** Selects each address once, with its last failure that was not cleared. The pseudonyms of erased recipients are no addresses. */
function addresses(sql: AnySql, accountId: number, filter: FailureFilter): Fragment {
  const { kind, prefix, emails } = filter
  const failures = emails ? ofAddresses(sql, accountId, { ...filter, emails }) : newest(sql, accountId, filter)
  // A subquery, as a join would compare all addresses with all that were cleared: the planner knows neither number.
  const cleared = (address: Fragment): Fragment => sql`
    coalesce((select c.until from cleared_failures c where c.account_id = ${accountId} and c.kind = ${kind} and c.address = ${address}), '-infinity')`
  return sql`
    select * from (
      select distinct on (failure.email) failure.* from (${failures}) failure
       where failure.email !~ '^forgotten-[0-9a-f]{20}$'
         ${prefix === undefined ? sql`` : sql`and starts_with(failure.email, ${prefix})`}
       order by failure.email, failure.since desc
      offset 0) last
     where last.since > ${cleared(sql`''`)} and last.since > ${cleared(sql`last.email`)}`
}

/** One scan of an index per condition, in its order, and only of the partitions of the time. */
function newest(sql: AnySql, accountId: number, filter: FailureFilter): Fragment {
  const { kind, to } = filter
  // A message is accepted before its failure.
  const before = to ? sql`and e.message_id < uuidv7_floor(${to}::timestamptz + interval '1 second')` : sql``
  const sources = SOURCES[kind](sql)
  const read = ({ condition, of }: Source): Fragment => sql`(
    select e.message_id, e.recipient_no, e.occurred_at, ${of} as class from events e
     where e.account_id = ${accountId} and ${condition} and ${byHumans(sql)} ${inSpan(sql, filter)} ${before}
     order by e.message_id desc, e.recipient_no desc limit ${MAX_READ / sources.length})`
  const found = sources.map(read).reduce((all, one) => sql`${all} union all ${one}`)
  return sql`
    select f.recipient_key as email, n.occurred_at as since, n.message_id, n.recipient_no
      from (${found}) n
      join finished_deliveries f on f.message_id = n.message_id and f.recipient_no = n.recipient_no
     where n.class is null or n.class in (${sql.unsafe(OF_DOMAIN)})`
}

/** By the deliveries of each address. */
function ofAddresses(
  sql: AnySql,
  accountId: number,
  filter: FailureFilter & { readonly emails: readonly string[] },
): Fragment {
  const wanted = SOURCES[filter.kind](sql)
    .map(
      ({ condition, of }): Fragment => sql`(${condition} and (${of} is null or ${of} in (${sql.unsafe(OF_DOMAIN)})))`,
    )
    .reduce((all, one) => sql`${all} or ${one}`)
  return sql`
    select f.recipient_key as email, e.occurred_at as since, f.message_id, f.recipient_no
      from unnest(${[...filter.emails]}::text[]) as asked(email)
      cross join lateral (
        select message_id, recipient_no, recipient_key from finished_deliveries
         where hashtextextended(recipient_key, account_id) = hashtextextended(asked.email, ${accountId}::int)
           and recipient_key = asked.email and account_id = ${accountId}
         order by message_id desc limit ${MAX_OF_ADDRESS}) f
      join events e on e.message_id = f.message_id and e.recipient_no = f.recipient_no
     where (${wanted}) and ${byHumans(sql)} ${inSpan(sql, filter)}`
}

interface Source {
  /** The condition of an index of events (event-log/notable.ts). */
  readonly condition: Fragment
  /** The bounce class if only some of them are listed, otherwise null. */
  readonly of: Fragment
}

const SOURCES: Readonly<Record<FailureKind, (sql: AnySql) => Source[]>> = {
  block: (sql) => [{ condition: bounced.soft(sql), of: sql`null::text` }],
  invalid: (sql) => [
    { condition: sql`e.type = 'invalid'`, of: sql`null::text` },
    { condition: bounced.hard(sql), of: sql`(e.detail->>'class')` },
  ],
}

/** The hard bounces that do not suppress the address, because the owner of its domain can correct them. */
const OF_DOMAIN = HARD_CLASSES.filter((one) => !SUPPRESSED.includes(one))
  .map((one) => `'${one}'`)
  .join(', ')

function inSpan(sql: AnySql, { from, to }: FailureFilter): Fragment {
  return sql`
    ${from ? sql`and e.occurred_at >= ${from}` : sql``}
    ${to ? sql`and e.occurred_at < ${to}::timestamptz + interval '1 second'` : sql``}`
}
