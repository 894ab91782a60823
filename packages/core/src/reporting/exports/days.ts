import { selectSettings } from '../../accounts/store.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'

/** A date range as requested, with the times when it begins and ends. */
export interface Span {
  readonly firstDay: string
  readonly lastDay: string
  readonly beginsAt: Date
  readonly endsAt: Date
}

/**
 * Returns a date range in the account's time zone. The default of the last day is today.
 *
 * Throws parameterMissing (startdate), exportDateInvalid, exportDatesReversed.
 */
export async function spanOf(sql: AnySql, accountId: number, first: string, last: string | undefined): Promise<Span> {
  if (first === '') throw new ServiceError('parameterMissing', { values: { parameter: 'startdate' } })
  const firstDay = dayOf(first)
  const lastDay = last === undefined || last === '' ? undefined : dayOf(last)
  const zone = (await selectSettings(sql, accountId))?.timeZone ?? 'UTC'
  const span = onlyRow(
    await sql<Span[]>`
      with requested as (
        select ${firstDay}::text::date as first_day,
               coalesce(${lastDay ?? null}::text::date, (service_now() at time zone ${zone}::text)::date) as last_day
      )
      select first_day::text as "firstDay", last_day::text as "lastDay",
             greatest(first_day::timestamp at time zone ${zone}::text, '1970-01-01Z') as "beginsAt",
             least((last_day + 1)::timestamp at time zone ${zone}::text, '3000-01-01Z') as "endsAt"
        from requested`,
  )
  if (span.firstDay > span.lastDay) throw new ServiceError('exportDatesReversed')
  return span
}

/** Checks that a day exists in the calendar, from the year 1 on. Throws exportDateInvalid. */
function dayOf(text: string): string {
  const [, year = ''] = /^(\d{4})-\d{2}-\d{2}$/.exec(text) ?? []
  const time = Date.parse(`${text}T00:00:00Z`)
  const real = year !== '' && !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text
  if (!real || year === '0000') throw new ServiceError('exportDateInvalid')
  return text
}
