import { invalidParameter } from '@postrider/core'

/** More than any list may have. Thirty megabytes of commas would be millions of texts before anybody counted them. */
const MOST_ENTRIES = 20_000

/** A list that may be text with commas, its blank entries left out. Throws parameterInvalid for one of more than 20,000 entries. */
export function commaList(parameter: string, given: string | readonly string[]): string[] {
  const list = typeof given === 'string' ? given.split(',', MOST_ENTRIES + 1) : given
  if (typeof given === 'string' && list.length > MOST_ENTRIES) {
    throw invalidParameter(parameter, `must have at most ${MOST_ENTRIES} entries`)
  }
  return list.map((text) => text.trim()).filter((text) => text !== '')
}
