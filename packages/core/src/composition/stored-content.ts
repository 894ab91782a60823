import type { Template } from '../content/templates/index.ts'
import { defaultsOf } from '../content/templates/variables.ts'
import type { Submission } from '../submission/submission.ts'
import type { Attributes } from './merge.ts'

/** A template with its defaults, as used by a send. */
export interface StoredContent extends Template {
  /** Default values for attributes that a recipient lacks. */
  readonly defaults: Attributes | undefined
}

export function storedContent(template: Template): StoredContent {
  return { ...template, defaults: defaultsOf(template.variables) }
}

/** Returns the subject of the call, or the template's if that is blank. */
export function subjectOf({ subject }: Pick<Submission, 'subject'>, stored: StoredContent | undefined): string {
  return isBlank(subject) ? (stored?.subject ?? subject ?? '') : (subject ?? '')
}

/** Returns the text of the call, or the template's if that is blank. */
export function textOf({ text }: { readonly text: string | undefined }, stored: StoredContent): string | undefined {
  return isBlank(text) ? (stored.text ?? undefined) : text
}

export function isBlank(text: string | null | undefined): boolean {
  return text === undefined || text === null || text.trim() === ''
}
