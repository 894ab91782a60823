import { linksOfText, partsOf } from './html-parts.ts'
import type { MessageLinks, UnsubscribeField } from './judged-link.ts'
import type { Shown } from './show-message.ts'

const MAX_FIELD = 4000

/** The links of the HTML; of a message without, those of its text. */
export function messageLinks({ message }: Shown): MessageLinks {
  const links = message.html === null ? linksOfText(message.text ?? '') : partsOf(message.html).links
  const field = (wanted: string) =>
    message.headers
      .find(({ name }) => name.toLowerCase() === wanted)
      ?.value.slice(0, MAX_FIELD)
      .replace(/\r?\n/g, '')
  const header = field('list-unsubscribe')
  const post = field('list-unsubscribe-post') ?? ''
  const unsubscribe = header === undefined ? undefined : { header, post, url: addressOf(header, ['https:', 'http:']) }
  return { links, unsubscribe }
}

/** The addresses of a List-Unsubscribe, at most one of each kind. */
export function unsubscribeAddresses({ header, url }: UnsubscribeField): readonly string[] {
  return [addressOf(header, ['mailto:']), url].filter((one) => one !== undefined)
}

/** The first address in angle brackets that begins with one of these. */
function addressOf(header: string, schemes: readonly string[]): string | undefined {
  const addresses = header
    .split('<')
    .flatMap((piece) => (piece.includes('>') ? [(piece.split('>', 1)[0] ?? '').trim()] : []))
  return addresses.find((address) => schemes.some((scheme) => address.toLowerCase().startsWith(scheme)))
}
