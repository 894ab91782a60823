import { isUtf8 } from 'node:buffer'
import { BeyondShare, LIMITS, ServiceError } from '@postrider/core'

/** Maximum nesting depth; it protects our recursive readers. */
const MAX_DEPTH = 64

/**
 * Maximum number of values per call, fifty per recipient: ten million empty objects are 30 MB of JSON and take gigabytes when
 * parsed.
 */
const MAX_VALUES = LIMITS.recipients * 50

/**
 * Number of values of a call that is read while other calls wait: what is made of one takes up to 3 µs. A body of 240 kB with 80,000 empty objects took
 * 223 ms, and one of the same length with few values takes 6.
 */
const SHARED_VALUES = 5000

/** Number of values counted so far; shared by all JSON texts of one call. */
export interface ValueCount {
  values: number
  /** Above it, the call is not for this thread. */
  readonly share: number
}

/** `isShared`: other calls wait while this one is read. */
export function newCount(isShared: boolean): ValueCount {
  return { values: 0, share: isShared ? SHARED_VALUES : Number.POSITIVE_INFINITY }
}

/** Counted before anything is made of them. Throws tooLarge if the call has more than the maximum number of values, and BeyondShare. */
export function countValues(count: ValueCount, values: number): void {
  count.values += values
  if (count.values > count.share) throw new BeyondShare()
  if (count.values > MAX_VALUES) throw new ServiceError('tooLarge', { values: { limit: `${MAX_VALUES} values` } })
}

/** Thrown for a body that is not acceptable JSON. The message states why and may be shown to the client. */
export class JsonError extends Error {
  /** The message without any of the client's input, for the log. */
  readonly reason: string

  constructor(message: string, reason = message) {
    super(message)
    this.reason = reason
  }
}

export const REACHES_FOR_PROTOTYPE = 'the names __proto__ and constructor.prototype are not allowed'
const COMPRESSED = 'body is compressed; set Content-Encoding: gzip'

/** RFC 1952 2.3.1. */
function isGzip(octets: Buffer): boolean {
  return octets[0] === 0x1f && octets[1] === 0x8b
}

/**
 * Parses JSON more strictly than JSON.parse. Rejects invalid UTF-8, nesting deeper than 64, duplicate keys in one object, and
 * keys that could modify a prototype, because two parsers may interpret each of them differently.
 *
 * Throws {@link JsonError}, tooLarge if there are too many values, and BeyondShare.
 */
export function parseStrictJson(octets: Buffer, count: ValueCount = newCount(false)): unknown {
  if (!isUtf8(octets)) throw new JsonError(isGzip(octets) ? COMPRESSED : 'body is not UTF-8')
  const text = octets.toString('utf8')
  if (text.startsWith('\ufeff')) throw new JsonError('body begins with a byte order mark')
  const members = countMembers(text, count)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new JsonError('syntax error')
  }
  if (countKeys(value) !== members) {
    const key = keyGivenTwice(text)
    const problem = 'is duplicated in one object'
    throw new JsonError(key === undefined ? `a key ${problem}` : `the key ${shown(key)} ${problem}`, `a key ${problem}`)
  }
  return value
}

/** Counts the members of all objects by the colons outside strings; JSON.parse validates the syntax afterwards. */
function countMembers(text: string, count: ValueCount): number {
  let members = 0
  let values = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at)
        break
      case 0x3a:
        members++
        break
      // Each value is preceded by one of these.
      case 0x2c:
        values++
        break
      case 0x7b:
      case 0x5b:
        values++
        if (++depth > MAX_DEPTH) throw new JsonError(`nesting exceeds ${MAX_DEPTH} levels`)
        break
      case 0x7d:
      case 0x5d:
        depth--
        break
    }
  }
  countValues(count, values)
  return members
}

/** Returns the first duplicate key of the text, which must be valid JSON. */
function keyGivenTwice(text: string): string | undefined {
  const open: Set<string>[] = []
  let name: readonly [start: number, end: number] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const start = at
        at = endOfString(text, start)
        name = [start, at + 1]
        break
      }
      case 0x3a: {
        const key = JSON.parse(text.slice(...name)) as string
        const keys = open.at(-1)
        if (keys?.has(key)) return key
        keys?.add(key)
        break
      }
      case 0x7b:
      case 0x5b:
        open.push(new Set())
        break
      case 0x7d:
      case 0x5d:
        open.pop()
        break
    }
  }
  return undefined
}

const MAX_SHOWN_LENGTH = 60

/**
 * Returns the key quoted and truncated, with escapes for invisible characters and those that would change how the message is
 * read.
 */
function shown(key: string): string {
  const cut = key.length > MAX_SHOWN_LENGTH ? `${key.slice(0, MAX_SHOWN_LENGTH)}…` : key
  return JSON.stringify(cut).replace(/[\p{C}\u2028\u2029]/gu, (one) =>
    Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Returns the index of the closing quote: the first one after an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
    if (slashes % 2 === 0) return at
  }
  return text.length
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    let sum = 0
    for (const item of value) sum += countKeys(item)
    return sum
  }
  let count = 0
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw new JsonError(REACHES_FOR_PROTOTYPE)
    const member = (value as Record<string, unknown>)[key]
    if (key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype')) {
      throw new JsonError(REACHES_FOR_PROTOTYPE)
    }
    count += 1 + countKeys(member)
  }
  return count
}
