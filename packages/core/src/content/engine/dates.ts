/** ISO 8601: a date, optionally with a time and a zone. Anchored, each part of fixed length. */
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s?(Z|[+-]\d{2}(?::?\d{2})?))?)?$/i
const EPOCH = /^-?\d{1,15}$/
/** A number below this is in seconds (up to the year 5138), otherwise in milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000
const MAX_TIMESTAMP = 8_640_000_000_000_000
const MINUTE = 60_000

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const TOKEN = /YYYY|YY|MMMM|MMM|MM|M|DD|Do|D|dddd|ddd|HH|H|hh|h|mm|m|ss|s|A|ZZ|Z/g

/**
 * Implements `formatDate`: formats a date from the data, in UTC or at an offset such as `-0800`. An invalid date gives
 * an empty string. Neither the clock nor the host's time zone is used, so the result depends only on the data.
 */
export function formatDate(value: unknown, format: string, offset: unknown): string {
  const moment = momentOf(value)
  if (moment === undefined) return ''
  const minutes = offsetOf(offset)
  const shifted = moment + minutes * MINUTE
  if (Math.abs(shifted) > MAX_TIMESTAMP) return ''
  const date = new Date(shifted)
  return format.replace(TOKEN, (token) => tokenOf(token, date, minutes))
}

function momentOf(value: unknown): number | undefined {
  if (typeof value === 'number' || (typeof value === 'string' && EPOCH.test(value.trim()))) {
    const number = Number(value)
    const moment = Math.abs(number) < MILLISECONDS_FROM ? number * 1000 : number
    return Math.abs(moment) <= MAX_TIMESTAMP ? Math.trunc(moment) : undefined
  }
  const found = typeof value === 'string' && value.length < 50 ? ISO.exec(value.trim()) : null
  if (!found) return undefined
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', zone] = found
  const moment = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.padEnd(3, '0').slice(0, 3)),
  )
  // Otherwise 31 February would be read as 3 March.
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)) return undefined
  if (Number(month) > 12 || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60) return undefined
  return moment - offsetOf(zone) * MINUTE
}

/** Minutes east of UTC; 0 if invalid. A number is an offset written without quotes. */
function offsetOf(value: unknown): number {
  const text = typeof value === 'number' ? `${value < 0 ? '-' : '+'}${String(Math.abs(value)).padStart(4, '0')}` : value
  const found = typeof text === 'string' ? /^([+-])(\d{2}):?(\d{2})?$/.exec(text.trim()) : null
  if (!found) return 0
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0)
  return found[1] === '-' ? -minutes : minutes
}

function tokenOf(token: string, date: Date, offset: number): string {
  const year = String(date.getUTCFullYear()).padStart(4, '0')
  const month = date.getUTCMonth()
  const hours = date.getUTCHours()
  switch (token) {
    case 'YYYY':
      return year
    case 'YY':
      return year.slice(-2)
    case 'MMMM':
      return MONTHS[month] as string
    case 'MMM':
      return (MONTHS[month] as string).slice(0, 3)
    case 'dddd':
      return DAYS[date.getUTCDay()] as string
    case 'ddd':
      return (DAYS[date.getUTCDay()] as string).slice(0, 3)
    case 'Do':
      return ordinal(date.getUTCDate())
    case 'A':
      return hours < 12 ? 'AM' : 'PM'
    case 'ZZ':
      return zone(offset, '')
    case 'Z':
      return zone(offset, ':')
  }
  const numbers: Readonly<Record<string, number>> = {
    M: month + 1,
    D: date.getUTCDate(),
    H: hours,
    h: hours % 12 || 12,
    m: date.getUTCMinutes(),
    s: date.getUTCSeconds(),
  }
  return String(numbers[token[0] as string]).padStart(token.length, '0')
}

/** 1st, 2nd, 3rd, 4th, 11th, 21st. */
function ordinal(day: number): string {
  const last = day > 10 && day < 14 ? 0 : day % 10
  return `${day}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`
}

function zone(offset: number, between: string): string {
  const pad = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const minutes = Math.abs(offset)
  return `${offset < 0 ? '-' : '+'}${pad(minutes / 60)}${between}${pad(minutes % 60)}`
}
