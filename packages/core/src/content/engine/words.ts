import { SyntaxProblem } from './syntax.ts'

/** A word inside a tag. `at` is its position in the template. */
export type Word =
  | { readonly kind: 'name'; readonly text: string; readonly at: number; readonly bracketed: boolean }
  | { readonly kind: 'string'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly text: string; readonly at: number }
  | { readonly kind: 'mark'; readonly text: Mark; readonly at: number }
type Mark = '(' | ')' | '=' | '|' | '@' | '/' | '.' | '..'

const MARKS = new Set(['(', ')', '=', '|', '@', '/'])
/** Characters that Handlebars allows in a name. */
const NAME = /[^\s!"#%-,./;->@[-^`{-~]+/y
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?=[\s})|]|~|$)/y
const BLANK = /\s/

/**
 * Splits the content of a tag, from `at`, into words, up to the end of the tag. Takes time linear to the length of the
 * tag: every pattern is anchored and can match in only one way.
 */
export function cutWords(text: string, at: number, opened: number): { readonly words: Word[]; readonly end: number } {
  const words: Word[] = []
  let position = at
  while (position < text.length) {
    const char = text[position] as string
    if (BLANK.test(char)) {
      position++
      continue
    }
    if (char === '}' || (char === '~' && text[position + 1] === '}')) return { words, end: position }
    const word = wordAt(text, position, words.at(-1))
    words.push(word.word)
    position = word.end
  }
  throw new SyntaxProblem(text, opened, 'tag is not closed')
}

function wordAt(text: string, at: number, last: Word | undefined): { word: Word; end: number } {
  const char = text[at] as string
  if (char === '"' || char === "'") return stringAt(text, at)
  if (char === '[') return bracketedAt(text, at)
  if (char === '.') {
    const mark = text[at + 1] === '.' ? '..' : '.'
    return { word: { kind: 'mark', text: mark, at }, end: at + mark.length }
  }
  if (MARKS.has(char)) return { word: { kind: 'mark', text: char as Mark, at }, end: at + 1 }
  const inPath = last?.kind === 'mark' && (last.text === '.' || last.text === '/' || last.text === '@')
  const number = inPath ? undefined : match(NUMBER, text, at)
  if (number !== undefined) return { word: { kind: 'number', text: number, at }, end: at + number.length }
  const name = match(NAME, text, at)
  if (name === undefined) throw new SyntaxProblem(text, at, `${JSON.stringify(char)} is not allowed here`)
  return { word: { kind: 'name', text: name, at, bracketed: false }, end: at + name.length }
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** Parses a quoted string. A backslash escapes only the quote character itself. */
function stringAt(text: string, at: number): { word: Word; end: number } {
  const quote = text[at] as string
  let value = ''
  for (let from = at + 1; ; ) {
    const end = text.indexOf(quote, from)
    if (end === -1) throw new SyntaxProblem(text, at, 'string is not closed')
    const escaped = text[end - 1] === '\\' && end - 1 >= from
    value += text.slice(from, escaped ? end - 1 : end)
    if (!escaped) return { word: { kind: 'string', text: value, at }, end: end + 1 }
    value += quote
    from = end + 1
  }
}

/** Parses `[any name at all]` in a path. */
function bracketedAt(text: string, at: number): { word: Word; end: number } {
  const end = text.indexOf(']', at)
  if (end === -1) throw new SyntaxProblem(text, at, 'bracket is not closed')
  return { word: { kind: 'name', text: text.slice(at + 1, end), at, bracketed: true }, end: end + 1 }
}
