import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { TemplateContent } from './template.ts'
import { checkVariables } from './variables.ts'

/** v2 contract section 7: 10 MB (in octets) or more is too large. */
const TEMPLATE_LIMIT = 10 * 1024 * 1024
/** Maximum number of templates of an account. */
export const MAX_TEMPLATES = 1000
/** The limit for subjects in sends. */
const MAX_SUBJECT_LENGTH = 4096
/** Number of versions kept per template, in addition to the active one. */
export const MAX_INACTIVE_VERSIONS = 100
/**
 * Maximum size of all versions of an account: 1,000 templates whose 101 versions have 100 KB each, which is more than
 * mail clients show.
 */
export const MAX_STORED_GB = 10
/** Maximum id in the database (int4). */
const MAX_ID = 2_147_483_647

/** Returns the name trimmed. Throws templateNameInvalid. */
export function cleanName(name: string): string {
  const clean = name.trim()
  if (!/^[A-Za-z0-9 _.-]{1,100}$/.test(clean)) throw new ServiceError('templateNameInvalid')
  return clean
}

/** Throws templateBlank, templateTooLarge, parameterInvalid (content, text, subject, variables). */
export function checkContent({ subject, content, text, variables }: TemplateContent): void {
  if (content.trim() === '') throw new ServiceError('templateBlank')
  if (Buffer.byteLength(content) >= TEMPLATE_LIMIT) throw new ServiceError('templateTooLarge')
  checkText(content, 'content')
  if (text !== null) {
    if (Buffer.byteLength(text) >= TEMPLATE_LIMIT) throw new ServiceError('templateTooLarge')
    checkText(text, 'text')
  }
  if (subject !== null) {
    if (/[\r\n]/.test(subject)) throw invalidParameter('subject', 'must not contain CR or LF')
    if (subject.length > MAX_SUBJECT_LENGTH) {
      throw invalidParameter('subject', `must have at most ${MAX_SUBJECT_LENGTH} characters`)
    }
    checkText(subject, 'subject')
  }
  checkVariables(variables)
}

export function isId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= MAX_ID
}

/** The database cannot store NUL, and lone surrogates would be altered. */
function checkText(text: string, parameter: string): void {
  if (text.includes('\0')) throw invalidParameter(parameter, 'must not contain NUL')
  if (!text.isWellFormed()) throw invalidParameter(parameter, 'is not well-formed Unicode')
}
