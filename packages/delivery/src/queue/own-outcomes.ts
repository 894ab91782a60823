import type { DamagedBody, Deferred, Outcome, Reply, Stage, WaitingFor } from '@postrider/core'
import type { Destination } from '../destinations/destination.ts'
import type { SiteHealth } from '../destinations/site-health.ts'
import { cutText, MAX_KEPT_BYTES } from '../smtp/reply-reader.ts'
import { siteOfSessions } from '../tls/policy.ts'

/** Whether no connection could be opened because the source address is not one of this host. */
export function isWithoutAddress(outcome: Outcome | undefined): boolean {
  if (outcome?.kind !== 'deferred' || outcome.stage !== 'connect') return false
  return outcome.reply.code === 0 && outcome.reply.text === 'EADDRNOTAVAIL'
}

/** An error of this service, so that the delivery is tried again. */
export const INTERNAL_ERROR: Deferred = {
  kind: 'deferred',
  indeterminate: false,
  stage: 'mx',
  reply: { code: 451, enhanced: '4.3.0', text: 'internal error of this service', own: true },
  steps: [],
  milliseconds: 0,
}

/** The outcome without an attempt of a message that must not arrive after its deadline. It is expired. */
export const TOO_LATE: Deferred = {
  ...INTERNAL_ERROR,
  reply: { code: 0, enhanced: '4.4.7', text: 'not attempted: the deadline of the message has passed' },
}

/** The outcome without an attempt of a message whose lifetime ended while its destination had no capacity for it. It is expired. */
export function endedWaiting(waitingFor: WaitingFor | 'hold'): Deferred {
  const text = `not attempted: ${WAITED[waitingFor]} until the message expired`
  return { ...INTERNAL_ERROR, reply: { code: 0, enhanced: '4.4.7', text } }
}

const WAITED: Readonly<Record<WaitingFor | 'hold', string>> = {
  hold: 'the operator held it',
  connections: 'all connections that the provider allows were in use',
  rate: 'the rate that the provider allows was used up',
  pause: 'delivery to the provider was paused',
  'warm-up': 'the daily limit of its source addresses, which are new, was used up',
  source: 'none of its source addresses could send',
  account: 'mail of the account was held or slowed',
}

/** Temporary: if the body is restored in time, the message is still delivered. */
export function damaged({ message }: DamagedBody): Deferred {
  return { ...INTERNAL_ERROR, reply: { ...INTERNAL_ERROR.reply, text: message } }
}

/** Host names and addresses that fit everywhere. */
const PLAIN = /^[!-~]{1,255}$/

/**
 * The outcome without what a server said, when the database does not take it with that. It stays what it was: a message that was delivered must
 * not be sent again because its receiver's reply cannot be stored.
 */
export function reduced(outcome: Outcome): Outcome {
  if (outcome.kind === 'dropped') return { kind: 'dropped', reason: outcome.reason }
  const { stage, host, address, reply } = outcome
  const said = { code: reply.code, enhanced: reply.enhanced, text: 'the reply could not be stored', own: true } as const
  const common = { stage, reply: said, steps: [], milliseconds: 0, ...plain({ host, address }) }
  if (outcome.kind !== 'deferred') return { kind: outcome.kind, ...common }
  return { kind: 'deferred', indeterminate: outcome.indeterminate, ...common, ...plain({ nextHost: outcome.nextHost }) }
}

function plain<K extends string>(fields: { readonly [name in K]: string | undefined }): { [name in K]?: string } {
  const kept = Object.entries<string | undefined>(fields).filter(([, text]) => text !== undefined && PLAIN.test(text))
  return Object.fromEntries(kept) as { [name in K]?: string }
}

/**
 * The outcome without an attempt, while the hosts of a site are known to be unreachable, to refuse sessions, or to lack the TLS that is demanded.
 */
export function siteDown({ health }: Destination, sessions: string): Outcome {
  const [host = ''] = siteOfSessions(sessions).split(' ')
  const { stage, reply } = whyDown(health, sessions)
  const { code, enhanced, text } = reply
  const step = { step: stage, ms: 0, ...(code > 0 ? { code, enhanced } : {}), text }
  return { kind: 'deferred', indeterminate: false, stage, reply, host, steps: [step], milliseconds: 0 }
}

function whyDown(health: SiteHealth, sessions: string): { readonly stage: Stage; readonly reply: Reply } {
  const text = (problem: string): string => `not attempted: the hosts ${problem} within the last 30 seconds`
  if (health.lacksTls(sessions)) {
    const reply = {
      code: 0,
      enhanced: '4.7.5',
      text: text('did not have the TLS that is required'),
      own: true,
    } as const
    return { stage: 'tls', reply }
  }
  const refusal = health.refusal(sessions)
  if (!refusal) return { stage: 'connect', reply: { code: 0, enhanced: '4.4.1', text: text('were unreachable') } }
  const quoted = `${text('refused the session')}: ${refusal.code} ${refusal.enhanced} ${refusal.text}`
  return { stage: 'greeting', reply: { code: 0, enhanced: '4.4.1', text: cutText(quoted, MAX_KEPT_BYTES), own: true } }
}

/** The fields of an outcome that are logged. */
export function summary(outcome: Outcome): Record<string, unknown> {
  if (outcome.kind === 'dropped') return { reason: outcome.reason }
  const { stage, host, reply, milliseconds } = outcome
  return { stage, host, code: reply.code, milliseconds }
}
