import { invalidParameter, resembles } from '@postrider/core'
import type { Operation } from './operation.ts'

/** For the schema of a call whose effect would be wider without a parameter that was misspelt. */
export const CLOSED = { additionalProperties: false } as const

/**
 * Throws parameterInvalid for a parameter that the operation does not have, where a misspelt one that was ignored would widen the effect of the call, as
 * to all recipients: any if the schema is closed; one that is like another if the row says `narrows`, as the mirrored API ignores all others.
 */
export function refuseUnknown({ input, narrows }: Operation, given: Readonly<Record<string, unknown>>): void {
  const schema: { readonly properties: object; readonly additionalProperties?: unknown } = input
  const isClosed = schema.additionalProperties === false
  if (!isClosed && !narrows) return
  const known = Object.keys(schema.properties)
  for (const unknown of Object.keys(given)) {
    if (known.includes(unknown)) continue
    const word = plain(unknown)
    const meant = known.find((name) => plain(name) === word) ?? known.find((name) => resembles(word, plain(name)))
    if (meant !== undefined) throw invalidParameter(unknown, `is unknown to this call; did you mean ${meant}?`)
    if (isClosed) throw invalidParameter(unknown, `is unknown to this call, which has ${known.join(', ')}`)
  }
}

/** `recipient_nos` and `RecipientNos` are alike. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}
