import { invalidParameter } from '@postrider/core'

/** More than any list may have. Otherwise 30 MB of commas would become millions of strings before they could be counted. */
const MOST_ENTRIES = 20_000

/** Splits a comma-separated list, or copies an array, without blank entries. Throws parameterInvalid beyond 20,000 entries. */
export function commaList(parameter: string, given: string | readonly string[]): string[] {
  const list = typeof given === 'string' ? given.split(',', MOST_ENTRIES + 1) : given
  if (typeof given === 'string' && list.length > MOST_ENTRIES) {
    throw invalidParameter(parameter, `must have at most ${MOST_ENTRIES} entries`)
  }
  return list.map((text) => text.trim()).filter((text) => text !== '')
}
