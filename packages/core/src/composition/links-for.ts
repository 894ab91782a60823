import type { UnsubscribeUrls } from '../content/substitution/unsubscribe-tags.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { messageIdText } from '../submission/message-id.ts'
import type { AddTo } from './adder.ts'
import { createLinks } from './links/links.ts'
import type { LoadedMessage } from './load.ts'

/** Hosts and keys of the links that are added to mail. */
export interface LinkOptions {
  readonly secrets: Secrets
  /** Base URL of the service, used if the domain has no custom host. */
  readonly publicUrl: string
  readonly trackingScheme: 'http' | 'https'
}

/** Returns the unsubscribe URLs of a delivery. */
export function urlsFor(message: LoadedMessage, delivery: Addressee, options: LinkOptions): UnsubscribeUrls {
  const { links } = linksFor(message, delivery, options)
  return { group: links.unsubscribe(), global: links.unsubscribeFromAll(), preferences: links.preferences() }
}

export interface Addressee {
  readonly recipient: string
  readonly recipientNo: number
}

/** Returns what is added to the copy of one recipient. */
export function addToCopy(message: LoadedMessage, delivery: Addressee, options: LinkOptions): AddTo {
  return { additions: message.settings, ...linksFor(message, delivery, options) }
}

function linksFor(
  { id, accountId, settings }: LoadedMessage,
  { recipient: address, recipientNo }: Addressee,
  { secrets, publicUrl, trackingScheme }: LinkOptions,
): Pick<AddTo, 'links' | 'own'> {
  const own = settings.trackingHost && customBase(settings.trackingHost, publicUrl, trackingScheme)
  const recipient = {
    accountId,
    messageId: messageIdText(id),
    recipientNo,
    group: settings.group ?? 0,
    key: address.toLowerCase(),
  }
  return {
    links: createLinks(secrets, own || publicUrl, recipient),
    own: [publicUrl, ...(own ? [own] : [])].map((base) => `${base}/t/`.toLowerCase()),
  }
}

/** A custom host reaches the same server as PUBLIC_URL and so has the same port, unless the schemes differ. */
function customBase(host: string, publicUrl: string, scheme: 'http' | 'https'): string {
  const { protocol, port } = new URL(publicUrl)
  return `${scheme}://${host}${port && protocol === `${scheme}:` ? `:${port}` : ''}`
}
