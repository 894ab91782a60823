/** Marks the link in a sentence, with or without its label. Bounded, so that no text takes longer than its length. */
const MARK = /<%((?:[^%]|%(?!>)){0,256})%>/g
/** Links of one sentence; further marks stay as they are. */
const MOST_MARKS = 10

/** The sender's own sentence with the link in it: `write` makes the link of a label, which may be empty. */
export function sentenceWith(sentence: string, write: (label: string) => string): string {
  let marks = 0
  const said = sentence.replace(MARK, (mark, label: string) => (++marks > MOST_MARKS ? mark : write(label.trim())))
  return marks === 0 ? `${sentence} ${write('')}` : said
}
