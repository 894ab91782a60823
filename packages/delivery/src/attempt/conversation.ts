import {
  BodyUnavailable,
  type Deferred,
  isAtLeast,
  isListed,
  type Outcome,
  type Parties,
  type Reply,
  type SendPermission,
  type Source,
  type Stage,
  type Step,
  type TlsNeed,
  type TlsSession,
  Unrenderable,
} from '@postrider/core'
import type { Endpoint } from '../common/endpoint.ts'
import { ConnectionLost, SessionRefused, TlsRefused } from '../common/smtp-errors.ts'
import type { ServerAbilities } from '../message/carried-message.ts'
import type { NextHop } from '../routing/mx.ts'
import type { NextHops } from '../routing/next-hops.ts'
import { elapsed, type SmtpConnection } from '../smtp/connection.ts'
import type { MessageOctets } from '../smtp/message-octets.ts'
import { type HostMemory, openSession } from '../smtp/session.ts'
import { runTransaction, type TransactionEnd } from '../smtp/transaction.ts'
import { isSamePolicy } from '../tls/host-level.ts'
import { countRefusedSession, countSession } from './attempt-metrics.ts'
import type { Connections } from './connections.ts'
import { buildFailure, lostReply, NO_HOST, tlsReply } from './own-replies.ts'
import { refusedResult, sessionResult } from './session-result.ts'

/** One message to one recipient, as sent to a server. */
export interface OutgoingMessage {
  readonly from: string
  readonly to: string
  /** Header fields to add on top. The signature among them is computed while the server responds to the envelope. */
  readonly head: Promise<string>
  /** Bytes of the head and the message. */
  readonly size: number
  readonly message: MessageOctets
  readonly utf8: boolean
  /** Why requested content could not be added, and what was encoded for this server. */
  readonly notes: readonly string[]
  /** Why the server cannot carry the message, which is then not offered. */
  readonly obstacle: Reply | undefined
  /** Records that end of data is about to be sent to this host, and returns whether it may be. */
  readonly beforeEndOfData: (host: string) => Promise<SendPermission>
}

export interface ConversationOptions {
  /** Builds the message for this server and keeps it in memory while `act` runs. Called only after a session is open: unreachable hosts take long. */
  readonly withMessage: <T>(server: ServerAbilities, act: (outgoing: OutgoingMessage) => Promise<T>) => Promise<T>
  readonly nextHop: Extract<NextHop, { kind: 'hosts' }>
  readonly onlyHost: string | null
  /** Number of the attempt, from 1. */
  readonly attempt: number
  readonly nextHops: NextHops
  /** The source address; the operating system chooses one if undefined. */
  readonly source: Source | undefined
  readonly heloName: string
  readonly memory: HostMemory
  readonly connections: Connections
  /** The TLS level that is demanded, and why. */
  readonly tls: TlsNeed
  /** Called with the result of each session that was opened, or that TLS has prevented. */
  readonly onSession?: (session: TlsSession) => void
  /** Called with the reply by which a server ended a kept session before the message was offered. */
  readonly onSessionEnded: (host: string, reply: Reply) => void
}

/** undefined: lease lost; the outcome must not be recorded. */
export type ConversationEnd = Outcome | undefined

/**
 * Offers a message to the hosts of its site until one of them decides. A host that cannot be reached or rejects the session is skipped.
 * Once a message was offered, the host's reply is final. After a connection lost at end of data, no other host is tried (RFC 1047).
 */
export async function converse(options: ConversationOptions): Promise<ConversationEnd> {
  const since = performance.now()
  const steps: Step[] = []
  const kept = await keptConnection(options)
  if (kept) {
    const end = await offer(kept, options, steps)
    if (!endedBetweenMessages(end)) return conclude(end, kept, options, { steps, since })
    if (end.kind === 'reply') options.onSessionEnded(kept.endpoint.host, end.reply)
    kept.close()
    await kept.closed
  }
  let last: Deferred | undefined
  for await (const endpoint of options.nextHops.endpoints(options.nextHop, options.onlyHost, options.source)) {
    const opened = await open(endpoint, options, steps)
    if (!('usable' in opened)) {
      last = deferral({ ...opened, endpoint, steps, since, tls: needAt(endpoint, options.tls) })
      continue
    }
    noteTested(opened, options.nextHop)
    countSession(opened)
    options.onSession?.(sessionResult(opened, options.nextHop.policy))
    const end = await offer(opened, options, steps)
    if (end.kind === 'lost' && end.stage === 'mail') {
      await opened.closed
      last = deferral({
        stage: end.stage,
        reply: lostReply(end.reason),
        endpoint,
        steps,
        since,
        tls: needAt(endpoint, options.tls),
      })
      continue
    }
    return conclude(end, opened, options, { steps, since })
  }
  return last ?? deferral({ stage: 'mx', reply: NO_HOST, endpoint: undefined, steps, since, tls: options.tls })
}

