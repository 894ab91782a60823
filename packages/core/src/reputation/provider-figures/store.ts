import type { AnySql, Sql } from '../../platform/database/database.ts'
import { storableJson } from '../../platform/database/storable.ts'

/** A figure that a provider has published. */
export interface ProviderFigure {
  /** A domain, or an IP address. */
  readonly subject: string
  /** Such as 2030-01-31. */
  readonly day: string
  /** Such as SPAM_RATE or complaintRate. */
  readonly name: string
  readonly value: string
}

export interface StoredFigure extends ProviderFigure {
  readonly provider: string
  readonly importedAt: Date
}

/** Figures shown, the latest first. */
const MAX_SHOWN = 1000
const RETENTION_DAYS = 400
/** Rows written, or deleted, at once. */
const CHUNK = 5000

const day = (sql: AnySql) => sql`to_char(day, 'YYYY-MM-DD') as day`

/** Returns the figures of a provider since a day, at most 1000. */
export async function figuresOfProvider(sql: AnySql, provider: string, since: Date): Promise<ProviderFigure[]> {
  return sql<ProviderFigure[]>`
    select subject, ${day(sql)}, name, value from provider_figures
     where provider = ${provider} and day >= (${since.toISOString()}::text::timestamptz at time zone 'UTC')::date
     order by provider_figures.day desc, subject, name limit ${MAX_SHOWN}`
}

/** Returns the latest figures, of one provider if it is given; at most 1000. */
export async function listFigures(sql: AnySql, provider: string | undefined): Promise<StoredFigure[]> {
  return sql<StoredFigure[]>`
    select provider, subject, ${day(sql)}, name, value, imported_at as "importedAt" from provider_figures
     where ${provider ?? null}::text is null or provider = ${provider ?? null}::text
     order by provider_figures.day desc, provider, subject, name limit ${MAX_SHOWN}`
}

/** Stores all figures or none; those with the same subject, day and name are replaced. */
export async function storeFigures(sql: Sql, provider: string, figures: readonly ProviderFigure[]): Promise<void> {
  // A file may have a figure twice; the later one counts.
  const distinct = [...new Map(figures.map((one) => [JSON.stringify([one.subject, one.day, one.name]), one])).values()]
  await sql.begin(async (transaction) => {
    for (let at = 0; at < distinct.length; at += CHUNK) {
      await transaction`
        insert into provider_figures (provider, subject, day, name, value)
        select ${provider}, f.subject, f.day, f.name, f.value
          from jsonb_to_recordset(${storableJson(distinct.slice(at, at + CHUNK))}::text::jsonb) as f (subject text, day date, name text, value text)
         order by f.subject, f.day, f.name
        on conflict (provider, subject, day, name) do update set value = excluded.value, imported_at = service_now()`
    }
  })
}

/** Deletes some that are too old. Returns their number. */
export async function forgetFigures(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from provider_figures where (provider, subject, day, name) in (
      select provider, subject, day, name from provider_figures
       where day < (service_now() at time zone 'UTC')::date - ${RETENTION_DAYS}::int limit ${CHUNK})`
  return count
}
