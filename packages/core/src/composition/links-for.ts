import type { UnsubscribeUrls } from '../content/substitution/unsubscribe-tags.ts'
import type { Secrets } from '../platform/secrets.ts'
import { messageIdText } from '../submission/message-id.ts'
import type { AddTo } from './adder.ts'
import { linksOf } from './links/links.ts'
import type { LoadedMessage } from './load.ts'

/** Where links lead that are put into mail. */
export interface LinkOptions {
  readonly secrets: Secrets
  /** The service's own. */
  readonly publicUrl: string
  readonly trackingScheme: 'http' | 'https'
}

/** There is no page of preferences: where one would choose, one leaves. */
export function urlsFor(message: LoadedMessage, delivery: Addressee, options: LinkOptions): UnsubscribeUrls {
  const { links } = linksFor(message, delivery, options)
  const group = links.unsubscribe()
  return { group, global: links.unsubscribeFromAll(), preferences: group }
}

export interface Addressee {
  readonly recipient: string
  readonly recipientNo: number
}

export function addToCopy(message: LoadedMessage, delivery: Addressee, options: LinkOptions): AddTo {
  return { additions: message.settings, ...linksFor(message, delivery, options) }
}

function linksFor(
  { id, accountId, settings }: LoadedMessage,
  { recipient: address, recipientNo }: Addressee,
  { secrets, publicUrl, trackingScheme }: LinkOptions,
): Pick<AddTo, 'links' | 'own'> {
  const own = settings.trackingHost && ownBase(settings.trackingHost, publicUrl, trackingScheme)
  const recipient = {
    accountId,
    messageId: messageIdText(id),
    recipientNo,
    group: settings.group ?? 0,
    key: address.toLowerCase(),
  }
  return {
    links: linksOf(secrets, own || publicUrl, recipient),
    own: [publicUrl, ...(own ? [own] : [])].map((base) => `${base}/t/`.toLowerCase()),
  }
}

/** An own host leads to where PUBLIC_URL does, and so to the same port, unless it is another scheme's. */
function ownBase(host: string, publicUrl: string, scheme: 'http' | 'https'): string {
  const { protocol, port } = new URL(publicUrl)
  return `${scheme}://${host}${port && protocol === `${scheme}:` ? `:${port}` : ''}`
}