/** The message could not be built or read, and nothing was sent to the server. */
interface Unwritten {
  readonly kind: 'build-failed'
  readonly error: Unrenderable | BodyUnavailable
}

/** The server's reply, and the sender and recipient it refers to. */
type ServerReply = Extract<TransactionEnd, { kind: 'reply' }> & { readonly parties: Parties }

type OfferEnd = Exclude<TransactionEnd, { kind: 'reply' }> | ServerReply | Unwritten

/** Attempts after which a message that could not be built on a busy host is dropped. */
const MAX_BUILD_ATTEMPTS = 5

/** Whether a kept session ended between two messages, with or without a 421. That says nothing about this message. */
function endedBetweenMessages(end: OfferEnd): boolean {
  if (end.kind === 'lost') return end.stage === 'mail'
  return end.kind === 'reply' && end.stage === 'mail' && end.reply.code === 421
}

async function keptConnection({
  connections,
  onlyHost,
  tls,
  nextHop,
}: ConversationOptions): Promise<SmtpConnection | undefined> {
  const { kept } = connections
  if (!kept) return undefined
  const host = nextHop.hosts.find(({ name }) => name === kept.endpoint.host)
  const isSecure = isAtLeast(kept.level, tls.level) && isSamePolicy(kept.endpoint, host ?? {})
  if (kept.usable && isSecure && (onlyHost === null || kept.endpoint.host === onlyHost)) return kept
  kept.close()
  await kept.closed
  return undefined
}

async function open(
  endpoint: Endpoint,
  { heloName, memory, connections, tls, nextHop, onSession }: ConversationOptions,
  steps: Step[],
): Promise<SmtpConnection | { stage: Stage; reply: Reply }> {
  try {
    return await openSession(endpoint, { heloName, memory, steps, opened: connections.opened, level: tls.level })
  } catch (error) {
    if (error instanceof TlsRefused) countRefusedSession(endpoint.dane?.kind === 'usable' ? 'dane' : tls.level)
    const refused = refusedResult(endpoint, nextHop.policy, error)
    if (refused) onSession?.(refused)
    return sessionFailure(error)
  }
}

/** Under a policy that is only tested, mail is delivered all the same, and the attempt says what the policy would have refused (RFC 8461 5). */
function noteTested(connection: SmtpConnection, { policy }: ConversationOptions['nextHop']): void {
  if (policy?.mode !== 'testing') return
  const { endpoint, tls, isVerified } = connection
  const note = (problem: string): void => connection.note({ step: 'mta-sts', ms: 0, text: `testing: ${problem}` })
  if (!isListed(endpoint.host, policy.mx)) note('the policy does not list this host')
  else if (!isVerified) note(tls === undefined ? 'no TLS' : 'the certificate is not valid for this host')
}

/** A rejection before mail was offered concerns the session, not the message: it is temporary. */
function sessionFailure(error: unknown): { stage: Stage; reply: Reply } {
  if (error instanceof SessionRefused) return { stage: error.stage, reply: error.reply }
  if (error instanceof ConnectionLost) return { stage: error.stage, reply: lostReply(error.message) }
  if (error instanceof TlsRefused) return { stage: error.stage, reply: tlsReply(error) }
  throw error
}

