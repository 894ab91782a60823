import type { ClaimedDelivery, Dropped, Outcome, Reply, Stage } from '@postrider/core'

/** Milliseconds a site is not contacted after no session could be opened; its deliveries are deferred without an attempt. */
const DOWN_MS = 30_000
/** Consecutive rejected sessions, with no other in progress, after which a site counts as unreachable. */
const MAX_REJECTED = 5
/** Maximum number of sites remembered; those of a provider may be many. */
const MAX_SITES = 1000

/**
 * How a conversation with a site began: its last host was unreachable, rejected the session, did not have the TLS that is demanded, or
 * accepted the session.
 */
export type Beginning = 'unreachable' | 'refused' | 'no-tls' | 'session'

/** The cause of a refused session: it was one too many, or its site, one of a provider's, refuses all; undefined if neither is known. */
export type Refused = 'too-many' | 'of-site' | undefined

/** The stages before mail is offered. */
const SESSION_STAGES: ReadonlySet<Stage> = new Set(['greeting', 'ehlo', 'starttls', 'tls', 'auth'])

/** How far the last host of the site accepted the session. */
export function beginningOf({ stage, reply }: { readonly stage: Stage; readonly reply: Reply }): Beginning {
  if (stage === 'connect') return 'unreachable'
  if (reply.own && (stage === 'starttls' || stage === 'tls')) return 'no-tls'
  return SESSION_STAGES.has(stage) ? 'refused' : 'session'
}

/** Whether it says something about the site: of all its hosts, or of one that was offered mail. */
export function isOfSite({ onlyHost }: ClaimedDelivery, outcome: Outcome): outcome is Exclude<Outcome, Dropped> {
  if (outcome.kind === 'dropped' || onlyHost !== null) return false
  return outcome.kind !== 'deferred' || outcome.nextHost === undefined || beginningOf(outcome) === 'session'
}

interface Health {
  last: Beginning
  reply: Reply
  downUntil: number
  rejectedInARow: number
}

/** Which sites of a destination are unreachable. Only those in trouble are remembered. */
export class SiteHealth {
  readonly #sites = new Map<string, Health>()

  /** Whether no session could be opened within the last {@link DOWN_MS}. */
  isDown(site: string): boolean {
    return (this.#sites.get(site)?.downUntil ?? 0) > performance.now()
  }

  /** Whether the last session with it failed because of the TLS that was demanded. */
  lacksTls(site: string): boolean {
    return this.#sites.get(site)?.last === 'no-tls'
  }

  /** The reply with which a server refused the last session; undefined if none did. */
  refusal(site: string): Reply | undefined {
    const health = this.#sites.get(site)
    return health?.last === 'refused' && health.reply.code > 0 ? health.reply : undefined
  }

  accepted(site: string): void {
    this.#sites.delete(site)
  }

  /** No host of the site could be reached, or the last one rejected the session. */
  failed(site: string, beginning: Exclude<Beginning, 'session'>, reply: Reply): void {
    const health = this.#sites.get(site) ?? { last: beginning, reply, downUntil: 0, rejectedInARow: 0 }
    health.last = beginning
    health.reply = reply
    health.rejectedInARow++
    if (beginning === 'unreachable' || health.rejectedInARow >= MAX_REJECTED)
      health.downUntil = performance.now() + DOWN_MS
    this.#sites.delete(site)
    this.#sites.set(site, health)
    if (this.#sites.size > MAX_SITES) this.#sites.delete(this.#sites.keys().next().value as string)
  }
}
