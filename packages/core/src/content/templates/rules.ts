import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { TemplateContent } from './template.ts'
import { checkVariables } from './variables.ts'

/** v2 contract section 7: measured in octets, 10 MB is too much. */
const TEMPLATE_LIMIT = 10 * 1024 * 1024
/** What sends allow a subject. */
const LONGEST_SUBJECT = 4096
/** The largest number the database has for an id. */
const LARGEST_ID = 2_147_483_647

/** The name as it is stored. Throws templateNameInvalid. */
export function cleanName(name: string): string {
  const clean = name.trim()
  if (!/^[A-Za-z0-9 _.-]{1,100}$/.test(clean)) throw new ServiceError('templateNameInvalid')
  return clean
}

/** Throws templateBlank, templateTooLarge, parameterInvalid (content, subject, variables). */
export function checkContent({ subject, content, variables }: TemplateContent): void {
  if (content.trim() === '') throw new ServiceError('templateBlank')
  if (Buffer.byteLength(content) >= TEMPLATE_LIMIT) throw new ServiceError('templateTooLarge')
  checkText(content, 'content')
  if (subject !== null) {
    if (/[\r\n]/.test(subject)) throw invalidParameter('subject', 'must not contain CR or LF')
    if (subject.length > LONGEST_SUBJECT) {
      throw invalidParameter('subject', `must have at most ${LONGEST_SUBJECT} characters`)
    }
    checkText(subject, 'subject')
  }
  checkVariables(variables)
}

export function isId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= LARGEST_ID
}

/** The database takes every text but NUL; lone surrogates would come back changed. */
function checkText(text: string, parameter: string): void {
  if (text.includes('\0')) throw invalidParameter(parameter, 'must not contain NUL')
  if (!text.isWellFormed()) throw invalidParameter(parameter, 'is not well-formed Unicode')
}
