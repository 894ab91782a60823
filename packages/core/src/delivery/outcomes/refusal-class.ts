import { type BounceClass, bounceClass } from './bounce-rules.ts'
import type { Outcome } from './outcome.ts'
import { GREYLISTED } from './refusal-meaning.ts'

/** Classes of replies about the address or mailbox of one recipient, which say nothing of other mail. */
const OF_RECIPIENT: ReadonlySet<BounceClass> = new Set([
  'bad-mailbox',
  'bad-domain',
  'moved',
  'not-accepting',
  'mailbox-full',
  'mailbox-inactive',
])

/**
 * The class of the reply with which a server refused mail or a session, for this service, the sender, the message, how much is sent, or a fault.
 * Undefined if it accepted, if no server replied, and for what concerns one recipient or is greylisting.
 */
export function refusalClass(outcome: Outcome): BounceClass | undefined {
  if (outcome.kind === 'delivered' || outcome.kind === 'dropped') return undefined
  const { reply, stage, host } = outcome
  if (reply.code < 400 || reply.own || host === undefined || GREYLISTED.test(reply.text)) return undefined
  const parties = outcome.kind === 'bounced' ? outcome.parties : undefined
  const found = bounceClass(reply.enhanced, reply.text, parties === undefined ? { stage } : { parties, stage })
  return OF_RECIPIENT.has(found) ? undefined : found
}
