import {
  type Deferred,
  type DotLeave,
  type Outcome,
  type Parties,
  type Reply,
  type Stage,
  type Step,
  Unrenderable,
} from '@postrider/core'
import type { Route } from './mx.ts'
import type { Routes } from './routes.ts'
import { ConnectionLost, type Endpoint, elapsed, SessionRefused, type SmtpConnection } from './smtp/connection.ts'
import { cutText, KEPT } from './smtp/reply-reader.ts'
import { type HostMemory, openSession } from './smtp/session.ts'
import { runTransaction, type TransactionEnd } from './smtp/transaction.ts'

/** What one delivery says to a server. */
export interface Letter {
  readonly from: string
  readonly to: string
  readonly head: string
  readonly message: Buffer
  /** Gives its memory back, once all of it has left for the kernel. */
  readonly release: () => void
  readonly utf8: boolean
  /** Notes that the final dot is about to go to this host, if it may. */
  readonly beforeDot: (host: string) => Promise<DotLeave>
}

export interface ConversationOptions {
  /** Writes the letter and has it in memory while `act` runs: not before a session stands, since dead hosts keep us waiting. */
  readonly withLetter: <T>(act: (letter: Letter) => Promise<T>) => Promise<T>
  readonly route: Extract<Route, { kind: 'hosts' }>
  readonly onlyHost: string | null
  /** Which one of the delivery this is, from 1. */
  readonly attempt: number
  readonly routes: Routes
  readonly heloName: string
  readonly memory: HostMemory
  /** A kept session of this site, or undefined. */
  readonly reuse: () => SmtpConnection | undefined
  /** Takes a session back that can carry more. */
  readonly keep: (connection: SmtpConnection) => void
}

/** undefined: the lease is gone, and with it the right to say anything about this delivery. */
export type ConversationEnd = Outcome | undefined

/**
 * Offers a letter to the hosts of its site until one gives a verdict. A host that can't be reached or refuses the session is
 * passed over for the next one; once mail was offered its word counts; after a lost final dot no other host is tried (RFC 1047).
 */
export async function converse(options: ConversationOptions): Promise<ConversationEnd> {
  const since = performance.now()
  const steps: Step[] = []
  const kept = keptConnection(options)
  if (kept) {
    const end = await offer(kept, options, steps)
    if (!diedBetween(end)) return conclude(end, kept, options, { steps, since })
  }
  let last: Deferred | undefined
  for await (const endpoint of options.routes.endpoints(options.route, options.onlyHost)) {
    const opened = await open(endpoint, options, steps)
    if (!('usable' in opened)) {
      last = deferral({ ...opened, endpoint, steps, since })
      continue
    }
    const end = await offer(opened, options, steps)
    if (end.kind === 'lost' && end.stage === 'mail') {
      last = deferral({ stage: end.stage, reply: lostReply(end.reason), endpoint, steps, since })
      continue
    }
    return conclude(end, opened, options, { steps, since })
  }
  return last ?? deferral({ stage: 'mx', reply: unresolved, endpoint: undefined, steps, since })
}

/** There is no letter for this recipient, and nothing was said to the server. */
interface Unwritten {
  readonly kind: 'unwritten'
  readonly error: Unrenderable
}

/** The server's verdict, and on whose message to whom. */
type Answered = Extract<TransactionEnd, { kind: 'reply' }> & { readonly parties: Parties }

type OfferEnd = Exclude<TransactionEnd, { kind: 'reply' }> | Answered | Unwritten

/** Attempts after which a letter that might yet be written, were this host less busy, is given up. */
const WRITING_ATTEMPTS = 5

/** A kept session that ended between two messages, with or without a 421, says nothing about this one. */
function diedBetween(end: OfferEnd): boolean {
  if (end.kind === 'lost') return end.stage === 'mail'
  return end.kind === 'reply' && end.stage === 'mail' && end.reply.code === 421
}

const unresolved: Reply = { code: 451, enhanced: '4.4.3', text: 'no host of the domain has an address to connect to' }

function keptConnection({ reuse, onlyHost }: ConversationOptions): SmtpConnection | undefined {
  const kept = reuse()
  if (!kept) return undefined
  if (onlyHost === null || kept.endpoint.host === onlyHost) return kept
  kept.close()
  return undefined
}

