import { metadataOf, type SubmittedEnvelope } from '@postrider/core'
import type { Personalization } from './send-email-schema.ts'

export function valuesOf(values: Personalization['attributes']): Record<string, string> {
  if (values == null || Array.isArray(values)) return {}
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]))
}

/** The names and values that come back in the events of a personalization: those of all, and its own, which take precedence. */
export function ownDataOf(
  ofAll: SubmittedEnvelope['customArgs'],
  { metadata }: Personalization,
  parameter: string,
): Pick<SubmittedEnvelope, 'customArgs'> {
  const customArgs = metadata == null ? ofAll : metadataOf({ ...ofAll, ...valuesOf(metadata) }, parameter)
  return customArgs ? { customArgs } : {}
}
