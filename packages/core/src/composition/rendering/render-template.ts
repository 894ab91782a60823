import { generateText } from '../../content/plain-text/html-text.ts'
import type { Templates } from '../../content/templates/index.ts'
import { defaultsOf, refusalsOf } from '../../content/templates/variables.ts'
import { inTurns } from '../../platform/concurrency/turns.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { LIMITS } from '../../submission/limits.ts'
import { requireShare, type Share } from '../../submission/share.ts'
import {
  type Attributes,
  countMergeTags,
  type MergeTags,
  mergedLength,
  mergeTags,
  renderMergeTags,
  tagsWithout,
  withDefaults,
} from '../merge.ts'

export interface TemplateRendering {
  readonly accountId: number
  readonly id: number
  /** Undefined for the active version. */
  readonly version: number | undefined
  /** Replaces the template's subject, as in a send; undefined for the template's own. */
  readonly subject: string | undefined
  readonly attributes: Attributes
  /** Texts in place of the version's own, such as those of an editor. */
  readonly texts?: { readonly content: string; readonly text: string | null }
  /** Whether text is generated if the template has none: the account's setting. */
  readonly generateText: boolean
}

export interface RenderedTemplate {
  readonly version: number
  readonly subject: string
  readonly content: string
  /** Null if the message would have none. */
  readonly text: string | null
  /** Names of all tags, in their first spelling. */
  readonly names: readonly string[]
  /** Names of tags without a value, in their first spelling. */
  readonly missing: readonly string[]
  /** Errors with which a send with these attributes would be rejected. */
  readonly problems: readonly string[]
}

/**
 * Renders a template with the same code as a delivery.
 *
 * Throws templateIdInvalid, templateVersionUnknown, parameterInvalid (attributes, if the result would be too large) or BeyondShare.
 */
export async function renderTemplate(
  templates: Templates,
  rendering: TemplateRendering,
  { stored: share }: Share,
): Promise<RenderedTemplate> {
  const { accountId, id } = rendering
  const stored = await (rendering.version === undefined
    ? templates.show(accountId, id)
    : templates.version(accountId, id, rendering.version))
  const template = { ...stored, ...rendering.texts }
  const texts = [template.content, ...(template.text === null ? [] : [template.text])]
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  requireShare(length, share)
  const subject = rendering.subject ?? template.subject ?? ''
  const attributes = withDefaults(rendering.attributes, defaultsOf(template.variables))
  const tags: MergeTags[] = []
  for (const text of [subject, ...texts]) tags.push(await inTurns(countMergeTags(text)))
  const merged = tags.reduce((sum, counts) => sum + mergedLength(counts, attributes), 0)
  if (subject.length + length + merged > LIMITS.messageSize) {
    throw invalidParameter('attributes', 'content exceeds 30 MB after merge tags are filled in')
  }
  const errors = refusalsOf(template.variables, rendering.attributes, (name) => `attributes.${name}`)
  const [content = '', own] = await Promise.all(texts.map((text) => inTurns(mergeTags(text, attributes))))
  const generated = own === undefined && rendering.generateText ? (await inTurns(generateText(content))).text : ''
  return {
    version: 'version' in template ? template.version : template.number,
    subject: renderMergeTags(subject, attributes),
    content,
    text: own ?? (generated || null),
    names: tagsWithout(tags, {}),
    missing: tagsWithout(tags, attributes),
    problems: [...errors].map(({ message }) => message),
  }
}
