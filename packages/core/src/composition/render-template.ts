import type { Templates } from '../content/templates/index.ts'
import { defaultsOf, refusalsOf } from '../content/templates/variables.ts'
import { invalidParameter } from '../platform/errors.ts'
import { inTurns } from '../platform/threads/turns.ts'
import { LIMITS } from '../submission/limits.ts'
import { requireShare, type Share } from '../submission/share.ts'
import {
  type Attributes,
  countMergeTags,
  mergedLength,
  mergeTags,
  renderMergeTags,
  tagsWithout,
  withDefaults,
} from './merge.ts'

export interface TemplateRendering {
  readonly accountId: number
  readonly id: number
  /** The active one, when left out. */
  readonly version: number | undefined
  /** In place of the template's own, as a send may have it. */
  readonly subject: string | undefined
  readonly attributes: Attributes
}

export interface RenderedTemplate {
  readonly version: number
  readonly subject: string
  readonly content: string
  /** Tags nothing was put in for, as they are first written. */
  readonly missing: readonly string[]
  /** What a send with these attributes would be refused for. */
  readonly problems: readonly string[]
}

/**
 * Merges a template as a delivery would, with the same code.
 *
 * Throws templateIdInvalid, templateVersionUnknown, parameterInvalid (attributes: the result would be too large), BeyondShare.
 */
export async function renderTemplate(
  templates: Templates,
  rendering: TemplateRendering,
  { stored }: Share,
): Promise<RenderedTemplate> {
  const { accountId, id } = rendering
  const template = await (rendering.version === undefined
    ? templates.show(accountId, id)
    : templates.version(accountId, id, rendering.version))
  requireShare(template.content.length, stored)
  const subject = rendering.subject ?? template.subject ?? ''
  const attributes = withDefaults(rendering.attributes, defaultsOf(template.variables))
  const tags = [await inTurns(countMergeTags(subject)), await inTurns(countMergeTags(template.content))]
  const merged = tags.reduce((sum, counts) => sum + mergedLength(counts, attributes), 0)
  if (subject.length + template.content.length + merged > LIMITS.messageSize) {
    throw invalidParameter('attributes', 'the content with these values would be too large')
  }
  const refusals = refusalsOf(template.variables, rendering.attributes, (name) => `attributes.${name}`)
  return {
    version: 'version' in template ? template.version : template.number,
    subject: renderMergeTags(subject, attributes),
    content: await inTurns(mergeTags(template.content, attributes)),
    missing: tagsWithout(tags, attributes),
    problems: [...refusals].map(({ message }) => message),
  }
}
