import type { TemplatePart } from '../content/engine/index.ts'
import { type GeneratedText, generateText } from '../content/plain-text/html-text.ts'
import { hasUnsubscribeTags } from '../content/substitution/unsubscribe-tags.ts'
import { atOnce } from '../platform/concurrency/turns.ts'
import type { Submission } from '../submission/submission.ts'
import type { ContentDocument } from './content.ts'

type Details = Pick<ContentDocument, 'generateText' | 'sections' | 'rendered' | 'unsubscribeTags'>

interface Texts {
  readonly html: string | undefined
  readonly text: string | undefined
}

/** Returns the details stored with the texts of a message that are filled in for each recipient. */
export function textDetailsOf(
  submission: Submission,
  { html, text }: Texts,
  rendered: readonly TemplatePart[] = [],
): Details {
  const { literal, sections, envelopes, content } = submission
  const substitutes = envelopes.some(({ substitutions }) => substitutions !== undefined)
  const amp = content.kind === 'parts' ? content.amp : undefined
  // Rendered and substituted values may contain an unsubscribe tag too.
  const tags =
    literal === true &&
    (rendered.length > 0 || substitutes || [html, text, amp].some((one) => hasUnsubscribeTags(one ?? '')))
  return {
    ...(lacksText(submission, { html, text }) ? { generateText: true } : {}),
    ...(substitutes && sections ? { sections } : {}),
    ...(rendered.length > 0 ? { rendered } : {}),
    ...(tags ? { unsubscribeTags: true } : {}),
  }
}

/** Returns whether text is generated: for messages of v2 with HTML alone, unless the account's setting is off. */
function lacksText({ door, principal }: Submission, { html, text }: Texts): boolean {
  return door === 'v2' && principal.mailDefaults.generateText && html !== undefined && text === undefined
}

/** The last text that was generated for each message: its copies have the same HTML, or each its own. */
const generated = new WeakMap<ContentDocument, GeneratedText & { readonly html: string }>()

/**
 * Returns the generated text of one copy. `html` has the values of its recipient: they may be HTML, so that the text cannot be generated once, when the
 * message is accepted. Without text if the HTML shows no words.
 */
export function generatedFor(content: ContentDocument, html: string): Partial<GeneratedText> {
  let last = generated.get(content)
  if (last?.html !== html) generated.set(content, (last = { html, ...atOnce(generateText(html)) }))
  return last.text === '' ? {} : last
}
