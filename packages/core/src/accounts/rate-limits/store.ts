import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import type { Rate } from './rate.ts'

export interface Taken {
  /** 0 if less than `needed` was left. */
  readonly granted: number
  /** Amount taken by all processes, including this request. */
  readonly taken: number
  /** End of the window in Unix seconds. */
  readonly endsAt: number
  /** Milliseconds until the window ends. */
  readonly milliseconds: number
}

/** Takes up to `wanted` from the current window, or nothing if less than `needed` is left. */
export async function takeFromQuota(sql: AnySql, rate: Rate, needed: number, wanted: number): Promise<Taken> {
  const { name, limit, seconds } = rate
  return onlyRow(
    await sql<Taken[]>`
      with clock as materialized (
        select now, date_bin(make_interval(secs => ${seconds}::int), now, 'epoch') as starts_at from (select service_now()) as c(now)
      ), took as (
        insert into allowances as a (name, starts_at, taken, granted)
        select ${name}, starts_at, least(${wanted}::int, ${limit}::int), least(${wanted}::int, ${limit}::int) from clock
         where ${needed}::int <= ${limit}::int
        on conflict (name, starts_at) do update
           set taken = least(a.taken + excluded.taken, ${limit}::int),
               granted = least(excluded.taken, ${limit}::int - a.taken)
         where a.taken + ${needed}::int <= ${limit}::int
        returning taken, granted
      )
      select coalesce(took.granted, 0) as granted, coalesce(took.taken, ${limit}::int) as taken,
             (extract(epoch from starts_at) + ${seconds}::int)::float8 as "endsAt",
             ((extract(epoch from starts_at) + ${seconds}::int - extract(epoch from now)) * 1000)::float8 as milliseconds
        from clock left join took on true`,
  )
}

/** Hours that windows are kept; well above the length of all but those of a day. */
const RETENTION_HOURS = 2

/** Deletes a batch of past windows. Returns how many. Windows that began with the day (UTC) are kept until it ends: some are a day long. */
export async function forgetWindows(sql: Sql): Promise<number> {
  const rows = await sql`
    delete from allowances where (name, starts_at) in (
      select name, starts_at from allowances
       where starts_at < service_now() - make_interval(hours => ${RETENTION_HOURS})
         and starts_at <> date_bin('1 day', service_now(), 'epoch')
       order by starts_at limit 5000 for update skip locked)`
  return rows.count
}
