import {
  type Block,
  type Core,
  type Log,
  type Offers,
  REFUSED_RULE,
  type RefusalMeaning,
  type Reply,
  refusalMeaning,
} from '@postrider/core'
import type { WorkerSources } from '../routing/worker-sources.ts'
import { siteOfSessions } from '../tls/policy.ts'
import type { Destination } from './destination.ts'
import type { Sender } from './destination-events.ts'
import type { Limits } from './limits.ts'

/** Seconds of a pause; each delivery that is tried in it and refused again prolongs it. */
const PAUSE_SECONDS = 4 * 3600
const SESSIONS_PAUSE_SECONDS = 1800

export interface BlocksOptions {
  readonly core: Core
  readonly log: Log
  readonly limits: Limits
  readonly sources: WorkerSources
}

/**
 * Pauses destinations that refuse most mail for its sender, permanently or for now, whatever their words: each further message would bounce. While a
 * refusal is counted, the destination stops in this worker.
 */
export class Blocks {
  readonly #options: BlocksOptions
  readonly #judging = new Set<Destination>()

  constructor(options: BlocksOptions) {
    this.#options = options
  }

  /** Learns from a reply to a message; `meaning`: whom it refuses, undefined if it accepts. */
  heard(destination: Destination, sender: Sender, reply: Reply, meaning: RefusalMeaning | undefined): void {
    if (!meaning && !destination.offers.isCounting) return
    const { limits } = this.#options
    const pauses = limits
      .overridesOf(destination.name)
      .filter(({ accountId, setting }) => setting === 'pause' && (accountId ?? sender.accountId) === sender.accountId)
    if (pauses.length === 0) {
      destination.offers.add(sender, meaning && { meaning, reply })
      if (!meaning || this.#judging.has(destination)) return
      if (destination.offers.isMost) void limits.try(() => this.#judge(destination))
      else if (destination.offers.isDue(sender.accountId)) void limits.try(() => this.#judgeOne(destination, sender))
      // One for now costs nothing but an attempt, and a greylister refuses each message that is tried like this.
    } else if (meaning && reply.code >= 500) {
      const own = pauses.filter(({ rule }) => rule === REFUSED_RULE)
      void limits.try(async () => {
        for (const { accountId, reason } of own) await limits.apply(destination, pauseOf(accountId, reason))
      })
    }
  }

  /**
   * Pauses a destination whose hosts refuse sessions one after the other, for what they say of this service: no message was offered. Returns
   * whether they do; what waits for them is to be parked, then.
   */
  async refusesSessions(destination: Destination, site: string): Promise<boolean> {
    const { limits, log } = this.#options
    const reply = destination.health.isDown(site) ? destination.health.refusal(site) : undefined
    // For now, and without a word about us: it may be stopping.
    if (!reply || (reply.code < 500 && !refusalMeaning(reply))) return false
    // Of a provider with many sites, one may refuse what others take.
    if (siteOfSessions(site) !== destination.base) return false
    if (destination.limits.isPaused) return true
    destination.hold()
    await limits.try(async () => {
      await limits.apply(destination, {
        ...pauseOf(null, `sessions refused: ${textOf(reply)}`),
        lasts: SESSIONS_PAUSE_SECONDS,
      })
      log.warn(
        { place: destination.name, rule: REFUSED_RULE },
        'the hosts refuse sessions; their mail waits now, and one delivery is tried from time to time',
      )
    })
    destination.goOn()
    return destination.limits.isPaused
  }

  /** Counts offers until none are left. The destination goes on when a pause that follows, if any, is known here. */
  async #judge(destination: Destination): Promise<void> {
    this.#judging.add(destination)
    destination.hold()
    try {
      for (let offers = destination.offers.take(); offers.length > 0; offers = destination.offers.take())
        await this.#pauseIfRefused(destination, offers)
    } finally {
      this.#judging.delete(destination)
      destination.goOn()
    }
  }

  /** The same once, for an account whose mail is refused while that of others is accepted: theirs need not wait. */
  async #judgeOne(destination: Destination, { accountId }: Sender): Promise<void> {
    this.#judging.add(destination)
    try {
      await this.#pauseIfRefused(destination, destination.offers.takeOf(accountId))
    } finally {
      this.#judging.delete(destination)
    }
  }

  async #pauseIfRefused(destination: Destination, offers: readonly Offers[]): Promise<void> {
    const blocks = await this.#options.core.deliveries.limits.judge(destination.name, offers)
    // Of an account that only other workers have heard of, one of those sets the pause, with a reply of its own.
    const found = blocks.map((block) => ({ block, own: destination.offers.lastRefusal(block.accountId) }))
    for (const { block, own } of found) {
      if (!own) continue
      await this.#pause(destination, block, own.reply)
      destination.offers.clear()
      if (own.meaning === 'authentication') await this.noteFinding(destination, own.domainId, own.reply)
    }
  }

  /** Notes with the sending domain that the destination refuses it for missing SPF, DKIM or DMARC. */
  async noteFinding({ base }: Destination, domainId: number, { code, enhanced, text }: Reply): Promise<void> {
    const finding = { place: base, code: enhanced || String(code), reply: text }
    await this.#options.core.domains.noteFinding(domainId, finding)
  }

  async #pause(
    destination: Destination,
    { accountId, offered, refused, isBlocked }: Block,
    reply: Reply,
  ): Promise<void> {
    const { core, log, limits, sources } = this.#options
    const reason = `${refused} of ${offered} messages refused within 10 minutes: ${textOf(reply)}`
    await limits.apply(destination, pauseOf(accountId, reason))
    // Together with them, the mail of a next account waits.
    if (isBlocked) await core.deliveries.limits.forgetOffers(destination.name, accountId)
    if (accountId === null) sources.noteBlocked(destination.name)
    log.warn(
      { place: destination.name, rule: REFUSED_RULE, accountId, offered, refused },
      'most mail is refused for its sender; it waits now, and one delivery is tried from time to time. See: postrider queue show PLACE',
    )
  }
}

function pauseOf(accountId: number | null, reason: string) {
  return {
    accountId,
    setting: 'pause',
    value: null,
    seconds: null,
    rule: REFUSED_RULE,
    lasts: PAUSE_SECONDS,
    reason,
  } as const
}

function textOf({ code, enhanced, text }: Reply): string {
  return [code, enhanced, text].filter(Boolean).join(' ')
}
