import {
  type ClaimedDelivery,
  type Core,
  type DomainSigner,
  dueFromOf,
  type LoadedMessage,
  messageIdText,
  type SendPermission,
  UNDEMANDING,
} from '@postrider/core'
import { addedFields } from '../message/added-fields.ts'
import { carriedMessage, needsUtf8, type ServerAbilities } from '../message/carried-message.ts'
import { signMessage } from '../message/sign-message.ts'
import { addressSeenAt } from '../routing/worker-sources.ts'
import { endsWithCrlf, MessageOctets } from '../smtp/message-octets.ts'
import type { Building } from './building.ts'
import type { ConversationEnd } from './conclusion.ts'
import { type ConversationOptions, converse, type OutgoingMessage } from './conversation.ts'

/** A claimed delivery with its message. */
interface LoadedDelivery {
  readonly delivery: ClaimedDelivery
  readonly message: LoadedMessage
}

export interface InFlightDelivery extends LoadedDelivery {
  /** performance.now() when it was claimed. */
  readonly takenAt: number
}

export interface DeliverOptions extends Omit<ConversationOptions, 'withMessage' | 'onSession' | 'hostChoice'> {
  readonly core: Core
  readonly building: Building
  readonly site: string
  readonly workerId: number
  readonly returnPathHost: string
  readonly recordEndOfData: (delivery: ClaimedDelivery, host: string) => Promise<SendPermission>
}

/**
 * Delivers one message to one recipient: checks for a suppression, opens a session, builds and signs the message, and runs the SMTP
 * transaction. The site has already limited the rate and chosen the hosts. undefined: lease lost.
 */
export async function deliver(
  { delivery, message }: InFlightDelivery,
  options: DeliverOptions,
): Promise<ConversationEnd> {
  const reason = delivery.suppression ?? message.loss
  if (reason !== null) return { kind: 'dropped', reason }
  return converse({
    ...options,
    hostChoice: { ...delivery, seed: `${delivery.messageId} ${delivery.recipientNo}` },
    ...countingOf({ delivery, message }, options),
    withMessage: (server, act) => withMessage({ delivery, message }, { ...options, server }, act),
  })
}

interface BuildOptions extends DeliverOptions {
  /** The server of the open session. */
  readonly server: ServerAbilities
}

/** Size above which a message may be much larger than its stored body: a template and its data can expand to 10 MB. */
const EXPANDED = { octets: 1024 * 1024, factor: 4 } as const

/** Sessions count for the TLS report of the recipient's domain; those that deliver such reports do not (RFC 8460 5.3). */
function countingOf(
  { delivery, message }: LoadedDelivery,
  { core: { tls }, source }: Pick<DeliverOptions, 'core' | 'source'>,
): Pick<ConversationOptions, 'onSession'> {
  if (message.settings.tls === UNDEMANDING) return {}
  return {
    onSession: (session) => {
      const sendingIp = source && addressSeenAt(source, session.receivingIp ?? '')
      tls.results.count(delivery.recipientDomain, { ...session, sendingIp })
    },
  }
}

/**
 * Builds the message and runs `act` with it. A message that has become much larger than its body is released and built again (with the
 * same bytes) once the budget has capacity for it; otherwise a few thousand of them would exhaust the memory.
 */
async function withMessage<T>(
  inFlight: LoadedDelivery,
  options: BuildOptions,
  act: (outgoing: OutgoingMessage) => Promise<T>,
): Promise<T> {
  const { delivery, message } = inFlight
  const { bodies, suspects, turns } = options.building
  const send = (most: number, size?: number): Promise<{ readonly done: T } | { readonly size: number }> =>
    bodies.with(
      message,
      options.site,
      {
        build: (loaded) =>
          suspects.write(delivery, async () => {
            await turns.take(delivery)
            return buildMessage({ delivery, message: loaded }, options)
          }),
        send: async (outgoing) => {
          const { length } = outgoing.message
          if (length <= most) return { done: await act(outgoing) }
          outgoing.message.release()
          return { size: length }
        },
      },
      size,
    )
  const first = await send(Math.max(EXPANDED.octets, message.size * EXPANDED.factor))
  if ('done' in first) return first.done
  const second = await send(Number.POSITIVE_INFINITY, first.size)
  if ('size' in second) throw new Error('a message exceeds any limit')
  return second.done
}

async function buildMessage({ delivery, message }: LoadedDelivery, options: BuildOptions): Promise<OutgoingMessage> {
  const { core, recordEndOfData } = options
  const rendering = core.messages.render(message, delivery)
  // Rendering is usually synchronous.
  const built = rendering instanceof Promise ? await rendering : rendering
  const carrying = carriedMessage(built, message, options.server, core)
  const { octets: rendered, notes, obstacle } = carrying instanceof Promise ? await carrying : carrying
  const dueFrom = dueFromOf(message, delivery)
  const target = { messageId: messageIdText(delivery.messageId), recipientNo: delivery.recipientNo }
  const returnPath = core.deliveries.returnPath(target, dueFrom)
  const reference = core.deliveries.reference(target, dueFrom)
  const signer = await signerOf(message, core)
  const signing = core.domains.operatorSigner()
  const operator = signing instanceof Promise ? await signing : signing
  const { feedbackSender } = core.deliveries
  const added = addedFields(message, delivery, rendered, { reference, feedbackSender })
  const signature = await signMessage(message, rendered, { added, signer, operator, signedAt: dueFrom })
  const head = signature.fields.then((fields) => fields + added)
  // If the server rejects the envelope, it is never awaited.
  head.catch(() => {})
  return {
    from: message.nullReturnPath ? '' : `${returnPath}@${signer.returnPathHost ?? options.returnPathHost}`,
    to: delivery.recipient,
    head,
    // With the line end before the dot, which is added if there is none (RFC 1870 5).
    size: signature.length + added.length + rendered.length + (endsWithCrlf(rendered) ? 0 : 2),
    message: new MessageOctets(rendered, { isOwn: rendered !== message.parts?.get(0) }),
    utf8: needsUtf8(delivery.recipient, rendered, message),
    notes,
    obstacle,
    beforeEndOfData: (host) => recordEndOfData(delivery, host),
  }
}

async function signerOf({ domainId }: LoadedMessage, core: Core): Promise<DomainSigner> {
  const signer = await core.domains.signer(domainId)
  if (!signer) throw new Error('the sending domain has no DKIM key')
  return signer
}
