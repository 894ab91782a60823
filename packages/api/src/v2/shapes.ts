import { invalidParameter } from '@postrider/core'
import Type from 'typebox'

/** Schemas and formats that several groups of operations share. */

/** An id from a path, a query or a client that quotes numbers. An invalid one gets the error code of its group. */
export const Id = Type.Union([Type.Integer(), Type.String()])

/** Returns the number, or -1 if it is not a valid id. */
export function parseId(id: string | number): number {
  return /^\d{1,10}$/.test(String(id).trim()) ? Number(id) : -1
}

/** Limit and offset, the same for every list (contract 12.1: clamped, not rejected). */
export const Count = (description: string) =>
  Type.Optional(Type.Union([Type.Integer(), Type.String(), Type.Null()], { description }))
export const Offset = Count('number of rows to skip; default 0')

interface PageGiven {
  readonly limit?: number | string | null | undefined
  readonly offset?: number | string | null | undefined
}

/** Returns limit and offset: `byDefault` rows without a limit, and never more than `most`. Throws parameterInvalid. */
export function pageOf({ limit, offset }: PageGiven, { byDefault, most }: { byDefault: number; most: number }) {
  return {
    limit: Math.min(Math.max(parseWhole(limit, 'limit') ?? byDefault, 1), most),
    offset: Math.min(parseWhole(offset, 'offset') ?? 0, FURTHEST),
  }
}

const FURTHEST = 1_000_000_000

/**
 * Puts a whole number into a response exactly as written. A transaction number is exact as a double, being a multiple of 4, but
 * from 2^54 on its shortest representation is not: 18014398509481992 would be written as …990.
 */
export function exactNumber(digits: string): number {
  return rawJson(digits) as number
}

/** In Node but not yet in its types. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** Returns the text, or undefined if it is blank, since clients send empty parameters (contract 12.1). */
export function given(value: string | number | null | undefined): string | undefined {
  const text = value === undefined || value === null ? '' : String(value).trim()
  return text === '' ? undefined : text
}

/**
 * Returns a whole number given as number or text, of any size; negative numbers become 0. Throws parameterInvalid (`parameter`).
 */
export function parseWhole(value: string | number | null | undefined, parameter: string): number | undefined {
  const text = given(value)
  if (text === undefined) return undefined
  if (!/^-?\d+$/.test(text)) throw invalidParameter(parameter, 'must be a whole number')
  return Math.max(0, Math.min(Number(text), Number.MAX_SAFE_INTEGER))
}

/** Returns one of the values, ignoring case. Throws parameterInvalid. */
export function oneOf<T extends string>(
  value: string | number | null | undefined,
  parameter: string,
  values: readonly T[],
): T | undefined {
  const text = given(value)?.toLowerCase()
  if (text === undefined) return undefined
  const found = values.find((one) => one === text)
  if (!found) throw invalidParameter(parameter, `must be ${values.join(' or ')}`)
  return found
}
