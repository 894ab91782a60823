import { type Link, linksOfText, partsOf } from './html-parts.ts'
import type { Shown } from './show-message.ts'

/** How a recipient leaves (RFC 2369, RFC 8058). */
export interface UnsubscribeField {
  readonly header: string
  readonly post: string
  /** The first web address of the field; undefined if it has none. */
  readonly url: string | undefined
}

export interface MessageLinks {
  readonly links: readonly Link[]
  readonly hasMoreLinks: boolean
  /** Undefined if the message has no List-Unsubscribe. */
  readonly unsubscribe: UnsubscribeField | undefined
}

/** A link with what was found out about it. */
export interface JudgedLink extends Link {
  /** Where it leads: of a tracked link of this service, the address that is sealed in it. */
  readonly target: string
  readonly isTracked: boolean
  /** Undefined if it was not requested. */
  readonly status: LinkStatus | undefined
}

/** The answer to a request of a link: a status of HTTP, or 0 and the reason why there was none. */
export interface LinkStatus {
  readonly code: number
  readonly text: string
}

const MAX_FIELD = 4000
const WEB_ADDRESS = /<\s{0,9}(https?:[^<>\s]{1,2000})\s{0,9}>/i
const MAIL_ADDRESS = /<\s{0,9}(mailto:[^<>\s]{1,2000})\s{0,9}>/i

/** The links of the HTML; of a message without, those of its text. */
export function messageLinks({ message }: Shown): MessageLinks {
  const { links, hasMoreLinks } = message.html === null ? linksOfText(message.text ?? '') : partsOf(message.html)
  const field = (wanted: string) =>
    message.headers
      .find(({ name }) => name.toLowerCase() === wanted)
      ?.value.slice(0, MAX_FIELD)
      .replace(/\r?\n/g, '')
  const header = field('list-unsubscribe')
  const post = field('list-unsubscribe-post') ?? ''
  const unsubscribe = header === undefined ? undefined : { header, post, url: WEB_ADDRESS.exec(header)?.[1] }
  return { links, hasMoreLinks, unsubscribe }
}

/** The addresses of a List-Unsubscribe, at most one of each kind. */
export function unsubscribeAddresses({ header, url }: UnsubscribeField): readonly string[] {
  return [MAIL_ADDRESS.exec(header)?.[1], url].filter((one) => one !== undefined)
}
