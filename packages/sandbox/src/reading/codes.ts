import { linesOf } from './html-parts.ts'

/** The texts of a message in which a code may be. */
export interface CodeSource {
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
}

const LENGTH = { least: 4, most: 8 } as const
const MAX_CODES = 20
/** Characters of a text that are read. */
const MAX_READ = 256 * 1024

/** Words that name a code, and parts of words such as "Bestätigungscode". */
const NAMES = new Set('pin otp tan token kod password passwort kennwort passphrase contraseña wachtwoord'.split(' '))
const NAME_PARTS = ['code', 'códig', 'codig', 'codice']
/** Behind these, or a colon, a word of capitals is a code, too: "Your code is KQXT". */
const SAYS = new Set(['is', 'ist', 'lautet', 'est', 'es', 'è', 'é'])

const OPENING = new Set('([{<"\'“„‘‚«‹*_'.split(''))
const CLOSING = new Set(')]}>"\'”“’‘»›*_.,;:!?'.split(''))
const ENDS = /[.,;:!?]/

/**
 * Returns the one-time codes of a message: 4 to 8 digits, or letters and digits. Those come first that stand alone in their line, or in one that names a
 * code, a PIN or the like; then other numbers, except years. Groups of the same size are one code: "123 456", "12-34-56", and digits in cells of their own.
 * A code of digits has none of its separators. Takes time linear in the length.
 */
export function codesOf({ subject, text, html }: CodeSource): readonly string[] {
  const strong = new Set<string>()
  const weak = new Set<string>()
  const lines = [subject, ...(text ?? '').slice(0, MAX_READ).split('\n'), ...linesOf(html ?? '', MAX_READ)]
  for (const line of withDigitsJoined(lines)) {
    const words = wordsOf(line)
    const name = words.findIndex(({ text }) => namesCode(text.toLowerCase()))
    const isNamed = name !== -1
    const found = [...numbersOf(words), ...(isNamed || words.length === 1 ? mixedOf(words) : [])]
    const isAlone = found.reduce((sum, { count }) => sum + count, 0) === words.length
    // The code is nearest to the name, and the number of an order is not.
    const distance = ({ at }: Found) => (isNamed ? Math.abs(at - name) : at)
    for (const { code } of found.sort((a, b) => distance(a) - distance(b))) {
      const isStrong = isAlone || (isNamed && (!isYear(code) || found.length === 1))
      if (isStrong) strong.add(code)
      else if (!isYear(code)) weak.add(code)
      if (strong.size >= MAX_CODES) return [...strong]
    }
  }
  return [...new Set([...strong, ...weak])].slice(0, MAX_CODES)
}

/** A word without the punctuation around it. */
interface Word {
  readonly text: string
  /** The next word belongs to something else. */
  readonly isEnd: boolean
  readonly hasColon: boolean
}

interface Found {
  readonly code: string
  /** Its first word, and how many words it takes. */
  readonly at: number
  readonly count: number
}

/** Lines that are not empty; single digits in consecutive lines, as the cells of a table are, become one. */
function* withDigitsJoined(lines: readonly string[]): Generator<string> {
  let digits = ''
  for (const line of lines) {
    const text = line.trim()
    if (text === '') continue
    if (/^\d$/.test(text)) {
      digits += text
      continue
    }
    if (digits !== '') yield digits
    digits = ''
    yield text
  }
  if (digits !== '') yield digits
}

function wordsOf(line: string): readonly Word[] {
  const words: Word[] = []
  for (const piece of line.split(/\s+/)) {
    let [start, end] = [0, piece.length]
    while (start < end && OPENING.has(piece.charAt(start))) start++
    while (end > start && CLOSING.has(piece.charAt(end - 1))) end--
    const after = piece.slice(end)
    if (end > start)
      words.push({ text: piece.slice(start, end), isEnd: ENDS.test(after), hasColon: after.includes(':') })
  }
  return words
}

function namesCode(word: string): boolean {
  return NAMES.has(word) || NAME_PARTS.some((part) => word.includes(part))
}

/** Codes of digits. */
function numbersOf(words: readonly Word[]): Found[] {
  const found: Found[] = []
  for (let at = 0; at < words.length; ) {
    const run = runAt(words, at)
    found.push(...numbersOfRun(run, at))
    at += Math.max(1, run.length)
  }
  return found
}

/** The words from here on that consist of groups of digits, each as these groups. */
function runAt(words: readonly Word[], from: number): readonly (readonly string[])[] {
  const run: (readonly string[])[] = []
  for (let at = from; at < words.length; at++) {
    const { text, isEnd } = words[at] as Word
    const groups = text.split(/[-‐–]/)
    if (!groups.every((group) => /^\d+$/.test(group))) break
    run.push(groups)
    if (isEnd) break
  }
  return run
}

/** One code of all words, or one of each if they are alike: a number of a telephone or an account is neither. */
function numbersOfRun(run: readonly (readonly string[])[], at: number): Found[] {
  const whole = codeOf(run.flat())
  if (whole !== undefined) return [{ code: whole, at, count: run.length }]
  const each = run.map(codeOf)
  const isList = new Set(run.map((groups) => groups.join('-').length)).size === 1
  if (!isList) return []
  return each.flatMap((code, index) => (code === undefined ? [] : [{ code, at: at + index, count: 1 }]))
}

/** The groups together, if they are of one size. */
function codeOf(groups: readonly string[]): string | undefined {
  const code = groups.join('')
  if (code.length < LENGTH.least || code.length > LENGTH.most) return undefined
  return groups.every(({ length }) => length === groups[0]?.length) ? code : undefined
}

/** Codes with letters, as they are written. */
function mixedOf(words: readonly Word[]): Found[] {
  return words.flatMap(({ text }, at) => {
    const groups = text.split('-')
    if (codeOf(groups) === undefined || !/^[A-Za-z0-9-]+$/.test(text) || !/[A-Za-z]/.test(text)) return []
    const before = words[at - 1]
    const isSaid = before !== undefined && (before.hasColon || SAYS.has(before.text.toLowerCase()))
    return /\d/.test(text) || (isSaid && text === text.toUpperCase()) ? [{ code: text, at, count: 1 }] : []
  })
}

function isYear(code: string): boolean {
  return code.length === 4 && (code.startsWith('19') || code.startsWith('20'))
}
