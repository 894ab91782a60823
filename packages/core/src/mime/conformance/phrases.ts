import { parseAddress } from '../address.ts'
import { isAscii } from '../charset.ts'
import { encodedWords } from '../header.ts'
import { readable } from '../words.ts'

/** Quoted strings, comments with those in them, text in angle brackets, marks between elements, and what else there is (RFC 5322 3.2). */
const TOKEN = /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)|<[^<>]*>|[,;:]|[^"(<,;:]+/gsy
const ESCAPED = /\\(.)/gs

/**
 * Returns the value of a structured field in ASCII: its phrases, such as display names and names of groups, and its comments as encoded words (RFC
 * 2047 5), text in angle brackets by `bracketed`. What is ASCII, and the marks between, stay as they are, so what is obsolete or incomplete in it does
 * not matter. Undefined if a quote, comment or bracket has no end, or if an address or `bracketed` has no form in ASCII.
 *
 * Takes time linear in the length.
 */
export function asciiPhrases(value: string, bracketed: (text: string) => string | undefined): string | undefined {
  const written: (string | undefined)[] = []
  // The same without its quotes.
  let [phrase, text, length] = ['', '', 0]
  for (const [token] of value.matchAll(TOKEN)) {
    length += token.length
    const mark = token[0] ?? ''
    if (!'(<,;:'.includes(mark)) {
      phrase += token
      text += mark === '"' ? inside(token).replace(ESCAPED, '$1') : token
      continue
    }
    written.push(asciiPhrase(phrase, text, mark === '<'))
    phrase = text = ''
    if (isAscii(token)) written.push(token)
    else if (mark === '(') written.push(`(${encoded(inside(token).replace(ESCAPED, '$1'))})`)
    else {
      const ascii = bracketed(inside(token).trim())
      written.push(ascii && `<${ascii}>`)
    }
  }
  written.push(asciiPhrase(phrase, text, false))
  return length < value.length || written.includes(undefined) ? undefined : written.join('').trim()
}

function inside(token: string): string {
  return token.slice(1, -1)
}

function asciiPhrase(phrase: string, text: string, isName: boolean): string | undefined {
  if (isAscii(phrase)) return phrase
  if (isName || !phrase.includes('@')) return ` ${encoded(text)} `
  const bare = phrase.trim()
  const address = asciiAddress(bare)
  if (address !== undefined) return phrase.replace(bare, () => address)
  // A name before an address without its brackets.
  const end = bare.lastIndexOf(' ') + 1
  const [name, last] = [bare.slice(0, end), bare.slice(end)]
  if (end === 0 || name.includes('@') || !isAscii(last)) return undefined
  return ` ${encoded(name.replaceAll('"', ''))} ${last}`
}

function encoded(text: string): string {
  return encodedWords(readable(text).trim(), 1)
}

/** Returns an address with the A-labels of its domain; undefined if its local part is not ASCII, or if it is not valid. */
export function asciiAddress(text: string): string | undefined {
  const address = parseAddress(text)
  return address && !address.utf8 ? address.text : undefined
}
