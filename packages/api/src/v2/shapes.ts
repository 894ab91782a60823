import { invalidParameter } from '@postrider/core'
import Type from 'typebox'

/** Schemas and forms of values that several groups of operations share. */

/** An id as a path, a query or a client that quotes numbers has it; what is none is for the group's own error code. */
export const Id = Type.Union([Type.Integer(), Type.String()])

/** The number, or -1 for what is none. */
export function idOf(id: string | number): number {
  return /^\d{1,10}$/.test(String(id).trim()) ? Number(id) : -1
}

export const Page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: '10 unless told' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
}

/**
 * A whole number as it is written, in an answer. A double of a transaction number is exact (they are multiples of 4), but the
 * shortest text that stands for it is not, from 2^54 on: 18014398509481992 would be written as …990.
 */
export function exactNumber(digits: string): number {
  return rawJson(digits) as number
}

/** In Node, and not yet in the types. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** The whole number a text is, however large; what is below nothing is nothing. Throws parameterInvalid (`parameter`). */
export function wholeNumber(text: string, parameter: string): number {
  if (!/^\s*-?\d+\s*$/.test(text)) throw invalidParameter(parameter, 'it must be a whole number')
  return Math.max(0, Math.min(Number(text), Number.MAX_SAFE_INTEGER))
}