async function offer(
  connection: SmtpConnection,
  { withMessage }: ConversationOptions,
  steps: Step[],
): Promise<OfferEnd> {
  const { capabilities } = connection
  const server = { eightBit: capabilities.has('8BITMIME'), utf8: capabilities.has('SMTPUTF8') }
  const end = await withMessage<OfferEnd>(server, async (outgoing) => {
    for (const text of outgoing.notes) connection.note({ step: 'content', ms: 0, text })
    const beforeEndOfData = (): Promise<SendPermission> => outgoing.beforeEndOfData(connection.endpoint.host)
    const end = await runTransaction(connection, { ...outgoing, beforeEndOfData })
    return end.kind === 'reply' ? { ...end, parties: { sender: outgoing.from, recipient: outgoing.to } } : end
  }).catch((error: unknown): Unwritten => {
    if (error instanceof Unrenderable || error instanceof BodyUnavailable) return { kind: 'build-failed', error }
    // An internal error; the session must be closed.
    connection.destroy()
    throw error
  })
  steps.push(...connection.takeSteps())
  if (end.kind === 'lost' || end.kind === 'indeterminate') connection.destroy()
  return end
}

function conclude(
  end: OfferEnd,
  connection: SmtpConnection,
  { connections, attempt, tls }: ConversationOptions,
  { steps, since }: { steps: Step[]; since: number },
): ConversationEnd {
  if (connection.usable) connections.keep(connection)
  const { host } = connection.endpoint
  const tried = {
    host,
    address: connection.address,
    ...(connection.tls ? { tls: connection.tls, tlsVerified: connection.isVerified } : {}),
    ...demanded(needAt(connection.endpoint, tls)),
    steps,
    milliseconds: elapsed(since),
  }
  switch (end.kind) {
    case 'lease-lost':
      return undefined
    case 'withheld':
      return { kind: 'dropped', reason: end.reason }
    case 'build-failed':
      if (end.error instanceof Unrenderable && (!end.error.passing || attempt >= MAX_BUILD_ATTEMPTS)) {
        return { kind: 'dropped', reason: 'rendering', problem: end.error.message }
      }
      return { kind: 'deferred', indeterminate: false, stage: 'mail', reply: buildFailure(end.error), ...tried }
    case 'lost':
      return { kind: 'deferred', indeterminate: false, stage: end.stage, reply: lostReply(end.reason), ...tried }
    case 'indeterminate':
      return { kind: 'deferred', indeterminate: true, stage: 'dot', reply: lostReply(end.reason), ...tried }
    case 'reply':
      return verdict(end, tried)
  }
}

/** RFC 4954 and 3207: these replies are about our session, and a later attempt may be accepted. */
const CONFIGURATION_ERROR_CODES = new Set([530, 534, 535, 538])

function verdict(
  { stage, reply, parties }: ServerReply,
  tried: Omit<Deferred, 'kind' | 'indeterminate' | 'stage' | 'reply'>,
): Outcome {
  if (stage === 'dot' && reply.code >= 200 && reply.code < 300) return { kind: 'delivered', stage, reply, ...tried }
  if (reply.code >= 500 && !CONFIGURATION_ERROR_CODES.has(reply.code) && !isTooManyRecipients(stage, reply))
    return { kind: 'bounced', stage, reply, parties, ...tried }
  return { kind: 'deferred', indeterminate: false, stage, reply, ...tried }
}

/** RFC 5321 4.5.3.1.10: some servers send 552 instead of 452. A full mailbox has the same code. */
function isTooManyRecipients(stage: Stage, { code, text }: Reply): boolean {
  return stage === 'rcpt' && code === 552 && /too many (recipients|rcpts?)\b/i.test(text)
}

/** The TLS level that is demanded of a host: its TLSA records may demand more than the delivery does. */
function needAt({ dane }: Endpoint, tls: TlsNeed): TlsNeed {
  if (dane?.kind === 'usable' && tls.level !== 'dane') return { level: 'dane', origin: 'dane' }
  return dane?.kind === 'unusable' && tls.level === 'opportunistic' ? { level: 'required', origin: 'dane' } : tls
}

function demanded({ level, origin }: TlsNeed): Pick<Deferred, 'tlsPolicy' | 'tlsOrigin'> {
  return origin === undefined ? {} : { tlsPolicy: level, tlsOrigin: origin }
}

function deferral(failure: {
  stage: Stage
  reply: Reply
  endpoint: Endpoint | undefined
  steps: Step[]
  since: number
  tls: TlsNeed
}): Deferred {
  const { stage, reply, endpoint, steps, since, tls } = failure
  return {
    kind: 'deferred',
    indeterminate: false,
    stage,
    reply,
    ...(endpoint ? { host: endpoint.host, address: endpoint.address } : {}),
    ...demanded(tls),
    steps,
    milliseconds: elapsed(since),
  }
}
