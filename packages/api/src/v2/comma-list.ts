import { invalidParameter } from '@postrider/core'

/** More than any list may have. Otherwise 30 MB of commas would become millions of strings before they could be counted. */
const MAX_ENTRIES = 20_000

/** Splits a comma-separated list, or copies an array, without blank entries. Throws parameterInvalid beyond 20,000 entries. */
export function commaList(parameter: string, given: string | readonly string[]): string[] {
  const list = typeof given === 'string' ? given.split(',', MAX_ENTRIES + 1) : given
  if (typeof given === 'string' && list.length > MAX_ENTRIES) {
    throw invalidParameter(parameter, `must have at most ${MAX_ENTRIES} entries`)
  }
  return list.map((text) => text.trim()).filter((text) => text !== '')
}
