/** Marks the link in a sentence, with or without its label. */
const MARK = /<%((?:[^%]|%(?!>)){0,256})%>/g
/** Links of one sentence; further marks stay as they are. */
const MOST_MARKS = 10

/** The sender's own sentence, cut at its marks. */
export type Sentence = readonly (string | { readonly label: string })[]

export function cutSentence(text: string): Sentence {
  const pieces: (string | { label: string })[] = []
  let at = 0
  for (const { 0: mark, 1: label = '', index } of text.matchAll(MARK)) {
    if (pieces.length >= 2 * MOST_MARKS) break
    pieces.push(text.slice(at, index), { label: label.trim() })
    at = index + mark.length
  }
  return at === 0 ? [text, ' ', { label: '' }] : [...pieces, text.slice(at)]
}

/** The sentence with the link in it: `write` makes the link of a label, which may be empty. */
export function say(sentence: Sentence, write: (label: string) => string): string {
  return sentence.map((piece) => (typeof piece === 'string' ? piece : write(piece.label))).join('')
}
