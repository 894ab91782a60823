import type { AnySql, Sql } from '../../platform/database/database.ts'
import type { Flow } from './flows.ts'

/** Deliveries of a flow that were tried at a destination. */
export interface FlowProgress extends Flow {
  readonly place: string
  readonly tried: number
}

/** Seconds in which deliveries are counted to tell how fast a flow is. */
const COUNTED_SECONDS = 120
/** Length of the intervals in which they are counted. */
const INTERVAL = '10 seconds'

/** Adds what was tried since the last call. */
export async function addProgress(sql: AnySql, progress: readonly FlowProgress[]): Promise<void> {
  if (progress.length === 0) return
  await sql`
    insert into flow_progress as f (place, account_id, class, since, tried)
    select place, account_id, class, date_bin(${INTERVAL}::text::interval, service_now(), 'epoch'), tried
      from unnest(${progress.map((p) => p.place)}::text[], ${progress.map((p) => p.accountId)}::int[],
                  ${progress.map((p) => p.class)}::smallint[], ${progress.map((p) => p.tried)}::int[])
             as p(place, account_id, class, tried)
     -- Every writer locks rows in the same order.
     order by place, account_id, class
    on conflict (place, account_id, class, since) do update set tried = f.tried + excluded.tried`
}

/** How fast the mail of a flow is tried at a destination. */
export interface FlowRate {
  readonly tried: number
  readonly seconds: number
}

/** Returns the rates of a flow at these destinations within the last two minutes; a destination where nothing was tried is left out. */
export async function flowRates(
  sql: AnySql,
  { accountId, class: of }: Flow,
  destinations: readonly string[],
): Promise<Map<string, FlowRate>> {
  const rows = await sql<(FlowRate & { place: string })[]>`
    select place, sum(tried)::int as tried,
           least(${COUNTED_SECONDS}::float8, extract(epoch from service_now() - min(since))::float8) as seconds
      from flow_progress
     where place = any(${[...destinations]}::text[]) and account_id = ${accountId}::int and class = ${of}::smallint
       and since > service_now() - make_interval(secs => ${COUNTED_SECONDS})
     group by place`
  return new Map(rows.map(({ place, ...rate }) => [place, rate]))
}

/** Returns the rates of all groups within the last two minutes, by destination, source, account or class. */
export async function groupRates(
  sql: AnySql,
  by: 'provider' | 'source' | 'account' | 'class',
): Promise<Map<string, FlowRate>> {
  const key = {
    provider: sql`place`,
    source: sql`nullif(split_part(place, '@', 2), '')`,
    account: sql`account_id::text`,
    class: sql`class::text`,
  }[by]
  const rows = await sql<(FlowRate & { key: string | null })[]>`
    select ${key} as key, sum(tried)::int as tried,
           least(${COUNTED_SECONDS}::float8, extract(epoch from service_now() - min(since))::float8) as seconds
      from flow_progress where since > service_now() - make_interval(secs => ${COUNTED_SECONDS}) group by 1`
  return new Map(rows.flatMap(({ key, ...rate }) => (key === null ? [] : [[key, rate]])))
}

/** Deletes what is too old. Returns the number of rows. */
export async function forgetProgress(sql: Sql): Promise<number> {
  return (await sql`delete from flow_progress where since < service_now() - interval '10 minutes'`).count
}
