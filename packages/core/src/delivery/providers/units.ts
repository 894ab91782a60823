/** A number of messages per second, minute or hour. */
export interface MessageRate {
  readonly messages: number
  readonly seconds: 1 | 60 | 3600
}

const DURATION_UNITS: ReadonlyMap<string, number> = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
])
const RATE_UNITS: ReadonlyMap<string, MessageRate['seconds']> = new Map([
  ['s', 1],
  ['min', 60],
  ['h', 3600],
])
const MAX_DURATION = 24 * 3600
const MAX_MESSAGES = 1_000_000

export const DURATION_FORM = 'a number followed by s, m or h, such as 30m, from 1s to 24h'
export const RATE_FORM = 'messages per s, min or h, such as 10/min, from 1 to 1000000 messages'

/** Returns the seconds of a duration such as `30m`; undefined if it is not one, or longer than 24 hours. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,6})([a-z]{1,9})$/.exec(text) ?? []
  const seconds = Number(digits) * (DURATION_UNITS.get(unit) ?? Number.NaN)
  return seconds >= 1 && seconds <= MAX_DURATION ? seconds : undefined
}

/** Returns the rate that a text such as `10/min` states; undefined if it states none. */
export function parseRate(text: string): MessageRate | undefined {
  const [, digits, unit = ''] = /^(\d{1,7})\/([a-z]{1,9})$/.exec(text) ?? []
  const messages = Number(digits)
  const seconds = RATE_UNITS.get(unit)
  return seconds !== undefined && messages >= 1 && messages <= MAX_MESSAGES ? { messages, seconds } : undefined
}
