import { replaceToHeader } from '../mime/replace-to-header.ts'
import { messageIdText } from '../submission/message-id.ts'
import { addToMime } from './add-to-mime.ts'
import type { BuiltMessage } from './built-message.ts'
import { composeMessage } from './compose.ts'
import type { ContentDocument } from './content.ts'
import { type FilledContent, fillContent } from './fill.ts'
import { type Addressee, addToCopy, type LinkOptions, urlsFor } from './links-for.ts'
import { isAddedTo, type LoadedMessage } from './load.ts'
import type { RecipientData } from './recipient-data.ts'

/** The data of a delivery that determine the bytes of its message. */
export interface Addressed extends Addressee {
  readonly personal: unknown
}

const documents = new WeakMap<LoadedMessage, ContentDocument>()

/** Returns the content of a composed message. */
export function documentOf(message: LoadedMessage): ContentDocument {
  let content = documents.get(message)
  if (!content) documents.set(message, (content = JSON.parse(bodyOf(message).toString()) as ContentDocument))
  return content
}

function bodyOf({ parts }: LoadedMessage): Buffer {
  const first = parts?.get(0)
  if (!first) throw new Error('the body of the message is not loaded')
  return first
}

/**
 * Builds the MIME message of one delivery synchronously, however long that takes; render-delivery.ts decides in which thread.
 * `rendered` is the result of its dynamic template. Throws Unrenderable.
 */
export function writeDelivery(
  message: LoadedMessage,
  delivery: Addressed,
  options: LinkOptions,
  rendered?: FilledContent,
): BuiltMessage {
  const first = bodyOf(message)
  const parts = message.parts ?? new Map()
  const addTo = isAddedTo(message) ? addToCopy(message, delivery, options) : undefined
  const personal = delivery.personal as RecipientData | null
  if (message.format === 'mime') {
    const { octets, notes } = addTo ? addToMime(parts, addTo) : { octets: first, notes: [] }
    return { octets: personal?.ownTo ? replaceToHeader(octets, personal.ownTo) : octets, notes }
  }
  const content = rendered?.content ?? documentOf(message)
  const urls = () => urlsFor(message, delivery, options)
  const octets = composeMessage({
    messageId: messageIdText(message.id),
    recipientNo: delivery.recipientNo,
    recipient: delivery.recipient,
    acceptedAt: message.acceptedAt,
    ...fillContent({ content, personal, urls }, rendered),
    parts,
    addTo,
  })
  return { octets, notes: [] }
}
