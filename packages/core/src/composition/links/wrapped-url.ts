/** Minimum width to which programs wrap lines in practice, in columns. */
const MIN_WIDTH = 60
/** Maximum width to which most of them do. A longer line counts as wrapped unless the next one begins like a sentence. */
const USUAL_WIDTH = 80
/** Columns that a wrapped line may be shorter than the lines around it. */
const TOLERANCE = 4
/** Maximum length of the blanks, and of the word, that are read after a URL. */
const MAX_BLANKS = 100
const MAX_WORD = 1000
/** Blanks, line end, and the blanks and marks of quotation at the beginning of the next line. */
const LINE_END = /^[ \t]{0,100}\r?\n[ \t>]{0,100}/
/** Begins with a character that no URL contains, or with another URL. */
const ANOTHER = /^(?:["<]|['([]?(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.))/i
/** Characters as in the query of a URL. */
const OF_QUERIES = /\w[=&]|[=&?]\w|%[0-9a-f]{2}/i
/** A word with a capital and lower-case letters, or one with a letter that URLs escape. */
const OF_SENTENCES = /^(?:\p{Lu}\p{Ll}+\p{P}{0,3}$|[^\p{ASCII}])/u

/** Whether the text from `end` on begins with the end of its line. */
export function isLineEnd(text: string, end: number): boolean {
  return /^[ \t]{0,100}(?:[\r\n]|$)/.test(text.slice(end, end + MAX_BLANKS + 1))
}

/**
 * Whether the URL from `index` to `end` is the last word of its line and may continue in the next line. Mail programs never join lines, but programs of
 * senders wrap them, and recipients join the parts when they copy the URL. A tracking link instead of the first part would lead to half of the URL.
 */
export function mayContinue(text: string, index: number, end: number): boolean {
  const gap = LINE_END.exec(text.slice(end, end + 2 * MAX_BLANKS + 2))?.[0] ?? ''
  const next = end + gap.length
  const [word] = /^\S*/.exec(text.slice(next, next + MAX_WORD)) as RegExpExecArray
  if (gap === '' || word === '') return false
  const url = text.slice(index, end)
  if (isUnfinished(url)) return true
  if (ANOTHER.test(word)) return false
  if (/^[-&?=/%#+_,~].*[a-z0-9]/i.test(word) || OF_QUERIES.test(word)) return true
  const length = end - lineStart(text, index)
  const width = Math.max(MIN_WIDTH, ...lengthsAround(text, index, next))
  // Programs wrap after a slash if the next word does not fit, and elsewhere in a URL only where the line is full.
  const isFull = url.endsWith('/') ? length + word.length > width : length >= MIN_WIDTH && length + TOLERANCE >= width
  return isFull && (length <= USUAL_WIDTH || !OF_SENTENCES.test(word))
}

/** Whether the line that begins at `start` follows one that ends with an unfinished URL, of which this line may be the rest. */
export function followsUnfinishedUrl(text: string, start: number): boolean {
  const line = text.slice(lineStart(text, start - 1), Math.max(0, start - 1)).trimEnd()
  const word = line.slice(1 + Math.max(line.lastIndexOf(' '), line.lastIndexOf('\t')))
  return /[/:]/.test(word.slice(0, -1)) && isUnfinished(word)
}

/** Whether a URL ends with a sign after which a parameter or its value follows, or with a slash among parameters. */
function isUnfinished(url: string): boolean {
  return /[=?&%]$/.test(url) || (url.endsWith('/') && /[?#]/.test(url))
}

/**
 * Returns the lengths of the line before the one of `index`, and of that at `next`. Only one URL per line is the last of it, so the time for all is linear
 * in the length of the text.
 */
function lengthsAround(text: string, index: number, next: number): number[] {
  const start = lineStart(text, index)
  const before = start === 0 ? '' : text.slice(lineStart(text, start - 1), start - 1)
  const end = text.indexOf('\n', next)
  const after = text.slice(lineStart(text, next), end === -1 ? text.length : end)
  return [before.trimEnd().length, after.trimEnd().length]
}

function lineStart(text: string, index: number): number {
  return index <= 0 ? 0 : text.lastIndexOf('\n', index - 1) + 1
}
