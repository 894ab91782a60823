import { type Html, html } from './html.ts'

/** Languages of the pages. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Numbers, shares, durations and times as a reader of this language writes them. Times are of `timeZone`. */
export interface Format {
  readonly language: Language
  /** IANA name of the zone of all times. */
  readonly timeZone: string
  /** IANA name of the zone whose days are counted: that of the account. */
  readonly dayZone: string
  /** Exact, with separators. */
  number(value: number): string
  /** A share of 0 to 1 as per cent: one decimal, two below 1 %. A dash if `of` is 0. */
  share(part: number, of: number): string
  /** Milliseconds as "604 ms", "1.4 s", "38 s", "8.0 min", "3 h", "19 days". */
  duration(milliseconds: number): string
  /** Octets as "38 kB". */
  size(octets: number): string
  /** A time element: today "23:31:46", this year "24 Nov 23:31", else with the year; the title has all of it, with the zone. */
  time(at: Date): Html
  /** A time element to the millisecond, "23:31:46.204"; with its day, unless that is the day of `before`, by default today. */
  moment(at: Date, before?: Date): Html
  /** A time element that counts on: "12 s ago". */
  ago(at: Date): Html
  /** The text of `time`, for sentences. */
  plainTime(at: Date): string
  /** The text of a full hour, "23:00", or with its day. */
  hour(at: Date, withDay: boolean): string
  /** A day, "24 Nov 2026". */
  day(at: Date): string
  /** The day of a time in the account's time zone, as `yyyy-mm-dd`. */
  dayKey(at: Date): string
  /** A day that is given as `yyyy-mm-dd`: this year "24 Nov", else with the year. */
  dayOfKey(day: string): string
  /** Two days that are given so: the year is left out only if both are of this year. */
  period(first: string, last: string): readonly [first: string, last: string]
}

const DAY_OF_YEAR = { day: 'numeric', month: 'short' } as const
/** Styles of a time. */
const STYLES = {
  /** Swedish dates are `yyyy-mm-dd`. */
  key: { dateStyle: 'short' },
  time: { timeStyle: 'medium' },
  moment: { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
  hour: { hour: '2-digit', minute: '2-digit' },
  dayOfYear: DAY_OF_YEAR,
  dayAndTime: { ...DAY_OF_YEAR, hour: '2-digit', minute: '2-digit' },
  day: { ...DAY_OF_YEAR, year: 'numeric' },
  full: { dateStyle: 'full', timeStyle: 'long' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>
type Style = keyof typeof STYLES

/** `now` is the time of the request, by the database's clock. `dayZone`: by default that of the times. */
export function createFormat(language: Language, timeZone: string, now: Date, dayZone = timeZone): Format {
  const locale = language === 'en' ? 'en-GB' : 'de-DE'
  const exact = numberFormat(locale, 0)
  const one = numberFormat(locale, 1)
  const two = numberFormat(locale, 2)
  const show = (at: Date, style: Style) => dateFormat(locale, timeZone, style).format(at)
  const dayKey = (at: Date) => dateFormat('sv-SE', timeZone, 'key').format(at)
  const today = dayKey(now)
  const yearOf = (key: string) => key.slice(0, key.indexOf('-'))

  const dayOfKey = (day: string, isThisYear: boolean) =>
    dateFormat(locale, 'UTC', isThisYear ? 'dayOfYear' : 'day').format(new Date(`${day}T00:00:00Z`))

  function clock(at: Date): string {
    const key = dayKey(at)
    if (key === today) return show(at, 'time')
    return show(at, yearOf(key) === yearOf(today) ? 'dayAndTime' : 'day')
  }

  function element(at: Date, text: string, counts: boolean): Html {
    const full = show(at, 'full')
    return counts
      ? html`<time datetime="${at.toISOString()}" data-since="${at.getTime()}" title="${full}">${text}</time>`
      : html`<time datetime="${at.toISOString()}" title="${full}">${text}</time>`
  }

  return {
    language,
    timeZone,
    dayZone,
    number: (value) => exact.format(value),
    share(part, of) {
      if (of === 0) return '–'
      const percent = (100 * part) / of
      const digits = percent === 0 || percent === 100 ? exact : percent < 1 ? two : one
      return `${digits.format(percent)} %`
    },
    duration(milliseconds) {
      if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
      if (milliseconds < 10_000) return `${one.format(milliseconds / 1000)} s`
      if (milliseconds < 2 * MINUTE) return `${Math.round(milliseconds / 1000)} s`
      if (milliseconds < 10 * MINUTE) return `${one.format(milliseconds / MINUTE)} min`
      if (milliseconds < 2 * HOUR) return `${Math.round(milliseconds / MINUTE)} min`
      if (milliseconds < 2 * DAY) return `${Math.round(milliseconds / HOUR)} h`
      const days = Math.round(milliseconds / DAY)
      return language === 'en' ? `${days} days` : `${days} Tage`
    },
    size(octets) {
      if (octets < 1000) return `${octets} B`
      if (octets < 1_000_000) return `${exact.format(octets / 1000)} kB`
      return `${one.format(octets / 1_000_000)} MB`
    },
    time: (at) => element(at, clock(at), false),
    moment(at, before = now) {
      const key = dayKey(at)
      const day = key === dayKey(before) ? '' : `${dayOfKey(key, yearOf(key) === yearOf(today))} `
      return element(at, `${day}${show(at, 'moment')}`, false)
    },
    ago(at) {
      const seconds = Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000))
      if (seconds >= 48 * 3600) return element(at, clock(at), false)
      return element(at, agoText(language, seconds), true)
    },
    plainTime: clock,
    hour: (at, withDay) => show(at, withDay ? 'dayAndTime' : 'hour'),
    day: (at) => show(at, 'day'),
    dayKey: (at) => dateFormat('sv-SE', dayZone, 'key').format(at),
    dayOfKey: (day) => dayOfKey(day, yearOf(day) === yearOf(today)),
    period(first, last) {
      const isThisYear = [first, last].every((day) => yearOf(day) === yearOf(today))
      return [dayOfKey(first, isThisYear), dayOfKey(last, isThisYear)]
    },
  }
}

/** How long ago something was, with {} for the number and its unit; pages count on with it. */
export const AGO: Readonly<Record<Language, string>> = { en: '{} ago', de: 'vor {}' }

function agoText(language: Language, seconds: number): string {
  const [value, unit] =
    seconds < 60
      ? [seconds, 's']
      : seconds < 3600
        ? [Math.round(seconds / 60), 'min']
        : [Math.round(seconds / 3600), 'h']
  return AGO[language].replace('{}', `${value} ${unit}`)
}

/** Formatters take 50 µs to make, so each is made once. The keys are few: two locales, and the time zones of accounts. */
const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>()
const MAX_FORMATS = 2000

function cached<F extends Intl.NumberFormat | Intl.DateTimeFormat>(key: string, make: () => F): F {
  const known = formats.get(key) as F | undefined
  if (known) return known
  if (formats.size >= MAX_FORMATS) formats.clear()
  const made = make()
  formats.set(key, made)
  return made
}

function numberFormat(locale: string, digits: number): Intl.NumberFormat {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return cached(`${locale} ${digits}`, () => new Intl.NumberFormat(locale, options))
}

function dateFormat(locale: string, timeZone: string, style: Style): Intl.DateTimeFormat {
  return cached(`${locale} ${timeZone} ${style}`, () => new Intl.DateTimeFormat(locale, { ...STYLES[style], timeZone }))
}
