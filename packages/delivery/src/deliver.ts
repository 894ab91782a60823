import {
  type ClaimedDelivery,
  type Core,
  type DomainSigner,
  type DotLeave,
  dueFromOf,
  type LoadedMessage,
  messageIdText,
  release,
} from '@postrider/core'
import { type ConversationEnd, type ConversationOptions, converse, type Letter } from './conversation.ts'
import type { LargeBodies } from './large-bodies.ts'
import { signLetter } from './sign-letter.ts'
import type { Suspects } from './suspects.ts'

/** A claimed delivery with its message, in this worker's hands. */
export interface InHand {
  readonly delivery: ClaimedDelivery
  readonly message: LoadedMessage
}

export interface DeliverOptions extends Omit<ConversationOptions, 'withLetter' | 'onlyHost' | 'attempt'> {
  readonly core: Core
  readonly bodies: LargeBodies
  readonly suspects: Suspects
  readonly site: string
  readonly workerId: number
  readonly returnPathHost: string
  readonly markDot: (delivery: ClaimedDelivery, host: string) => Promise<DotLeave>
}

/**
 * Delivers one message to one recipient: still wanted? conversation, and once a session stands: body, signature, return
 * path. Pace and hosts were settled by the site it waited in. undefined: the lease is gone.
 */
export async function deliver({ delivery, message }: InHand, options: DeliverOptions): Promise<ConversationEnd> {
  const reason = delivery.suppression ?? message.loss
  if (reason !== null) return { kind: 'dropped', reason }
  return converse({
    ...options,
    onlyHost: delivery.onlyHost,
    attempt: delivery.attempt,
    withLetter: (act) => withLetter({ delivery, message }, options, act),
  })
}

/** A letter of so many octets may have grown out of a small body: a template and its data make up to 10 MB of it. */
const GROWN = { octets: 1024 * 1024, factor: 4 } as const
/** What a letter takes in memory, by its length. */
const WRITTEN = 1.5

/**
 * Writes the letter and runs `act` with it. One that has grown far beyond its body is let go, and written again (to the same
 * octets) when there is room for it, or a few thousand of them would take all memory.
 */
async function withLetter<T>(inHand: InHand, options: DeliverOptions, act: (letter: Letter) => Promise<T>): Promise<T> {
  const { delivery, message } = inHand
  const once = (most: number, octets?: number): Promise<{ readonly done: T } | { readonly octets: number }> =>
    options.bodies.with(
      message,
      options.site,
      async (loaded) => {
        const letter = await options.suspects.write(delivery, () => writeLetter({ delivery, message: loaded }, options))
        const { length } = letter.message
        return length > most ? { octets: Math.ceil(length * WRITTEN) } : { done: await act(letter) }
      },
      octets,
    )
  const first = await once(Math.max(GROWN.octets, message.size * GROWN.factor))
  if ('done' in first) return first.done
  const second = await once(Number.POSITIVE_INFINITY, first.octets)
  if ('octets' in second) throw new Error('a letter has no end')
  return second.done
}

async function writeLetter({ delivery, message }: InHand, options: DeliverOptions): Promise<Letter> {
  const { core, markDot } = options
  const made = core.messages.render(message, delivery)
  // Most are there at once.
  const rendered = made instanceof Promise ? await made : made
  return {
    from: await returnPath(delivery, message, options),
    to: delivery.recipient,
    head: await sign(message, delivery, rendered, core),
    message: rendered,
    release: () => releaseLarge(rendered, message),
    utf8: needsUtf8(delivery.recipient, rendered, message),
    beforeDot: (host) => markDot(delivery, host),
  }
}

/** Octets of a letter from which on it is not left to the garbage collection. Its blocks were flushed before its dot (transaction.ts). */
const LARGE = 1024 * 1024

function releaseLarge(rendered: Buffer, { parts }: LoadedMessage): void {
  if (rendered.length > LARGE && rendered !== parts?.get(0)) release(rendered)
}

/** Recipients of a relayed message who get the same octets share one signature. */
const shared = new WeakMap<LoadedMessage, Promise<string>>()

function sign(message: LoadedMessage, delivery: ClaimedDelivery, rendered: Buffer, core: Core): Promise<string> {
  const dueFrom = dueFromOf(message, delivery)
  const make = async (): Promise<string> => {
    return signLetter(message, rendered, { signer: await signerOf(message, core), signedAt: dueFrom })
  }
  if (rendered !== message.parts?.get(0) || dueFrom !== message.dueFrom.getTime()) return make()
  let signature = shared.get(message)
  if (!signature) shared.set(message, (signature = make()))
  return signature
}

async function signerOf({ domainId }: LoadedMessage, core: Core): Promise<DomainSigner> {
  const signer = await core.domains.signer(domainId)
  if (!signer) throw new Error('the sending domain has no DKIM key')
  return signer
}

async function returnPath(
  delivery: ClaimedDelivery,
  message: LoadedMessage,
  { core, returnPathHost }: DeliverOptions,
): Promise<string> {
  if (message.nullReturnPath) return ''
  const target = { messageId: messageIdText(delivery.messageId), recipientNo: delivery.recipientNo }
  const ownHost = (await signerOf(message, core)).returnPathHost
  return `${core.deliveries.returnPath(target, dueFromOf(message, delivery))}@${ownHost ?? returnPathHost}`
}

const HEADERS_END = Buffer.from('\r\n\r\n')

/** What our own Received field says of a message that came with SMTPUTF8 (RFC 6531 4.3). */
const CAME_WITH_UTF8 = /^Received:(?:[^\r\n]|\r\n[ \t]){0,1000}[ \t]with UTF8SMTP/

/**
 * SMTPUTF8 is asked for only where an address is non-ASCII, or where the client asked for it and a header field is (RFC 6531 3.4). Raw
 * octets that a client put into the header without it go on as they came, as they do everywhere: announced as UTF-8, which half of
 * them are not, they came back from every server without the extension.
 */
function needsUtf8(recipient: string, rendered: Buffer, { format }: LoadedMessage): boolean {
  if (isNonAscii(recipient)) return true
  const end = rendered.indexOf(HEADERS_END)
  const head = rendered.toString('latin1', 0, end === -1 ? rendered.length : end)
  // What is composed here has octets beyond ASCII in addresses only.
  return isNonAscii(head) && (format === 'content' || CAME_WITH_UTF8.test(head))
}

function isNonAscii(text: string): boolean {
  return /[^\x00-\x7f]/.test(text)
}
