import type { Template } from '../content/templates/index.ts'
import { defaultsOf } from '../content/templates/variables.ts'
import type { Submission } from '../submission/submission.ts'
import type { Attributes } from './merge.ts'

/** A template as a send uses it. */
export interface StoredContent extends Template {
  /** What stands in for attributes a recipient lacks. */
  readonly defaults: Attributes | undefined
}

export function storedContent(template: Template): StoredContent {
  return { ...template, defaults: defaultsOf(template.variables) }
}

/** The subject of the call, else the template's. */
export function subjectOf({ subject }: Pick<Submission, 'subject'>, stored: StoredContent | undefined): string {
  return isBlank(subject) ? (stored?.subject ?? subject ?? '') : (subject ?? '')
}

export function isBlank(text: string | null | undefined): boolean {
  return text === undefined || text === null || text.trim() === ''
}
