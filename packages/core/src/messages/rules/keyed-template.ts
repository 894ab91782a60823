import { isBlank } from '../../composition/stored-content.ts'
import type { ActiveVersion } from '../../content/editable/index.ts'
import { fillLegacyTemplate, type LegacyTexts } from '../../content/editable/legacy-template.ts'
import type { TemplatePart } from '../../content/engine/index.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { LIMITS } from '../../submission/limits.ts'
import type { ContentParts, Submission } from '../../submission/submission.ts'

/** The active version of a template that a submission selects by an id of its entry point. */
export type KeyedTemplate = Pick<
  ActiveVersion,
  'subject' | 'html' | 'plain' | 'generation' | 'templateName' | 'problem'
>

/** A submission with the texts of its template, and which of these are rendered for each recipient. */
export interface Filled {
  readonly submission: Submission
  readonly rendered: readonly TemplatePart[]
}

/**
 * Replaces the texts of a submission by the template's, so that later changes of the template do not affect accepted messages.
 *
 * Throws tooLarge, parameterInvalid (subject).
 */
export function fillTemplate(submission: Submission, template: KeyedTemplate): Filled {
  return template.generation === 'legacy'
    ? { submission: withLegacy(submission, template), rendered: [] }
    : withDynamic(submission, template)
}

/** Returns the approximate size of a template in bytes, for the budget of stored content. */
export function templateSize({ html, plain }: KeyedTemplate): number {
  return html.length + plain.length
}

function withDynamic(submission: Submission, { subject, html, plain }: KeyedTemplate): Filled {
  const own = textsOf(submission)
  const rendered: TemplatePart[] = []
  const choose = (part: TemplatePart, theirs: string, ours: string | undefined): string | undefined => {
    if (isBlank(theirs)) return ours
    rendered.push(part)
    return theirs
  }
  const filled = {
    ...submission,
    subject: choose('subject', subject, submission.subject),
    content: { ...own, html: choose('html', html, own.html), text: choose('text', plain, own.text) },
  }
  // The template's subject applies to all recipients.
  const envelopes = rendered.includes('subject')
    ? submission.envelopes.map(({ subject: _own, ...envelope }) => envelope)
    : submission.envelopes
  return { submission: { ...filled, envelopes }, rendered }
}

function withLegacy(submission: Submission, template: KeyedTemplate): Submission {
  const texts = { subject: template.subject, html: template.html, text: template.plain }
  const own = textsOf(submission)
  requireCapacity(texts, own)
  const fill = (subject: string | undefined): LegacyTexts =>
    fillLegacyTemplate(texts, { subject, html: own.html, text: own.text })
  const { html, text } = fill(submission.subject)
  const subjectFor = (given: string | undefined, at?: number): string | undefined => {
    const { subject } = fillLegacyTemplate({ subject: template.subject }, { subject: given })
    if ((subject ?? '').length <= LIMITS.headerText) return subject
    const problem = `exceeds ${LIMITS.headerText} characters after the template is applied`
    throw invalidParameter(submission.nameOf('subject', at), problem)
  }
  return {
    ...submission,
    subject: subjectFor(submission.subject),
    content: { ...own, html, text },
    envelopes: submission.envelopes.map((envelope, at) => {
      const subject = envelope.subject === undefined ? undefined : subjectFor(envelope.subject, at)
      return subject === undefined ? envelope : { ...envelope, subject }
    }),
  }
}

/** Checks the size before building the texts, because a small template with many tags and a long body can yield gigabytes. */
function requireCapacity(template: LegacyTexts, own: ContentParts): void {
  const grown = (text: string | undefined, body: string | undefined): number =>
    (text ?? '').length + ((text ?? '').split('<%body%>').length - 1) * (body ?? '').length
  if (grown(template.html, own.html) + grown(template.text, own.text) > LIMITS.messageSize) {
    throw new ServiceError('tooLarge', { values: { limit: '30 MB' } })
  }
}

function textsOf({ content }: Submission): ContentParts {
  return content.kind === 'parts' ? content : { kind: 'parts', html: undefined, text: undefined, amp: undefined }
}
