import {
  type BodyUnavailable,
  bounceClass,
  type Deferred,
  HARD_CLASSES,
  type Outcome,
  type Parties,
  type Reply,
  retryAfterOf,
  type Stage,
  type Step,
  type TlsNeed,
  Unrenderable,
} from '@postrider/core'
import type { Endpoint } from '../common/endpoint.ts'
import { type HostChoice, inOrder } from '../routing/host-order.ts'
import type { NextHop } from '../routing/mx.ts'
import { elapsed, type SmtpConnection } from '../smtp/connection.ts'
import type { TransactionEnd } from '../smtp/transaction.ts'
import type { Connections } from './connections.ts'
import { buildFailure, lostReply } from './own-replies.ts'

/** The message could not be built or read, and nothing was sent to the server. */
export interface Unwritten {
  readonly kind: 'build-failed'
  readonly error: Unrenderable | BodyUnavailable
}

/** The server's reply, and the sender and recipient it refers to. */
type ServerReply = Extract<TransactionEnd, { kind: 'reply' }> & { readonly parties: Parties }

export type OfferEnd = Exclude<TransactionEnd, { kind: 'reply' }> | ServerReply | Unwritten

/** undefined: lease lost; the outcome must not be recorded. */
export type ConversationEnd = Outcome | undefined

/** An attempt in progress. */
export interface Attempt {
  readonly nextHop: Extract<NextHop, { kind: 'hosts' }>
  readonly hostChoice: HostChoice
  /** Names of the hosts that were tried, or have no address. */
  readonly tried: ReadonlySet<string>
  readonly tls: TlsNeed
  readonly steps: Step[]
  /** performance.now() when it began. */
  readonly since: number
}

/** Attempts after which a message that could not be built on a busy host is dropped. */
const MAX_BUILD_ATTEMPTS = 5

/** The host at which the next attempt begins; undefined: at the best one again, since all were tried. */
function nextHostOf({ nextHop, hostChoice, tried }: Attempt): string | undefined {
  if (nextHop.hosts.length === 1) return undefined
  return inOrder(nextHop.hosts, hostChoice).find(({ name }) => !tried.has(name))?.name
}

/**
 * Whether the next host is offered the message, too: this one cannot take it now, and there is another. A reply about the rate of mail, such as
 * that of a greylist, or with a time to wait speaks of all hosts.
 */
export function goesOn(end: OfferEnd, attempt: Attempt): boolean {
  if (end.kind === 'reply') {
    const { reply, stage } = end
    if (!isTemporary(end) || isAboutRate(reply, stage)) return false
  } else if (end.kind !== 'lost') return false
  return nextHostOf(attempt) !== undefined
}

function isAboutRate({ enhanced, text }: Reply, stage: Stage): boolean {
  return bounceClass(enhanced, text, { stage }) === 'rate' || retryAfterOf(text) !== undefined
}

/**
 * The outcome of an attempt whose first host refused the message for now, and whose second one ended like this. A second host often is one that
 * does not know the domain: only of the address its refusal is final.
 */
export function ofSecond(first: Deferred, second: ConversationEnd, attempt: Attempt): ConversationEnd {
  if (second?.kind === 'deferred')
    return second.reply.code === 0 && !second.indeterminate ? ended(first, attempt) : second
  if (second?.kind !== 'bounced') return second
  const { reply, stage, parties } = second
  return HARD_CLASSES.includes(bounceClass(reply.enhanced, reply.text, { stage, parties }))
    ? second
    : ended(first, attempt)
}

/** The outcome with which all hosts of an attempt were passed over: with its whole conversation. */
export function ended(outcome: Deferred, attempt: Attempt): Deferred {
  return { ...outcome, ...continued(attempt), milliseconds: elapsed(attempt.since) }
}

function continued(attempt: Attempt): Pick<Deferred, 'nextHost'> {
  const nextHost = nextHostOf(attempt)
  return nextHost === undefined ? {} : { nextHost }
}

/** The outcome of an attempt that ended with this host. Its session is kept for further messages, if there are connections to keep it. */
export function conclude(
  end: OfferEnd,
  connection: SmtpConnection,
  { connections, ...attempt }: Attempt & { readonly connections: Pick<Connections, 'keep'> | undefined },
): ConversationEnd {
  if (connection.usable) connections?.keep(connection)
  const { host } = connection.endpoint
  const { steps, since, tls } = attempt
  const at = {
    host,
    address: connection.address,
    ...(connection.tls ? { tls: connection.tls, tlsVerified: connection.isVerified } : {}),
    ...demanded(needAt(connection.endpoint, tls)),
    steps,
    milliseconds: elapsed(since),
  }
  // Nearly all are delivered, and need no order of the hosts.
  const deferred = () => ({ kind: 'deferred', indeterminate: false, ...continued(attempt), ...at }) as const
  switch (end.kind) {
    case 'lease-lost':
      return undefined
    case 'withheld':
      return { kind: 'dropped', reason: end.reason }
    case 'build-failed':
      if (
        end.error instanceof Unrenderable &&
        (!end.error.passing || attempt.hostChoice.attempt >= MAX_BUILD_ATTEMPTS)
      ) {
        return { kind: 'dropped', reason: 'rendering', problem: end.error.message }
      }
      return { ...deferred(), stage: 'mail', reply: buildFailure(end.error) }
    case 'lost':
      return { ...deferred(), stage: end.stage, reply: lostReply(end.reason) }
    case 'indeterminate':
      return { ...deferred(), indeterminate: true, stage: 'dot', reply: lostReply(end.reason) }
    case 'reply': {
      const { stage, reply, parties } = end
      // It speaks of all hosts, so the next attempt begins with the best one.
      if (isTemporary(end) && isAboutRate(reply, stage)) return { ...deferred(), nextHost: undefined, stage, reply }
      if (isTemporary(end)) return { ...deferred(), stage, reply }
      const kind = stage === 'dot' && isPositive(reply) ? 'delivered' : 'bounced'
      return kind === 'delivered' ? { kind, stage, reply, ...at } : { kind, stage, reply, parties, ...at }
    }
  }
}

/** RFC 4954 and 3207: these replies are about our session, and a later attempt may be accepted. */
const CONFIGURATION_ERROR_CODES = new Set([530, 534, 535, 538])

function isTemporary({ stage, reply }: ServerReply): boolean {
  if (stage === 'dot' && isPositive(reply)) return false
  return reply.code < 500 || CONFIGURATION_ERROR_CODES.has(reply.code) || isTooManyRecipients(stage, reply)
}

function isPositive({ code }: Reply): boolean {
  return code >= 200 && code < 300
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

/** The outcome of an attempt if this host was the last one, and was not offered the message. */
export function deferral(
  { stage, reply }: Pick<Deferred, 'stage' | 'reply'>,
  endpoint: Endpoint,
  { steps, since, tls }: Attempt,
): Deferred {
  return {
    kind: 'deferred',
    indeterminate: false,
    stage,
    reply,
    host: endpoint.host,
    address: endpoint.address,
    ...demanded(needAt(endpoint, tls)),
    steps,
    milliseconds: elapsed(since),
  }
}