async function open(
  endpoint: Endpoint,
  { heloName, memory }: ConversationOptions,
  steps: Step[],
): Promise<SmtpConnection | { stage: Stage; reply: Reply }> {
  try {
    return await openSession(endpoint, { heloName, memory, steps })
  } catch (error) {
    return sessionFailure(error)
  }
}

/** Whatever a host says before mail was offered is about the session, not about the mail: temporary. */
function sessionFailure(error: unknown): { stage: Stage; reply: Reply } {
  if (error instanceof SessionRefused) return { stage: error.stage, reply: error.reply }
  if (error instanceof ConnectionLost) return { stage: error.stage, reply: lostReply(error.message) }
  throw error
}

function lostReply(reason: string): Reply {
  return { code: 0, enhanced: '4.4.1', text: cutText(reason, KEPT) }
}

async function offer(
  connection: SmtpConnection,
  { withLetter }: ConversationOptions,
  steps: Step[],
): Promise<OfferEnd> {
  const end = await withLetter<OfferEnd>(async (letter) => {
    const beforeDot = (): Promise<DotLeave> => letter.beforeDot(connection.endpoint.host)
    const end = await runTransaction(connection, { ...letter, beforeDot })
    if (end.kind !== 'reply') return end
    if (end.stage === 'dot') letter.release()
    return { ...end, parties: { sender: letter.from, recipient: letter.to } }
  }).catch((error: unknown): Unwritten => {
    if (error instanceof Unrenderable) return { kind: 'unwritten', error }
    // Our own fault; the session must not be left behind with it.
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
  { keep, attempt }: ConversationOptions,
  { steps, since }: { steps: Step[]; since: number },
): ConversationEnd {
  if (connection.usable) keep(connection)
  const { host } = connection.endpoint
  const tried = {
    host,
    address: connection.address,
    ...(connection.tls ? { tls: connection.tls } : {}),
    steps,
    milliseconds: elapsed(since),
  }
  switch (end.kind) {
    case 'lease-lost':
      return undefined
    case 'withheld':
      return { kind: 'dropped', reason: end.reason }
    case 'unwritten':
      if (!end.error.passing || attempt >= WRITING_ATTEMPTS) {
        return { kind: 'dropped', reason: 'rendering', problem: end.error.message }
      }
      return { kind: 'deferred', indeterminate: false, stage: 'mail', reply: unwritten(end.error), ...tried }
    case 'lost':
      return { kind: 'deferred', indeterminate: false, stage: end.stage, reply: lostReply(end.reason), ...tried }
    case 'indeterminate':
      return { kind: 'deferred', indeterminate: true, stage: 'dot', reply: lostReply(end.reason), ...tried }
    case 'reply':
      return verdict(end, tried)
  }
}

/** RFC 4954 and 3207: what these say is about our session, and another try may be let in. */
const OURS_TO_MEND = new Set([530, 534, 535, 538])

function unwritten({ message }: Unrenderable): Reply {
  return { code: 451, enhanced: '4.3.0', text: message }
}

function verdict(
  { stage, reply, parties }: Answered,
  tried: Omit<Deferred, 'kind' | 'indeterminate' | 'stage' | 'reply'>,
): Outcome {
  if (stage === 'dot' && reply.code >= 200 && reply.code < 300) return { kind: 'delivered', stage, reply, ...tried }
  if (reply.code >= 500 && !OURS_TO_MEND.has(reply.code) && !isTooManyRecipients(stage, reply))
    return { kind: 'bounced', stage, reply, parties, ...tried }
  return { kind: 'deferred', indeterminate: false, stage, reply, ...tried }
}

/** RFC 5321 4.5.3.1.10: some servers say 552 where 452 is meant. A full mailbox is told with the same code. */
function isTooManyRecipients(stage: Stage, { code, text }: Reply): boolean {
  return stage === 'rcpt' && code === 552 && /too many (recipients|rcpts?)\b/i.test(text)
}

function deferral(failure: {
  stage: Stage
  reply: Reply
  endpoint: Endpoint | undefined
  steps: Step[]
  since: number
}): Deferred {
  const { stage, reply, endpoint, steps, since } = failure
  return {
    kind: 'deferred',
    indeterminate: false,
    stage,
    reply,
    ...(endpoint ? { host: endpoint.host, address: endpoint.address } : {}),
    steps,
    milliseconds: elapsed(since),
  }
}
