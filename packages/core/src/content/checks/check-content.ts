import { readHtml } from './html-facts.ts'
import { SPAM_WORDS } from './spam-words.ts'

/** The checks of a message, in the order in which it is shown. */
export const CONTENT_CHECKS = [
  'one-click',
  'clipping',
  'size',
  'text-part',
  'links-plain',
  'links-short',
  'links-numeric',
  'links-other',
  'images-alt',
  'spam-words',
] as const
export type ContentCheckName = (typeof CONTENT_CHECKS)[number]

/** `unneeded`: not demanded of such mail. */
export type ContentCheckState = 'good' | 'hint' | 'bad' | 'unneeded'

export interface ContentCheck {
  readonly name: ContentCheckName
  readonly state: ContentCheckState
  /** How often it was found, or bytes. */
  readonly count: number
  /** The first places. */
  readonly found: readonly string[]
}

export interface CheckedContent {
  /** Its beginning is enough. */
  readonly html: string | undefined
  readonly text: string | undefined
  /** Bytes of the whole HTML. */
  readonly htmlSize: number
  /** Bytes of the whole message. */
  readonly size: number
  readonly subject: string
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Bulk mail must have one-click unsubscription. */
  readonly isBulk: boolean
}

/** Gmail shows no more of a message's HTML. */
const CLIPPED_FROM = 102 * 1024
/** Characters of HTML that are read, as many as Gmail shows: the costliest ones take some 60 ms. */
const MAX_READ = 102 * 1024
/** Many servers accept no more than 10 MB. */
const LARGE_FROM = 10 * 1024 * 1024
const MAX_FOUND = 5

const SHORTENERS: ReadonlySet<string> = new Set(
  'bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly rebrand.ly cutt.ly shorturl.at rb.gy t.ly'.split(' '),
)

/** Checks what a recipient gets: facts, which pages and the command line word. */
export function checkContent(content: CheckedContent): ContentCheck[] {
  const { text, htmlSize, size } = content
  const html = content.html?.slice(0, MAX_READ)
  const { links, withoutAlt } = html === undefined ? { links: [], withoutAlt: [] } : readHtml(html)
  const urls = links.flatMap(({ url, text: words }) => {
    const parsed = URL.parse(url)
    return parsed && /^https?:$/.test(parsed.protocol) ? [{ url, parsed, words }] : []
  })
  const list = (found: readonly string[], state: ContentCheckState) => ({
    state: found.length === 0 ? ('good' as const) : state,
    count: found.length,
    found: [...new Set(found)].slice(0, MAX_FOUND),
  })
  const where = (of: (one: (typeof urls)[number]) => boolean) => urls.filter(of).map(({ url }) => url)
  const words = `${content.subject}\n${text ?? ''}\n${html ?? ''}`.toLowerCase().replaceAll(/\s+/g, ' ')
  const spam = SPAM_WORDS.filter((one) => words.includes(one))
  const checks: Readonly<Record<ContentCheckName, Omit<ContentCheck, 'name'>>> = {
    'one-click': oneClick(content),
    clipping: { state: htmlSize > CLIPPED_FROM ? 'hint' : 'good', count: htmlSize, found: [] },
    size: { state: size > LARGE_FROM ? 'hint' : 'good', count: size, found: [] },
    'text-part': { state: html !== undefined && text === undefined ? 'hint' : 'good', count: 0, found: [] },
    'links-plain': list(
      where(({ parsed }) => parsed.protocol === 'http:'),
      'hint',
    ),
    'links-short': list(
      where(({ parsed }) => SHORTENERS.has(parsed.hostname)),
      'bad',
    ),
    'links-numeric': list(
      where(({ parsed }) => /^[\d.]+$|^\[/.test(parsed.hostname)),
      'bad',
    ),
    'links-other': list(
      where(({ parsed, words: shown }) => showsOther(shown, parsed)),
      'bad',
    ),
    'images-alt': list(withoutAlt, 'hint'),
    // One alone says nothing.
    'spam-words': { state: spam.length > 1 ? 'hint' : 'good', count: spam.length, found: spam.slice(0, MAX_FOUND) },
  }
  return CONTENT_CHECKS.map((name) => ({ name, ...checks[name] }))
}

function oneClick({ headers, isBulk }: CheckedContent): Omit<ContentCheck, 'name'> {
  const value = (name: string) => headers.find((one) => one.name.toLowerCase() === name)?.value.toLowerCase() ?? ''
  const isGood =
    value('list-unsubscribe').includes('<https:') &&
    value('list-unsubscribe-post').trim() === 'list-unsubscribe=one-click'
  return { state: isGood ? 'good' : isBulk ? 'bad' : 'unneeded', count: 0, found: [] }
}

/** Whether the words of a link are a URL of another host, as those of phishing are. */
function showsOther(words: string, { hostname }: URL): boolean {
  const shown = words.trim()
  const url = /^(https?:\/\/|www\.)\S+$/i.test(shown)
    ? URL.parse(shown.startsWith('http') ? shown : `https://${shown}`)
    : null
  if (!url) return false
  const [a, b] = [url.hostname, hostname].map((name) => name.replace(/^www\./, '')) as [string, string]
  return a !== b && !a.endsWith(`.${b}`) && !b.endsWith(`.${a}`)
}
