import { invalidParameter } from '@postrider/core'
import Type from 'typebox'

/** Schemas and forms of values that several groups of operations share. */

/** An id as a path, a query or a client that quotes numbers has it; what is none is for the group's own error code. */
export const Id = Type.Union([Type.Integer(), Type.String()])

/** The number, or -1 for what is none. */
export function idOf(id: string | number): number {
  return /^\d{1,10}$/.test(String(id).trim()) ? Number(id) : -1
}

/** How many rows, and from where on: the same for every list (contract 12.1: clamped, not refused). */
export const Count = (description: string) =>
  Type.Optional(Type.Union([Type.Integer(), Type.String(), Type.Null()], { description }))
export const Offset = Count('rows to pass over; 0 unless told')

interface PageGiven {
  readonly limit?: number | string | null | undefined
  readonly offset?: number | string | null | undefined
}

/** Rows on a page and those before it: without a limit `byDefault` of them, and never more than `most`. Throws parameterInvalid. */
export function pageOf({ limit, offset }: PageGiven, { byDefault, most }: { byDefault: number; most: number }) {
  return {
    limit: Math.min(Math.max(wholeOf(limit, 'limit') ?? byDefault, 1), most),
    offset: Math.min(wholeOf(offset, 'offset') ?? 0, FURTHEST),
  }
}

const FURTHEST = 1_000_000_000

/**
 * A whole number as it is written, in an answer. A double of a transaction number is exact (they are multiples of 4), but the
 * shortest text that stands for it is not, from 2^54 on: 18014398509481992 would be written as …990.
 */
export function exactNumber(digits: string): number {
  return rawJson(digits) as number
}

/** In Node, and not yet in the types. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** The text, unless it is blank: clients fill in forms of parameters (contract 12.1). */
export function given(value: string | number | null | undefined): string | undefined {
  const text = value === undefined || value === null ? '' : String(value).trim()
  return text === '' ? undefined : text
}

/** The whole number, as a number or as text, however large; what is below nothing is nothing. Throws parameterInvalid (`parameter`). */
export function wholeOf(value: string | number | null | undefined, parameter: string): number | undefined {
  const text = given(value)
  if (text === undefined) return undefined
  if (!/^-?\d+$/.test(text)) throw invalidParameter(parameter, 'must be a whole number')
  return Math.max(0, Math.min(Number(text), Number.MAX_SAFE_INTEGER))
}

/** One of some words, in any case. Throws parameterInvalid. */
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
