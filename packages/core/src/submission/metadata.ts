import { invalidParameter } from '../platform/errors.ts'
import { LIMITS } from './limits.ts'

/** Returns the names and values that come back in events; undefined if there are none. Throws parameterInvalid if they are too large. */
export function metadataOf(
  values: Readonly<Record<string, string>>,
  parameter: string,
): Readonly<Record<string, string>> | undefined {
  const texts = Object.entries(values).flat()
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > LIMITS.metadata) throw invalidParameter(parameter, `must have at most ${LIMITS.metadata} bytes in all`)
  return texts.length === 0 ? undefined : values
}
