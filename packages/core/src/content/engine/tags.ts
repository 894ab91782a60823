import { SyntaxProblem, type Tilde } from './syntax.ts'
import { cutWords, type Word } from './words.ts'

/** A piece of a template's text. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'comment'; readonly tilde: Tilde }
  | Tag

export interface Tag {
  readonly kind: 'output' | 'raw' | 'open' | 'openInverted' | 'close' | 'else'
  readonly at: number
  readonly tilde: Tilde
  readonly words: readonly Word[]
  readonly end: number
}

/**
 * Splits a template into text and tags. `\{{` is a literal tag; `\\{{` is a backslash and a tag. Takes time linear to
 * the length of the text.
 */
export function* cutTags(text: string): Generator<Piece> {
  let from = 0
  let search = 0
  for (;;) {
    const at = text.indexOf('{{', search)
    if (at === -1) break
    if (text[at - 1] === '\\' && at - 1 >= from) {
      const hidden = text[at - 2] !== '\\' || at - 2 < from
      if (at - 1 > from) yield { kind: 'text', text: text.slice(from, at - 1) }
      from = at
      if (hidden) {
        search = nextOpening(text, at + 2)
        if (search > at + 2 || search === text.length) {
          yield { kind: 'text', text: text.slice(at, search) }
          from = search
        }
        continue
      }
    } else if (at > from) yield { kind: 'text', text: text.slice(from, at) }
    const { piece, end } = tagAt(text, at)
    yield piece
    from = end
    search = end
  }
  if (from < text.length) yield { kind: 'text', text: text.slice(from) }
}

/** Returns the end of literal text: the start of the next tag, including its backslashes. */
function nextOpening(text: string, from: number): number {
  const at = text.indexOf('{{', from)
  if (at === -1) return text.length
  if (text[at - 1] !== '\\' || at - 1 < from) return at
  return text[at - 2] === '\\' && at - 2 >= from ? at - 2 : at - 1
}

const PARTIALS = 'partials are not supported; put their text into the template'
const DECORATORS = 'decorators are not supported; remove them'
const UNSUPPORTED: readonly [begins: string, problem: string][] = [
  ['{{', 'raw blocks are not supported; write \\{{ for a tag that is text'],
  ['>', PARTIALS],
  ['#>', PARTIALS],
  ['*', DECORATORS],
  ['#*', DECORATORS],
]

function tagAt(text: string, at: number): { piece: Piece; end: number } {
  const before = text[at + 2] === '~'
  const begin = at + (before ? 3 : 2)
  const unsupported = UNSUPPORTED.find(([begins]) => text.startsWith(begins, begin))
  if (unsupported) throw new SyntaxProblem(text, at, unsupported[1])
  if (text[begin] === '!') return commentAt(text, at, begin, before)
  const { kind, inside } = kindAt(text, begin)
  const { words, end } = cutWords(text, inside, at)
  const braced = text[begin] === '{'
  if (braced && text[end] !== '}') throw new SyntaxProblem(text, at, '"}}}" is missing')
  const next = braced ? end + 1 : end
  const after = text[next] === '~'
  const close = after ? next + 1 : next
  if (!text.startsWith('}}', close)) throw new SyntaxProblem(text, at, 'tag is not closed; end it with }}')
  return { piece: { kind, at, tilde: { before, after }, words, end }, end: close + 2 }
}

const ELSE = /\s*else(?=[\s}~])/y

function kindAt(text: string, begin: number): { kind: Tag['kind']; inside: number } {
  ELSE.lastIndex = begin
  if (ELSE.test(text)) return { kind: 'else', inside: ELSE.lastIndex }
  switch (text[begin]) {
    case '{':
    case '&':
      return { kind: 'raw', inside: begin + 1 }
    case '#':
      return { kind: 'open', inside: begin + 1 }
    case '/':
      return { kind: 'close', inside: begin + 1 }
    case '^':
      return { kind: 'openInverted', inside: begin + 1 }
    default:
      return { kind: 'output', inside: begin }
  }
}

/** `{{! … }}`, and `{{!-- … --}}`, which may contain tags. */
function commentAt(text: string, at: number, begin: number, before: boolean): { piece: Piece; end: number } {
  const long = text.startsWith('!--', begin)
  let end = text.indexOf(long ? '--' : '}}', long ? begin + 3 : begin)
  while (long && end !== -1 && !/^--~?\}\}/.test(text.slice(end, end + 5))) end = text.indexOf('--', end + 1)
  if (end === -1) throw new SyntaxProblem(text, at, 'comment is not closed')
  const after = long ? text[end + 2] === '~' : text[end - 1] === '~' && end - 1 > begin
  const next = long ? end + (after ? 5 : 4) : end + 2
  return { piece: { kind: 'comment', tilde: { before, after } }, end: next }
}
