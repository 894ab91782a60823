/** Letters that have no decomposition, as they are written without accents. */
const WITHOUT_ACCENT: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
}

/** Characters of a text that are read: a subject has at most 998, and a list of tags is bounded as well. */
const MAX_LENGTH = 2000
const FOREIGN = /[^\x00-\x7f]/

/**
 * Returns the words of a text, in lower case and without accents, separated by one blank each: all but letters and digits separates. "ae",
 * "oe" and "ue" become one letter, so that "Mueller" and "Müller" are the same word. The beginning of a word stays the beginning of the folded
 * word, so a search for it is folded alike. In linear time; a letter such as ﷺ, which becomes eighteen, makes the result no longer than other texts.
 */
export function fold(text: string): string {
  const lower = text.slice(0, MAX_LENGTH).toLowerCase()
  const words = FOREIGN.test(lower)
    ? withoutAccents(lower)
        .slice(0, MAX_LENGTH)
        .replace(/[^\p{L}\p{N}]+/gu, ' ')
    : lower.replace(/[^a-z0-9]+/g, ' ')
  return words.replace(/([aou])e/g, '$1').trim()
}

function withoutAccents(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[ßæœøđðłþı]/g, (letter) => WITHOUT_ACCENT[letter] ?? letter)
}
