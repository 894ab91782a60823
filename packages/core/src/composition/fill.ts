import type { DynamicTemplate, RenderFailure, TemplateData, TemplatePart } from '../content/engine/index.ts'
import { roomForTexts } from '../content/substitution/filling.ts'
import {
  fillUnsubscribeTags,
  hasUnsubscribeTags,
  type UnsubscribeUrls,
  withUnsubscribeUrls,
} from '../content/substitution/unsubscribe-tags.ts'
import { parseAddress } from '../mime/address.ts'
import { atOnce } from '../platform/threads/turns.ts'
import { LIMITS } from '../submission/limits.ts'
import type { ContentDocument } from './content.ts'
import type { Personal } from './personal.ts'
import type { RenderQueue } from './render-queue.ts'
import { type Fill, substituterFor } from './substitute.ts'

/** A message that can't be written for this recipient: its template or its values are why. Nothing of it may be sent. */
export class Unrenderable extends Error {
  /** It may do another time: this host was busy. */
  readonly passing: boolean

  constructor({ why, sentence }: Pick<RenderFailure, 'why' | 'sentence'>) {
    super(sentence)
    this.passing = why === 'time' || why === 'memory'
  }
}

export interface FillOptions {
  readonly content: ContentDocument
  readonly personal: Personal | null
  /** Where this recipient unsubscribes; asked for only if a text wants it. */
  readonly urls: () => UnsubscribeUrls
}

/** What is composed: the texts as one recipient gets them. */
export type FilledContent = Pick<FillOptions, 'content' | 'personal'>

/**
 * Puts in what differs in the texts of one recipient: substitutions, unsubscribe links. The same for the same recipient every
 * time. `rendered`: what {@link renderContent} made of it, where it is a dynamic template. Throws Unrenderable.
 */
export function fillContent({ content, personal, urls }: FillOptions, rendered?: FilledContent): FilledContent {
  return withTags(rendered ?? substituted(content, personal), urls)
}

/** Substitutions, and what a dynamic template makes of the data of one recipient. Rejects with Unrenderable, overloaded. */
export async function renderContent(options: FillOptions & { readonly queue: RenderQueue }): Promise<FilledContent> {
  const given = substituted(options.content, options.personal)
  return { ...given, content: await rendered({ ...options, ...given }) }
}

function substituted(content: ContentDocument, personal: Personal | null): FilledContent {
  const values = personal?.substitutions
  if (!personal || !values) return { content, personal }
  const substituter = substituterFor(content, values)
  const room = roomForTexts()
  const fill: Fill = (text) => {
    const filled = atOnce(substituter.substitute(text, values, room))
    if (filled !== undefined) return filled
    throw new Unrenderable({ why: 'output', sentence: 'with its substitutions the message is too large' })
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

/** The bodies, each with something done to it. */
function texts(
  { html, text, amp }: ContentDocument,
  act: (text: string, kind: 'html' | 'text') => string,
): Pick<ContentDocument, 'html' | 'text' | 'amp'> {
  return {
    ...(html === undefined ? {} : { html: act(html, 'html') }),
    ...(text === undefined ? {} : { text: act(text, 'text') }),
    ...(amp === undefined ? {} : { amp: act(amp, 'html') }),
  }
}

async function rendered({
  content,
  personal,
  urls,
  queue,
}: FillOptions & { readonly queue: RenderQueue }): Promise<ContentDocument> {
  const template = templateOf(content)
  const given = JSON.parse(personal?.data ?? '{}') as TemplateData
  const wantsUrls = Object.values(template).some((text) => text.includes('unsubscribe'))
  const answer = await queue.render(content, template, wantsUrls ? withUnsubscribeUrls(given, urls()) : given)
  if (answer.kind === 'failed') throw new Unrenderable(answer.failure)
  const { subject = content.subject, html = content.html, text = content.text } = answer
  if (subject.length > LIMITS.headerText) {
    throw new Unrenderable({ why: 'output', sentence: `the subject has more than ${LIMITS.headerText} characters` })
  }
  return { ...content, subject, ...(html === undefined ? {} : { html }), ...(text === undefined ? {} : { text }) }
}

function templateOf({ subject, html, text, rendered = [] }: ContentDocument): DynamicTemplate {
  const all: Readonly<Record<TemplatePart, string | undefined>> = { subject, html, text }
  return Object.fromEntries(rendered.flatMap((part) => (all[part] === undefined ? [] : [[part, all[part]]])))
}

function withTags({ content, personal }: FilledContent, urls: () => UnsubscribeUrls): FilledContent {
  if (!content.unsubscribeTags) return { content, personal }
  const room = roomForTexts()
  let own: UnsubscribeUrls | undefined
  const fill = (text: string, kind: 'html' | 'text'): string => {
    if (!hasUnsubscribeTags(text)) return text
    const filled = atOnce(fillUnsubscribeTags(text, (own ??= urls()), kind, room))
    if (filled !== undefined) return filled
    throw new Unrenderable({ why: 'output', sentence: 'with its unsubscribe links the message is too large' })
  }
  return { content: { ...content, ...texts(content, fill) }, personal }
}
