import { invalidParameter, LIMITS, type SubmittedEnvelope } from '@postrider/core'
import type { Personalization } from './send-email-schema.ts'

export function valuesOf(values: Personalization['attributes']): Record<string, string> {
  if (values == null || Array.isArray(values)) return {}
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]))
}

export function metadataOf(given: Personalization['metadata'], parameter: string): Record<string, string> | undefined {
  const values = valuesOf(given)
  const texts = Object.entries(values).flat()
  if (texts.length === 0) return undefined
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > LIMITS.metadata) throw invalidParameter(parameter, `must have at most ${LIMITS.metadata} bytes in all`)
  return values
}

/** The names and values that come back in the events of a personalization: those of all, and its own, which take precedence. */
export function ownDataOf(
  ofAll: Record<string, string> | undefined,
  { metadata }: Personalization,
  parameter: string,
): Pick<SubmittedEnvelope, 'customArgs'> {
  const own = metadataOf(metadata, parameter)
  if (!own) return ofAll ? { customArgs: ofAll } : {}
  return { customArgs: (ofAll && metadataOf({ ...ofAll, ...own }, parameter)) ?? own }
}
