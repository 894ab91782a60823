import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'

/** How often a back-off rule applied to replies of a destination. */
export interface RuleHits {
  readonly place: string
  /** The id of the rule. */
  readonly rule: string
  /** 0: the mail of all accounts. */
  readonly accountId: number
  readonly count: number
  /** Seconds in which they are counted. */
  readonly within: number
}

/** Adds hits, and returns how many all workers have had within the time of the rule. */
export async function countHits(sql: AnySql, { place, rule, accountId, count, within }: RuleHits): Promise<number> {
  const row = onlyRow(
    await sql<{ hits: number }[]>`
      with counted as (
        insert into rule_hits as h (place, rule, account_id, minute, hits)
        values (${place}, ${rule}, ${accountId}, date_trunc('minute', service_now()), ${count})
        on conflict (place, rule, account_id, minute) do update set hits = h.hits + excluded.hits
        returning minute, hits
      )
      select (counted.hits + coalesce((
               select sum(h.hits) from rule_hits h
                where h.place = ${place} and h.rule = ${rule} and h.account_id = ${accountId} and h.minute < counted.minute
                  and h.minute > service_now() - make_interval(secs => ${within})), 0))::int as hits
        from counted`,
  )
  return row.hits
}

/** Deletes hits that are too old for every rule. Returns the number of rows. */
export async function forgetHits(sql: Sql): Promise<number> {
  return (await sql`delete from rule_hits where minute < service_now() - interval '25 hours'`).count
}
