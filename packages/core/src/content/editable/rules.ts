import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { EditableVersion, VersionChange } from './editable-template.ts'

export const EDITABLE_LIMITS = {
  templates: 1000,
  versions: 300,
  name: 100,
  subject: 255,
  /** Octets of HTML and of plain text, each; the limit of any template. */
  content: 10 * 1024 * 1024,
  /** Octets of all versions of a template, which are shown together: 300 of 20 MB would be 6 GB in memory. */
  together: 30 * 1024 * 1024,
  testData: 1024 * 1024,
} as const

export function checkName(name: string): string {
  checkText('name', name, EDITABLE_LIMITS.name)
  if (name.trim() === '') throw invalidParameter('name', 'must not be blank')
  return name
}

/** Throws parameterInvalid with our name of the field, and templateTooLarge. */
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
  if (testData === undefined || testData === '') return
  checkText('testData', testData, EDITABLE_LIMITS.testData)
  try {
    JSON.parse(testData)
  } catch {
    throw invalidParameter('testData', 'must be JSON')
  }
}

/** Throws parameterInvalid (html) when a version is too large beside the others. */
export function checkTogether(others: number, { html, plain }: Pick<EditableVersion, 'html' | 'plain'>): void {
  if (others + Buffer.byteLength(html) + Buffer.byteLength(plain) <= EDITABLE_LIMITS.together) return
  throw invalidParameter('html', 'all versions of a template must not exceed 30 MB in total; delete some of them')
}

/** The database takes every text but NUL; lone surrogates would come back changed. */
function checkText(field: string, text: string, longest: number): void {
  if (text.length > longest) throw invalidParameter(field, `must have at most ${longest} characters`)
  if (text.includes('\0')) throw invalidParameter(field, 'must not contain NUL')
  if (!text.isWellFormed()) throw invalidParameter(field, 'is not well-formed Unicode')
}

/**
 * The version with a change: plain text that is given stays, plain text that is to be made is made anew when the HTML changed
 * (v3 contract 3.3), by `plainOf`.
 */
export function changed<
  V extends Pick<EditableVersion, 'html' | 'plain' | 'generatePlain' | 'name' | 'subject' | 'testData'>,
>(version: V, change: VersionChange, plainOf: (html: string) => string): V {
  const { name, subject, html, plain, testData } = { ...version, ...given(change) }
  const generatePlain = change.generatePlain ?? (change.plain ? false : version.generatePlain)
  const due = change.html !== undefined || change.generatePlain !== undefined || plain === ''
  const made = generatePlain && due && change.asIs !== true
  return {
    ...version,
    ...{ name, subject, html, generatePlain },
    plain: made ? plainOf(html) : plain,
    testData: testData === '' ? null : testData,
  }
}

function given(change: VersionChange): VersionChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
