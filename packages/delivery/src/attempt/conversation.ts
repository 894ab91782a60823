import {
  BodyUnavailable,
  type Deferred,
  isAtLeast,
  isListed,
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
import type { HostChoice } from '../routing/host-order.ts'
import type { NextHop } from '../routing/mx.ts'
import type { NextHops } from '../routing/next-hops.ts'
import type { SmtpConnection } from '../smtp/connection.ts'
import type { MessageOctets } from '../smtp/message-octets.ts'
import { type HostMemory, openSession } from '../smtp/session.ts'
import { runTransaction } from '../smtp/transaction.ts'
import { isSamePolicy } from '../tls/host-level.ts'
import { countRefusedSession, countSession } from './attempt-metrics.ts'
import {
  type Attempt,
  type ConversationEnd,
  conclude,
  deferral,
  ended,
  goesOn,
  type OfferEnd,
  ofSecond,
  type Unwritten,
} from './conclusion.ts'
import type { Connections } from './connections.ts'
import { lostReply, tlsReply } from './own-replies.ts'
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
  readonly hostChoice: HostChoice
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

/**
 * Offers a message to the hosts of its site in turn until one takes it or permanently refuses it (RFC 5321 5.1). A host that cannot be reached or
 * rejects the session is skipped. After two that refused the message for now the next attempt goes on, with the host behind them. After a
 * connection lost at end of data, no other host is tried (RFC 1047).
 */
export async function converse(options: ConversationOptions): Promise<ConversationEnd> {
  const steps: Step[] = []
  const hosts = { tried: new Set<string>(), refused: new Set<string>() }
  const attempt = { ...options, steps, since: performance.now(), ...hosts }
  const kept = await keptConnection(options)
  let first: Deferred | undefined
  if (kept) {
    const end = await offer(kept, options, steps)
    if (!endedBetweenMessages(end)) {
      hosts.tried.add(kept.endpoint.host)
      if (!goesOn(end, attempt)) return conclude(end, kept, attempt)
      first = await leave(end, kept, attempt)
    } else {
      if (end.kind === 'reply') options.onSessionEnded(kept.endpoint.host, end.reply)
      kept.close()
      await kept.closed
    }
  }
  let last: Deferred | undefined
  for await (const endpoint of options.nextHops.endpoints(
    options.nextHop,
    { ...options.hostChoice, ...hosts },
    options.source,
  )) {
    const opened = await open(endpoint, options, steps)
    if (!('usable' in opened)) {
      last = deferral(opened, endpoint, attempt)
      continue
    }
    noteTested(opened, options.nextHop)
    countSession(opened)
    options.onSession?.(sessionResult(opened, options.nextHop.policy))
    const end = await offer(opened, options, steps)
    if (end.kind === 'lost' && end.stage === 'mail') {
      await opened.closed
      last = deferral({ stage: end.stage, reply: lostReply(end.reason) }, endpoint, attempt)
      continue
    }
    if (first) return ofSecond(first, conclude(end, opened, attempt), attempt)
    if (!goesOn(end, attempt)) return conclude(end, opened, attempt)
    first = await leave(end, opened, attempt)
  }
  const end = first ?? last ?? (await options.nextHops.withoutEndpoints(options.nextHop))
  return end.kind === 'deferred' ? ended(end, attempt) : end
}

/** Whether a kept session ended between two messages, with or without a 421. That says nothing about this message. */
function endedBetweenMessages(end: OfferEnd): boolean {
  if (end.kind === 'lost') return end.stage === 'mail'
  return end.kind === 'reply' && end.stage === 'mail' && end.reply.code === 421
}

async function keptConnection({
  connections,
  hostChoice: { onlyHost, nextHost },
  tls,
  nextHop,
}: ConversationOptions): Promise<SmtpConnection | undefined> {
  const { kept } = connections
  if (!kept) return undefined
  const host = nextHop.hosts.find(({ name }) => name === kept.endpoint.host)
  const isSecure = isAtLeast(kept.level, tls.level) && isSamePolicy(kept.endpoint, host ?? {})
  const wanted = onlyHost ?? nextHost
  if (kept.usable && isSecure && (wanted === null || kept.endpoint.host === wanted)) return kept
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

/** Ends the session with a host that refused the message for now, so that the next one can be asked. */
async function leave(
  end: OfferEnd,
  connection: SmtpConnection,
  attempt: Attempt & { readonly refused: Set<string> },
): Promise<Deferred> {
  attempt.refused.add(connection.endpoint.host)
  const refused = conclude(end, connection, { ...attempt, connections: undefined })
  connection.close()
  await connection.closed
  return refused as Deferred
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
