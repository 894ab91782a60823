import type { TemplatePart } from '../content/engine/index.ts'
import { hasUnsubscribeTags } from '../content/substitution/unsubscribe-tags.ts'
import type { Submission } from '../submission/submission.ts'
import type { ContentDocument } from './content.ts'

type Details = Pick<ContentDocument, 'sections' | 'rendered' | 'unsubscribeTags'>

/** What is stored with the texts of a message whose recipients get them filled in differently. */
export function textDetailsOf(
  { literal, sections, envelopes, content }: Submission,
  { html, text }: { readonly html: string | undefined; readonly text: string | undefined },
  rendered: readonly TemplatePart[] = [],
): Details {
  const substitutes = envelopes.some(({ substitutions }) => substitutions !== undefined)
  const amp = content.kind === 'parts' ? content.amp : undefined
  // What is put in may hold such a tag as well as what was written.
  const tags =
    literal === true &&
    (rendered.length > 0 || substitutes || [html, text, amp].some((one) => hasUnsubscribeTags(one ?? '')))
  return {
    ...(substitutes && sections ? { sections } : {}),
    ...(rendered.length > 0 ? { rendered } : {}),
    ...(tags ? { unsubscribeTags: true } : {}),
  }
}
