import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A citation of a numbered section, row, pair, threat, fault, promise or decision. */
export interface Reference {
  /** Undefined: a section of a contract that does not say which contract. */
  readonly page: keyof Pages | undefined
  readonly number: string
  /** The words that cite it. */
  readonly text: string
}

/** The numbers that each page defines. */
export interface Pages {
  readonly 'v2 contract': Numbered
  readonly 'v3 contract': Numbered
  readonly 'v3 row': Numbered
  readonly 'v2 pair': Numbered
  readonly 'v3 pair': Numbered
  readonly threat: Numbered
  readonly fault: Numbered
  readonly promise: Numbered
  readonly decision: Numbered
}

export interface Numbered {
  /** As it is cited: `12.1`, `V20`, `E14`. */
  readonly numbers: ReadonlySet<string>
  /** Numbers that the page says are not in use. */
  readonly unused: ReadonlySet<string>
}

/** Reads what the pages define. */
export function readPages(read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')): Pages {
  const v2 = read('docs/contract-v2.md')
  const v3 = read('docs/contract-v3.md')
  const sections = (page: string) => numbered(page, /^#{2,3} (\d+(?:\.\d+)?)\.? /gm)
  const decisions = globSync('docs/decisions/*.md', { cwd: ROOT }).map((path) => path.split(/[\\/]/).at(-1) ?? '')
  return {
    'v2 contract': sections(v2),
    'v3 contract': sections(v3),
    'v3 row': numbered(v3.slice(v3.indexOf('\n### 2.3'), v3.indexOf('\n### 2.4')), /^\| (\d+) \|/gm),
    'v2 pair': numbered(v2, /^\| ([EX]\d+) \|/gm),
    'v3 pair': numbered(v3, /^\| (P\d+) \|/gm),
    threat: numbered(read('docs/threats.md'), /^\| \*\*(V\d\d) /gm),
    fault: numbered(read('docs/faults.md'), /^\| \*\*(F\d\d) /gm),
    promise: numbered(read('docs/promises.md'), /^\| \*\*(P\d+) /gm),
    decision: {
      numbers: new Set(decisions.map((name) => String(Number(name.slice(0, 4))))),
      unused: new Set(),
    },
  }
}

function numbered(page: string, pattern: RegExp): Numbered {
  const numbers = new Set([...page.matchAll(pattern)].map(([, number = '']) => number))
  const sentences = page.replaceAll('\n', ' ').match(/[^.:|]*\bnot in use\b/g) ?? []
  return { numbers, unused: new Set(sentences.flatMap(numbersIn)) }
}

/** `P5`, `V14 to V19` and `19, 21 and 24`, each number by itself. */
function numbersIn(sentence: string): string[] {
  return [...sentence.matchAll(/\b([A-Z]?)(\d+)(?: to \1(\d+))?/g)].flatMap(([, letter, from = '', to = from]) =>
    Array.from(
      { length: Number(to) - Number(from) + 1 },
      (_, at) => `${letter}${String(Number(from) + at).padStart(from.length, '0')}`,
    ),
  )
}

/** The files whose text cites numbers: code, tests, SQL and documents. */
export function citingFiles(): string[] {
  const patterns = ['*.md', 'docs/**/*.md', 'sql/*', 'packages/**/*.{ts,md}', 'test/**/*.ts', 'bench/**/*.{ts,md}']
  return globSync(patterns, { cwd: ROOT, exclude: (path) => /node_modules|results/.test(String(path)) })
    .filter((path) => /\.(md|ts|sql)$/.test(path))
    .sort()
}

const NUMBER = '\\d+(?:\\.\\d+)?'
const CONTRACT = new RegExp(
  `(?:\\b(v2|v3) )?\\bcontract(?:['’]s)?,? (sections? |rows? |§)?(${NUMBER}(?:(?:, | and | to )${NUMBER}(?=[\\s,;:.)]))*)`,
  'gi',
)
const OF_CONTRACT = new RegExp(`\\bsection (${NUMBER}) of the (?:(v2|v3) )?contract`, 'gi')

/** Every citation in a file. */
export function referencesIn(path: string, text: string): Reference[] {
  const found: Reference[] = []
  const say = (page: keyof Pages | undefined, number: string, text: string): void => {
    found.push({ page, number, text })
  }
  for (const [words, version, kind, numbers = ''] of text.matchAll(CONTRACT)) {
    const contract = contractOf(version, path)
    const rows = /^row/i.test(kind ?? '')
    for (const number of numbers.split(/, | and | to /)) say(rows ? 'v3 row' : contract, number, words)
  }
  for (const [words, number = '', version] of text.matchAll(OF_CONTRACT)) say(contractOf(version, path), number, words)
  // Data such as 'V77' ends with its quotation mark, a citation stands in a sentence.
  for (const [number] of text.matchAll(/(?<![%\w])\bV\d\d\b(?!['"])/g)) say('threat', number, number)
  for (const [number] of text.matchAll(/(?<![%\w\\])\bF\d\d\b(?!['"])/g)) say('fault', number, number)
  for (const [words, pair, number = ''] of text.matchAll(/(?<![%\w-])\b(pair )?(P\d{1,2})\b(?!['"-])/g)) {
    say(pair || citesPairs(path) ? 'v3 pair' : 'promise', number, words)
  }
  if (/^(test\/(api\/v2|relay|delivery)\/|docs\/contract-v2)/.test(path)) {
    for (const [number] of text.matchAll(/(?<![%\w\\=])\b[EX]\d{1,3}(?=[a-c]?\b)(?![.'"])/g))
      say('v2 pair', number, number)
  }
  for (const [words, number = ''] of text.matchAll(/\bdecisions?[ /](\d{1,4})\b/g)) {
    say('decision', String(Number(number)), words)
  }
  return found
}

function contractOf(version: string | undefined, path: string): 'v2 contract' | 'v3 contract' | undefined {
  if (version) return version.toLowerCase() === 'v2' ? 'v2 contract' : 'v3 contract'
  if (/\/v2\/|contract-v2/.test(path)) return 'v2 contract'
  return /\/v3\/|contract-v3|v3-conformance/.test(path) ? 'v3 contract' : undefined
}

/** There P1 to P50 are the example pairs of the v3 contract, elsewhere promises. */
function citesPairs(path: string): boolean {
  return /\/v3\/|contract-v\d|v3-conformance|smtpapi/.test(path)
}

/** A link in a document to another one, or to a heading. */
export interface Link {
  readonly target: string
  /** Path from the repository's folder. */
  readonly path: string
  readonly anchor: string | undefined
}

/** The links of a document that lead to files of the repository. */
export function linksIn(path: string, text: string): Link[] {
  const prose = text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', anchor] = target.split('#')
    return { target, path: file === '' ? path : normalize(join(dirname(path), file)), anchor }
  })
}

/** The anchors of a document's headings, as forges make them. */
export function anchorsOf(text: string): Set<string> {
  const prose = text.replace(/^```.*?^```/gms, '')
  const seen = new Map<string, number>()
  return new Set(
    [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
      const slug = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
        .replace(/\s/g, '-')
      const times = seen.get(slug) ?? 0
      seen.set(slug, times + 1)
      return times === 0 ? slug : `${slug}-${times}`
    }),
  )
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export function isThere(path: string): boolean {
  return existsSync(join(ROOT, path))
}
