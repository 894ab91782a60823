/** Begin and end of the mark for the link in a sentence. Between them is its label, which may be empty. */
const BEGIN = '<%'
const END = '%>'
/** Maximum length of a label. What is longer is text. */
const MAX_LABEL = 256
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
  let begin = text.indexOf(BEGIN)
  let end = 0
  // Each end is looked for once, however many beginnings come before it (V24).
  while (begin !== -1 && pieces.length < 2 * MAX_MARKS) {
    const label = begin + BEGIN.length
    if (end < label) end = text.indexOf(END, label)
    if (end === -1) break
    if (end - label > MAX_LABEL) {
      begin = text.indexOf(BEGIN, begin + 1)
      continue
    }
    pieces.push(text.slice(at, begin), { label: text.slice(label, end).trim() })
    at = end + END.length
    begin = text.indexOf(BEGIN, at)
  }
  return at === 0 ? [text, ' ', { label: '' }] : [...pieces, text.slice(at)]
}

/** Returns the sentence with its links. `write` returns the link for a label, which may be empty. */
export function say(sentence: Sentence, write: (label: string) => string): string {
  return sentence.map((piece) => (typeof piece === 'string' ? piece : write(piece.label))).join('')
}
