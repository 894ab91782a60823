import type { Stoppable } from '../../platform/concurrency/turns.ts'
import { escapeHtml } from '../engine/index.ts'
import { createFillingBudget, Filling, MAX_TOTAL_LENGTH } from './filling.ts'
import { KeyFinder } from './key-finder.ts'
import { prepareSections, type Substitutions } from './sections.ts'

/**
 * URLs where a recipient unsubscribes from the message's group, from all mail, or manages preferences; tags without a
 * URL become empty.
 */
export interface UnsubscribeUrls {
  readonly group?: string
  readonly global?: string
  readonly preferences?: string
}

type Tag = readonly [which: keyof UnsubscribeUrls, label: string | undefined]

/** v3 contract 2.7. A tag with a label becomes a complete link, one without becomes the bare URL. */
const TAGS: ReadonlyMap<string, Tag> = new Map<string, Tag>([
  ['<%asm_group_unsubscribe_raw_url%>', ['group', undefined]],
  ['<%asm_group_unsubscribe_url%>', ['group', 'Unsubscribe From This List']],
  ['<%asm_global_unsubscribe_raw_url%>', ['global', undefined]],
  ['<%asm_global_unsubscribe_url%>', ['global', 'Unsubscribe']],
  ['<%asm_preferences_raw_url%>', ['preferences', undefined]],
  ['<%asm_preferences_url%>', ['preferences', 'Manage Email Preferences']],
  ['{{{unsubscribe}}}', ['group', undefined]],
  ['{{{unsubscribe_preferences}}}', ['preferences', undefined]],
])
const FINDER = new KeyFinder(TAGS.keys())
const NO_SECTIONS = prepareSections()

export function hasUnsubscribeTags(text: string): boolean {
  return text.includes('<%asm_') || text.includes('{{{unsubscribe')
}

/**
 * Replaces the tags with the recipient's URLs, formatted for HTML or plain text. Undefined if the text exceeds 30 MB.
 */
export function* fillUnsubscribeTags(
  text: string,
  urls: UnsubscribeUrls,
  kind: 'html' | 'text',
  budget = createFillingBudget(),
): Stoppable<string | undefined> {
  if (!hasUnsubscribeTags(text)) return text
  const values: Substitutions = Object.fromEntries(
    [...TAGS].map(([tag, meaning]) => [tag, replacementFor(meaning, urls, kind)]),
  )
  const filling = new Filling({ values, sections: NO_SECTIONS, finder: FINDER, budget, most: MAX_TOTAL_LENGTH })
  yield* filling.search(text)
  return filling.end()
}

function replacementFor([which, label]: Tag, urls: UnsubscribeUrls, kind: 'html' | 'text'): string {
  const url = urlOf(urls, which) ?? ''
  if (kind === 'text') return label && url ? `${label} ( ${url} )` : url
  const escaped = escapeHtml(url)
  return label && url ? `<a href="${escaped}">${label}</a>` : escaped
}

/**
 * Adds the recipient's URLs to the data of a dynamic template, as the members used by `{{{unsubscribe}}}` and
 * `{{{unsubscribe_preferences}}}`, unless the data defines these members.
 */
export function withUnsubscribeUrls(
  data: Readonly<Record<string, unknown>>,
  urls: UnsubscribeUrls,
): Readonly<Record<string, unknown>> {
  const own = { unsubscribe: urlOf(urls, 'group'), unsubscribe_preferences: urlOf(urls, 'preferences') }
  return { ...own, ...data }
}

/** For a message without a group, the group URL is the one that unsubscribes from all mail. */
function urlOf(urls: UnsubscribeUrls, which: keyof UnsubscribeUrls): string | undefined {
  return urls[which] ?? (which === 'group' ? urls.global : undefined)
}
