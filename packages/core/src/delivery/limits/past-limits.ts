import type { AnySql, Sql } from '../../platform/database/database.ts'

/** Days for which it is known what was done. */
export const PAST_LIMIT_DAYS = 31
/** Rows deleted at once. */
const CHUNK = 5000

/**
 * Returns the part of a statement that keeps the limits in `ended`, rows of limit_overrides that it has deleted or replaced, as the service's
 * answer to refusals. Only those of providers are kept: sites have a dot in their names, and their owners could add any number.
 */
export function keepPastLimits(sql: AnySql, ended: ReturnType<AnySql>): ReturnType<AnySql> {
  return sql`
    insert into past_limits (place, account_id, setting, value, seconds, rule, since, until)
    select e.place, e.account_id, e.setting, e.value, case when e.setting = 'rate' then e.seconds end, e.rule, e.since, least(e.until, service_now())
      from ${ended} e where position('.' in split_part(e.place, '@', 1)) = 0`
}

/** Returns the first parts of a statement that writes this override again: they keep it as it was if it has ended. */
export function keepIfEnded(
  sql: AnySql,
  {
    place,
    accountId,
    setting,
    rule,
  }: Readonly<Record<'place' | 'setting' | 'rule', string>> & { readonly accountId: number | null },
): ReturnType<AnySql> {
  return sql`
    ended as (
      select * from limit_overrides
       where place = ${place} and account_id is not distinct from ${accountId}::int and setting = ${setting} and rule = ${rule}
         and until <= service_now()
    ), kept as (
      ${keepPastLimits(sql, sql`ended`)}
    )`
}

/** The same for rows of account_holds, except warnings: nothing followed from them. */
export function keepPastHolds(sql: AnySql, ended: ReturnType<AnySql>): ReturnType<AnySql> {
  return sql`
    insert into past_limits (place, account_id, setting, value, seconds, rule, since, until)
    select null, e.account_id, e.level, e.rate, case when e.rate is not null then 3600 end, e.rule, e.since,
           least(e.until, service_now())
      from ${ended} e where e.level <> 'warned'`
}

/** Deletes some that are too old. Returns their number. */
export async function forgetPastLimits(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from past_limits where id in (
      select id from past_limits where until < service_now() - make_interval(days => ${PAST_LIMIT_DAYS}) limit ${CHUNK})`
  return count
}
