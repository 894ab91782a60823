import { invalidParameter } from '../../platform/errors.ts'
import { readIsoTime } from '../../platform/iso-time.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Returns the seconds of a duration such as 90s, 15m, 2h or 3d. Throws parameterInvalid. */
export function readDuration(parameter: string, text: string): number {
  const seconds = secondsOf(text)
  if (seconds === undefined) throw invalidParameter(parameter, 'must be a number followed by s, m, h or d, such as 2h')
  return seconds
}

/** Returns a time: in ISO 8601, or a duration before `now`. Throws parameterInvalid. */
export function readTime(parameter: string, text: string, now: Date): Date {
  const seconds = secondsOf(text)
  if (seconds !== undefined) return new Date(now.getTime() - seconds * 1000)
  const time = readIsoTime(text)
  if (time === undefined)
    throw invalidParameter(parameter, 'must be an ISO 8601 time like 2030-01-31T12:00:00Z, or a duration such as 2h')
  return time
}

function secondsOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits) * (UNITS[unit] as number)
}
