import { parseAddress } from '../recipients/address.ts'
import type { DynamicTemplate, RenderFailure, TemplateData, TemplatePart } from '../templates/dynamic/index.ts'
import { roomForTexts } from '../templates/substitutions.ts'
import {
  fillUnsubscribeTags,
  hasUnsubscribeTags,
  type UnsubscribeUrls,
  withUnsubscribeUrls,
} from '../templates/unsubscribe-tags.ts'
import { inTurns, type Stoppable } from '../turns.ts'
import type { ContentDocument } from './content.ts'
import { LIMITS } from './limits.ts'
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
 * time. `rendered`: what {@link renderContent} made of it, where it is a dynamic template. Answers at once but where there is much
 * to put in. Throws (or rejects with) Unrenderable.
 */
export function fillContent(options: FillOptions, rendered?: FilledContent): FilledContent | Promise<FilledContent> {
  return inTurns(filled(options, rendered))
}

/** Substitutions, and what a dynamic template makes of the data of one recipient. Rejects with Unrenderable, overloaded. */
export async function renderContent(options: FillOptions & { readonly queue: RenderQueue }): Promise<FilledContent> {
  const given = await inTurns(substituted(options))
  return { ...given, content: await rendered({ ...options, ...given }) }
}

function* filled(options: FillOptions, rendered: FilledContent | undefined): Stoppable<FilledContent> {
  return yield* withTags(rendered ?? (yield* substituted(options)), options.urls)
}

function* substituted({ content, personal }: FilledContent): Stoppable<FilledContent> {
  const room = roomForTexts()
  const values = personal?.substitutions
  if (!values) return { content, personal }
  const substituter = substituterFor(content, values)
  const fill: Fill = function* (text) {
    const filled = yield* substituter.substitute(text, values, room)
    if (filled !== undefined) return filled
    throw new Unrenderable({ why: 'output', sentence: 'with its substitutions the message is too large' })
  }
  const { subject, replyTo, replyToList, alternatives } = content
  return {
    content: {
      ...content,
      ...(yield* texts(content, fill)),
      subject: yield* fill(subject),
      ...(replyTo ? { replyTo: yield* address(replyTo, fill) } : {}),
      ...(replyToList
        ? {
            replyToList: yield* each(replyToList, function* ({ email, name }) {
              return { email: yield* address(email, fill), name: yield* fill(name) }
            }),
          }
        : {}),
      ...(alternatives
        ? {
            alternatives: yield* each(alternatives, function* ({ type, text }) {
              return { type, text: yield* fill(text) }
            }),
          }
        : {}),
    },
    personal: personal.subject === undefined ? personal : { ...personal, subject: yield* fill(personal.subject) },
  }
}

function* each<T, U>(list: readonly T[], act: (one: T) => Stoppable<U>): Stoppable<U[]> {
  const done: U[] = []
  for (const one of list) {
    done.push(yield* act(one))
    yield
  }
  return done
}

function* address(text: string, fill: Fill): Stoppable<string> {
  const filled = yield* fill(text)
  return parseAddress(filled)?.text ?? filled
}

/** The bodies, each with something done to it. */
function* texts(
  { html, text, amp }: ContentDocument,
  act: (text: string, kind: 'html' | 'text') => Stoppable<string>,
): Stoppable<Pick<ContentDocument, 'html' | 'text' | 'amp'>> {
  return {
    ...(html === undefined ? {} : { html: yield* act(html, 'html') }),
    ...(text === undefined ? {} : { text: yield* act(text, 'text') }),
    ...(amp === undefined ? {} : { amp: yield* act(amp, 'html') }),
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

function* withTags({ content, personal }: FilledContent, urls: () => UnsubscribeUrls): Stoppable<FilledContent> {
  if (!content.unsubscribeTags) return { content, personal }
  const room = roomForTexts()
  let own: UnsubscribeUrls | undefined
  const filled = yield* texts(content, function* (text, kind) {
    if (!hasUnsubscribeTags(text)) return text
    const filled = yield* fillUnsubscribeTags(text, (own ??= urls()), kind, room)
    if (filled !== undefined) return filled
    throw new Unrenderable({ why: 'output', sentence: 'with its unsubscribe links the message is too large' })
  })
  return { content: { ...content, ...filled }, personal }
}
