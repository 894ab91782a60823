import { inTurns } from '../../platform/concurrency/turns.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { tooDeepAt } from '../../platform/json-depth.ts'
import { generateText } from '../plain-text/html-text.ts'
import type { EditableVersion, VersionChange } from './editable-template.ts'

export const EDITABLE_LIMITS = {
  templates: 1000,
  versions: 300,
  name: 100,
  subject: 255,
  /** Maximum bytes of HTML and of plain text, each; the limit applies to all templates. */
  content: 10 * 1024 * 1024,
  /**
   * Maximum bytes of all versions of a template with their test data, since they are returned together: 300 versions
   * of 20 MB would take 6 GB of memory.
   */
  together: 30 * 1024 * 1024,
  testData: 1024 * 1024,
  /** Levels of test data, as of a call that sends: what copies, renders or writes them goes as deep. */
  testDataDepth: 64,
  /** Maximum versions of all templates of an account, since they can be listed together. */
  accountVersions: 10_000,
  /** Maximum bytes of all versions of an account with their test data: a copy of 30 MB takes an empty request. */
  accountOctets: 1024 ** 3,
} as const

/** Maximum characters of HTML that plain text is generated from. */
const MAX_CONVERTED = 256 * 1024

export function checkName(name: string): string {
  checkText('name', name, EDITABLE_LIMITS.name)
  if (name.trim() === '') throw invalidParameter('name', 'must not be blank')
  return name
}

/** Throws parameterInvalid with our field name, or templateTooLarge. */
export function checkVersion({ name, subject, html, plain, testData }: VersionChange): void {
  if (name !== undefined) checkName(name)
  if (subject !== undefined) checkText('subject', subject, EDITABLE_LIMITS.subject)
  if (subject !== undefined && /[\r\n]/.test(subject)) {
    throw invalidParameter('subject', 'must not contain CR or LF')
  }
  for (const [field, text] of [
    ['html', html],
    ['plain', plain],
  ] as const) {
    if (text === undefined) continue
    checkText(field, text, Number.POSITIVE_INFINITY)
    if (Buffer.byteLength(text) >= EDITABLE_LIMITS.content) throw new ServiceError('templateTooLarge')
  }
  if (testData !== undefined) checkTestData(testData)
}

/** Throws parameterInvalid (testData). No test data are an empty text. */
export function checkTestData(testData: string): void {
  if (testData === '') return
  checkText('testData', testData, EDITABLE_LIMITS.testData)
  try {
    JSON.parse(testData)
  } catch {
    throw invalidParameter('testData', 'must be JSON')
  }
  const { testDataDepth } = EDITABLE_LIMITS
  if (tooDeepAt(testData, testDataDepth) !== undefined)
    throw invalidParameter('testData', `must be nested at most ${testDataDepth} levels deep`)
}

/** Bytes of a version, without its name and subject. */
export function octetsOf({ html, plain, testData }: Pick<EditableVersion, 'html' | 'plain' | 'testData'>): number {
  return Buffer.byteLength(html) + Buffer.byteLength(plain) + Buffer.byteLength(testData ?? '')
}

/** Throws parameterInvalid with the name of the given field if the versions of a template together are too large. */
export function checkTogether(field: 'html' | 'testData', octets: number): void {
  if (octets <= EDITABLE_LIMITS.together) return
  throw invalidParameter(field, 'all versions of a template must not exceed 30 MB in total; delete some of them')
}

/** The database cannot store NUL, and lone surrogates would be altered. */
function checkText(field: string, text: string, maxLength: number): void {
  if (text.length > maxLength) throw invalidParameter(field, `must have at most ${maxLength} characters`)
  if (text.includes('\0')) throw invalidParameter(field, 'must not contain NUL')
  if (!text.isWellFormed()) throw invalidParameter(field, 'is not well-formed Unicode')
}

/**
 * Returns the version with the change applied. Given plain text is kept; generated plain text is generated again if the HTML changed
 * (v3 contract 3.3), by `plainOf`.
 */
export async function changed<
  V extends Pick<EditableVersion, 'html' | 'plain' | 'generatePlain' | 'name' | 'subject' | 'testData'>,
>(version: V, change: VersionChange, plainOf: PlainText): Promise<V> {
  const { name, subject, html, plain, testData } = { ...version, ...given(change) }
  const generatePlain = change.generatePlain ?? (change.plain ? false : version.generatePlain)
  const mayHaveChanged = change.html !== undefined || change.generatePlain !== undefined || plain === ''
  const isGenerated = generatePlain && mayHaveChanged && change.asIs !== true
  return {
    ...version,
    name,
    subject,
    html,
    generatePlain,
    plain: isGenerated ? await plainOf(html) : plain,
    testData: testData === '' ? null : testData,
  }
}

/** Returns the plain text of HTML. */
export type PlainText = (html: string) => string | Promise<string>

/** Generates the plain text of the HTML of a change, if it may be needed, so that a transaction does not stay open for it. */
export async function plainTextOf({ html, plain, asIs }: VersionChange): Promise<PlainText> {
  const made = html === undefined || plain || asIs ? undefined : await plainOf(html)
  return (wanted) => (made !== undefined && wanted === html ? made : plainOf(wanted))
}

/** Returns the plain text that is generated from HTML; none if that is long. */
export async function plainOf(html: string): Promise<string> {
  return html.length > MAX_CONVERTED ? '' : (await inTurns(generateText(html))).text
}

function given(change: VersionChange): VersionChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
