import { invalidParameter, resembles } from '@postrider/core'
import type { Operation } from './operation.ts'

/**
 * Throws parameterInvalid for a parameter that the operation does not have, if its schema is closed: where a misspelt one that was ignored would widen
 * the effect of the call, as to all recipients.
 */
export function refuseUnknown({ input }: Operation, given: Readonly<Record<string, unknown>>): void {
  const schema: { readonly properties: object; readonly additionalProperties?: unknown } = input
  if (schema.additionalProperties !== false) return
  const known = Object.keys(schema.properties)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const word = plain(unknown)
  const meant = known.find((name) => plain(name) === word) ?? known.find((name) => resembles(word, plain(name)))
  throw invalidParameter(
    unknown,
    meant === undefined
      ? `is unknown to this call, which has ${known.join(', ')}`
      : `is unknown to this call; did you mean ${meant}?`,
  )
}

/** `recipient_nos` and `RecipientNos` are alike. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}
