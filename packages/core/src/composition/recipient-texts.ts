import type { TemplatePart } from '../content/engine/index.ts'
import { hasUnsubscribeTags } from '../content/substitution/unsubscribe-tags.ts'
import type { Submission } from '../submission/submission.ts'
import type { ContentDocument } from './content.ts'

type Details = Pick<ContentDocument, 'sections' | 'rendered' | 'unsubscribeTags'>

/** Returns the details stored with the texts of a message that are filled in for each recipient. */
export function textDetailsOf(
  { literal, sections, envelopes, content }: Submission,
  { html, text }: { readonly html: string | undefined; readonly text: string | undefined },
  rendered: readonly TemplatePart[] = [],
): Details {
  const substitutes = envelopes.some(({ substitutions }) => substitutions !== undefined)
  const amp = content.kind === 'parts' ? content.amp : undefined
  // Rendered and substituted values may contain an unsubscribe tag too.
  const tags =
    literal === true &&
    (rendered.length > 0 || substitutes || [html, text, amp].some((one) => hasUnsubscribeTags(one ?? '')))
  return {
    ...(substitutes && sections ? { sections } : {}),
    ...(rendered.length > 0 ? { rendered } : {}),
    ...(tags ? { unsubscribeTags: true } : {}),
  }
}
