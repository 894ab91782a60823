import type { Stoppable } from '../../platform/threads/turns.ts'
import { escapeHtml } from '../engine/index.ts'
import { Filling, MOST_TOGETHER, roomForTexts } from './filling.ts'
import { KeyFinder } from './key-finder.ts'
import { prepareSections, type Substitutions } from './sections.ts'

/** Where a recipient leaves the message's group, leaves everything, or chooses; those that are missing are left empty. */
export interface UnsubscribeUrls {
  readonly group?: string
  readonly global?: string
  readonly preferences?: string
}

type Tag = readonly [which: keyof UnsubscribeUrls, label: string | undefined]

/** v3 contract 2.7. With a label the tag stands for a whole link, else for the bare URL. */
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

/** Puts a recipient's own URLs in for the tags, as HTML or as plain text asks for. Undefined when the text grows beyond 30 MB. */
export function* fillUnsubscribeTags(
  text: string,
  urls: UnsubscribeUrls,
  kind: 'html' | 'text',
  room = roomForTexts(),
): Stoppable<string | undefined> {
  if (!hasUnsubscribeTags(text)) return text
  const values: Substitutions = Object.fromEntries([...TAGS].map(([tag, said]) => [tag, filledIn(said, urls, kind)]))
  const filling = new Filling({ values, sections: NO_SECTIONS, finder: FINDER, room, most: MOST_TOGETHER })
  yield* filling.search(text)
  return filling.end()
}

function filledIn([which, label]: Tag, urls: UnsubscribeUrls, kind: 'html' | 'text'): string {
  const url = urlOf(urls, which) ?? ''
  if (kind === 'text') return label && url ? `${label} ( ${url} )` : url
  const escaped = escapeHtml(url)
  return label && url ? `<a href="${escaped}">${label}</a>` : escaped
}

/**
 * The data of a dynamic template, in which `{{{unsubscribe}}}` and `{{{unsubscribe_preferences}}}` are members: the recipient's
 * URLs, where the data has none of its own.
 */
export function withUnsubscribeUrls(
  data: Readonly<Record<string, unknown>>,
  urls: UnsubscribeUrls,
): Readonly<Record<string, unknown>> {
  const own = { unsubscribe: urlOf(urls, 'group'), unsubscribe_preferences: urlOf(urls, 'preferences') }
  return { ...own, ...data }
}

/** A message of no group is left altogether. */
function urlOf(urls: UnsubscribeUrls, which: keyof UnsubscribeUrls): string | undefined {
  return urls[which] ?? (which === 'group' ? urls.global : undefined)
}
