import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { readIsoTime } from '../../platform/iso-time.ts'

/** The moment and the zone that times of a search are relative to. */
export interface SearchClock {
  readonly now: Date
  /** IANA name: of days, and of times without a zone. */
  readonly timeZone: string
}

/** Returns the time of the database, and the time zone of the account; of all accounts it is UTC. */
export async function selectClock(sql: AnySql, accountId: number | undefined): Promise<SearchClock> {
  return onlyRow(
    await sql<SearchClock[]>`
      select service_now() as now, coalesce((select time_zone from accounts where id = ${accountId ?? 0}::int), 'UTC') as "timeZone"`,
  )
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }
/** Days before today. */
const DAYS: Readonly<Record<string, number>> = { today: 0, heute: 0, yesterday: 1, gestern: 1 }
const AGO = /^(\d{1,5})(m|h|d|w)$/i
const HAS_ZONE = /(?:z|[+-]\d\d:?\d\d)$/i

/**
 * Returns the moment of `2h` or `3d` ago, of a day (its beginning), or of a time in ISO 8601; undefined if the text is none of these.
 */
export function readSearchTime(text: string, { now, timeZone }: SearchClock): Date | undefined {
  const word = text.trim().toLowerCase()
  const [, count, unit = ''] = AGO.exec(word) ?? []
  const time =
    count !== undefined
      ? new Date(now.getTime() - Number(count) * (UNITS[unit] ?? 0))
      : Object.hasOwn(DAYS, word)
        ? dayStart(now, DAYS[word] ?? 0, timeZone)
        : isoTime(text.trim(), timeZone)
  // Ids of messages have no others.
  return time && time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9999 ? time : undefined
}

function isoTime(text: string, timeZone: string): Date | undefined {
  const utc = readIsoTime(text)
  return !utc || (text.length > 10 && HAS_ZONE.test(text)) ? utc : atWall(utc, timeZone)
}

function dayStart(now: Date, daysBefore: number, timeZone: string): Date {
  const [year, month, day] = wallOf(now, timeZone)
  return atWall(new Date(Date.UTC(year, month - 1, day - daysBefore)), timeZone)
}

/** The moment at which clocks of the zone show what `utc` shows in UTC; where they skip it, the one that much later. */
function atWall(utc: Date, timeZone: string): Date {
  if (timeZone === 'UTC') return utc
  let moment = utc.getTime()
  // The offset of the zone at the first guess may be that of the other side of a change.
  for (let round = 0; round < 2; round++) moment = utc.getTime() - offsetAt(new Date(moment), timeZone)
  return new Date(moment)
}

function offsetAt(moment: Date, timeZone: string): number {
  const [year, month, day, hour, minute, second] = wallOf(moment, timeZone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(moment.getTime() / 1000) * 1000
}

type Wall = [year: number, month: number, day: number, hour: number, minute: number, second: number]

function wallOf(moment: Date, timeZone: string): Wall {
  const parts = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(moment)
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.split(/[^\d]+/, 6).map(Number)
  return [year, month, day, hour, minute, second]
}
