import type { DynamicTemplate, RenderFailure, TemplateData, TemplatePart } from '../content/engine/index.ts'
import { createFillingBudget } from '../content/substitution/filling.ts'
import {
  fillUnsubscribeTags,
  hasUnsubscribeTags,
  type UnsubscribeUrls,
  withUnsubscribeUrls,
} from '../content/substitution/unsubscribe-tags.ts'
import { parseAddress } from '../mime/address.ts'
import { atOnce } from '../platform/concurrency/turns.ts'
import { defined } from '../platform/defined.ts'
import { LIMITS } from '../submission/limits.ts'
import type { ContentDocument } from './content.ts'
import type { RecipientData } from './recipient-data.ts'
import type { RenderQueue } from './rendering/render-queue.ts'
import { type Fill, substituterFor } from './substitute.ts'

/** Thrown if the message cannot be built for a recipient because of its template or values. None of it may be sent. */
export class Unrenderable extends Error {
  /** Whether a retry may succeed, because this host was busy. */
  readonly passing: boolean

  constructor({ why, sentence }: Pick<RenderFailure, 'why' | 'sentence'>) {
    super(sentence)
    this.passing = why === 'time' || why === 'memory'
  }
}

export interface FillOptions {
  readonly content: ContentDocument
  readonly personal: RecipientData | null
  /** Returns the recipient's unsubscribe URLs; called only if a text uses them. */
  readonly urls: () => UnsubscribeUrls
}

/** The content as one recipient gets it. */
export type FilledContent = Pick<FillOptions, 'content' | 'personal'>

/**
 * Fills in the substitutions and unsubscribe links of one recipient. The result for a recipient is always the same. `rendered` is
 * the result of {@link renderContent} if the content is a dynamic template. Throws Unrenderable.
 */
export function fillContent({ content, personal, urls }: FillOptions, rendered?: FilledContent): FilledContent {
  return withTags(rendered ?? substituted(content, personal), urls)
}

export interface RenderContentOptions extends FillOptions {
  readonly queue: RenderQueue
  readonly flow: string
}

/** Fills in the substitutions and renders the dynamic template for one recipient. Rejects with Unrenderable or overloaded. */
export async function renderContent(options: RenderContentOptions): Promise<FilledContent> {
  const given = substituted(options.content, options.personal)
  return { ...given, content: await rendered({ ...options, ...given }) }
}

function substituted(content: ContentDocument, personal: RecipientData | null): FilledContent {
  const values = personal?.substitutions
  if (!personal || !values) return { content, personal }
  const substituter = substituterFor(content, values)
  const budget = createFillingBudget()
  const fill: Fill = (text) => {
    const filled = atOnce(substituter.substitute(text, values, budget))
    if (filled !== undefined) return filled
    throw new Unrenderable({ why: 'output', sentence: 'message exceeds the size limit after substitution' })
  }
  const { subject, replyTo, replyToList, alternatives } = content
  return {
    content: {
      ...content,
      ...texts(content, fill),
      subject: fill(subject),
      ...(replyTo ? { replyTo: address(replyTo, fill) } : {}),
      ...(replyToList
        ? { replyToList: replyToList.map(({ email, name }) => ({ email: address(email, fill), name: fill(name) })) }
        : {}),
      ...(alternatives ? { alternatives: alternatives.map(({ type, text }) => ({ type, text: fill(text) })) } : {}),
    },
    personal: personal.subject === undefined ? personal : { ...personal, subject: fill(personal.subject) },
  }
}

function address(text: string, fill: Fill): string {
  const filled = fill(text)
  return parseAddress(filled)?.text ?? filled
}

/** Returns the bodies, each mapped by `map`. */
function texts(
  { html, text, amp }: ContentDocument,
  map: (text: string, kind: 'html' | 'text') => string,
): Pick<ContentDocument, 'html' | 'text' | 'amp'> {
  return {
    ...(html === undefined ? {} : { html: map(html, 'html') }),
    ...(text === undefined ? {} : { text: map(text, 'text') }),
    ...(amp === undefined ? {} : { amp: map(amp, 'html') }),
  }
}

async function rendered({ content, personal, urls, queue, flow }: RenderContentOptions): Promise<ContentDocument> {
  const template = templateOf(content)
  const given = JSON.parse(personal?.data ?? '{}') as TemplateData
  const wantsUrls = Object.values(template).some((text) => text.includes('unsubscribe'))
  const result = await queue.render(content, template, wantsUrls ? withUnsubscribeUrls(given, urls()) : given, flow)
  if (result.kind === 'failed') throw new Unrenderable(result.failure)
  const { subject = content.subject, html = content.html, text = content.text } = result
  if (subject.length > LIMITS.headerText) {
    throw new Unrenderable({
      why: 'output',
      sentence: `subject exceeds ${LIMITS.headerText} characters after rendering`,
    })
  }
  return { ...content, subject, ...defined({ html, text }) }
}

function templateOf({ subject, html, text, rendered = [] }: ContentDocument): DynamicTemplate {
  const all: Readonly<Record<TemplatePart, string | undefined>> = { subject, html, text }
  return Object.fromEntries(rendered.flatMap((part) => (all[part] === undefined ? [] : [[part, all[part]]])))
}

function withTags({ content, personal }: FilledContent, urls: () => UnsubscribeUrls): FilledContent {
  if (!content.unsubscribeTags) return { content, personal }
  const budget = createFillingBudget()
  let own: UnsubscribeUrls | undefined
  const fill = (text: string, kind: 'html' | 'text'): string => {
    if (!hasUnsubscribeTags(text)) return text
    const filled = atOnce(fillUnsubscribeTags(text, (own ??= urls()), kind, budget))
    if (filled !== undefined) return filled
    throw new Unrenderable({
      why: 'output',
      sentence: 'message exceeds the size limit after unsubscribe links are filled in',
    })
  }
  return { content: { ...content, ...texts(content, fill) }, personal }
}
