/** Matches the mark for the link in a sentence, with or without a label. */
const MARK = /<%((?:[^%]|%(?!>)){0,256})%>/g
/** Maximum number of links in a sentence; further marks are not replaced. */
const MAX_MARKS = 10

/** A mark with this label is the link to the preferences page; every other mark is an unsubscribe link. */
export const PREFERENCES_LABEL = 'Manage Email Preferences'

/** The sender's sentence, split at its marks. */
export type Sentence = readonly (string | { readonly label: string })[]

/** Splits a sentence at its marks. A sentence without marks gets the link at its end. */
export function cutSentence(text: string): Sentence {
  const pieces: (string | { label: string })[] = []
  let at = 0
  for (const { 0: mark, 1: label = '', index } of text.matchAll(MARK)) {
    if (pieces.length >= 2 * MAX_MARKS) break
    pieces.push(text.slice(at, index), { label: label.trim() })
    at = index + mark.length
  }
  return at === 0 ? [text, ' ', { label: '' }] : [...pieces, text.slice(at)]
}

/** Returns the sentence with its links. `write` returns the link for a label, which may be empty. */
export function say(sentence: Sentence, write: (label: string) => string): string {
  return sentence.map((piece) => (typeof piece === 'string' ? piece : write(piece.label))).join('')
}
