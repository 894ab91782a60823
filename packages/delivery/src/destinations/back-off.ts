import {
  ADAPTIVE_RULE,
  type BackOffRule,
  type BounceClass,
  bounceClass,
  type Core,
  GREYLISTED,
  type Log,
  type NewOverride,
  type Outcome,
  type Provider,
  type Providers,
  type Reply,
  refusalMeaning,
} from '@postrider/core'
import type { WorkerSources } from '../routing/worker-sources.ts'
import { Blocks } from './blocks.ts'
import type { Destination } from './destination.ts'
import type { Sender } from './destination-events.ts'
import type { Limits } from './limits.ts'
import { beginningOf } from './site-health.ts'
import { withoutRecipient } from './without-recipient.ts'

/** Tries of a minute from which a destination that refuses half of them is slowed, and how long. */
const ADAPTIVE = { tries: 20, refusedShare: 0.5, seconds: 7200 } as const
/** Refusals of these classes are about how much is sent, or by whom; slower is better. */
const SLOWED_BY: ReadonlySet<BounceClass> = new Set(['rate', 'policy', 'spam'])

export interface BackOffOptions {
  readonly core: Core
  readonly log: Log
  readonly providers: Providers
  readonly limits: Limits
  readonly sources: WorkerSources
}

export interface Heard {
  /** It was tried during a pause, which ends unless it was refused again. */
  readonly isProbe: boolean
  /** The session was one too many: slower is no better. */
  readonly isTooMany: boolean
}

interface Hits {
  readonly rule: BackOffRule
  readonly destination: Destination
  readonly accountId: number | null
  reply: string
  count: number
}

/**
 * Slows down or pauses destinations whose servers ask for it. Each refusal that a rule knows stops the destination in this worker until all
 * workers' refusals have been counted in the database, so that no more is offered meanwhile.
 */
export class BackOff {
  readonly #options: BackOffOptions
  /** Not yet counted in the database. */
  readonly #hits = new Map<string, Hits>()
  readonly #counting = new Set<string>()
  readonly #blocks: Blocks

  constructor(options: BackOffOptions) {
    this.#options = options
    this.#blocks = new Blocks(options)
  }

  /**
   * Learns from the outcome of an attempt. Only replies of servers count, and for a provider only those of its own hosts: a domain may
   * list other hosts as well.
   */
  heard(destination: Destination, sender: Sender, outcome: Outcome, { isProbe, isTooMany }: Heard): void {
    const reply = serverReply(outcome)
    // A refused session is not an end of what the pause is for.
    if (reply) this.heardReply(destination, sender, reply, { isProbe: isProbe && wasOffered(outcome), isTooMany })
  }

  /** See {@link Blocks.refusesSessions}. */
  refusesSessions(destination: Destination, site: string): Promise<boolean> {
    return this.#blocks.refusesSessions(destination, site)
  }

  /** The same for a reply that is not the outcome of an attempt. */
  heardReply(destination: Destination, sender: Sender, heard: ServerReply, { isProbe, isTooMany }: Heard): void {
    const { core, limits, providers } = this.#options
    const provider = providers.named(destination.base)
    if (provider && provider.mx.length > 0 && providers.ofHost(heard.host) !== provider) return
    const reply = heard.code >= 400 ? { ...heard, text: withoutRecipient(heard.text, sender.recipient) } : heard
    const rule = reply.code >= 400 ? providers.ruleFor(provider, reply) : undefined
    const isSlowing = rule !== undefined && rule.effect.kind !== 'finding'
    // A pause comes from its rule; the sandbox and a relay host are no destinations that could block this service.
    const isOther = isTooMany || rule?.effect.kind === 'pause' || provider?.mx.length === 0
    const meaning = isOther ? undefined : refusalMeaning(reply)
    if (rule?.effect.kind === 'finding')
      void limits.try(() => this.#blocks.noteFinding(destination, sender.domainId, reply))
    if (isSlowing) this.#hit(destination, rule, rule.scope === 'account' ? sender.accountId : null, reply.text)
    else if (isProbe && !meaning) {
      const tried = { accountId: sender.accountId, isTaken: reply.code < 300 }
      void limits.try(() => core.deliveries.limits.endPauses(destination.name, tried))
    }
    if (meaning || reply.code < 300) this.#blocks.heard(destination, sender, reply, meaning)
    if (!isTooMany) this.#adapt(destination, provider, reply, isSlowing)
  }

  #hit(destination: Destination, rule: BackOffRule, accountId: number | null, reply: string): void {
    const key = `${destination.name} ${rule.id} ${accountId ?? ''}`
    const hits = this.#hits.get(key) ?? { rule, destination, accountId, reply, count: 0 }
    hits.count++
    hits.reply = reply
    this.#hits.set(key, hits)
    if (!this.#counting.has(key)) void this.#count(key, destination)
  }

  /** Counts hits until there are none left. The destination goes on when the effect of the rule, if any, is known here. */
  async #count(key: string, destination: Destination): Promise<void> {
    const { core, limits, log, sources } = this.#options
    this.#counting.add(key)
    destination.hold()
    for (let hits = this.#hits.get(key); hits; hits = this.#hits.get(key)) {
      this.#hits.delete(key)
      const { rule, accountId, count, reply } = hits
      await limits.try(async () => {
        const counted = {
          place: destination.name,
          rule: rule.id,
          accountId: accountId ?? 0,
          count,
          within: rule.within,
        }
        if ((await core.deliveries.limits.countHits(counted)) < rule.times) return
        const effect = await this.#effectOf(rule, destination)
        await limits.apply(destination, { ...effect, accountId, reason: reply })
        if (rule.effect.kind === 'pause' && accountId === null) sources.noteBlocked(destination.name)
        log.warn({ place: destination.name, rule: rule.id }, 'a provider asks for less mail; a back-off rule applies')
      })
    }
    this.#counting.delete(key)
    destination.goOn()
  }

  async #effectOf(
    { id, effect, lasts }: BackOffRule,
    destination: Destination,
  ): Promise<Omit<NewOverride, 'place' | 'accountId' | 'reason'>> {
    const base = { rule: id, lasts, value: null, seconds: null }
    switch (effect.kind) {
      case 'rate':
        return { ...base, setting: 'rate', value: effect.rate.messages, seconds: effect.rate.seconds }
      case 'halve':
        return { ...base, setting: 'rate', ...(await this.#halfOf(destination)) }
      case 'connections':
      case 'messagesPerConnection':
        return { ...base, setting: effect.kind, value: effect.most }
      default:
        return { ...base, setting: 'pause' }
    }
  }

  /** Slows a destination that refuses half of what it is offered, although no rule knows its replies; not the sandbox or a relay host. */
  #adapt(destination: Destination, provider: Provider | undefined, reply: ServerReply, isKnown: boolean): void {
    const { core, limits, sources } = this.#options
    const isRefused = isKnown || isRefusalForNow(reply)
    sources.noteReply(destination.name, reply, isRefused)
    const refused = isRefused && !isKnown
    destination.recent.add(refused)
    if (!refused) return
    const isSlowed = limits
      .overridesOf(destination.name)
      .some((one) => one.rule === ADAPTIVE_RULE && one.setting === 'rate')
    if (isSlowed) {
      const counted = { place: destination.name, rule: ADAPTIVE_RULE, accountId: 0, count: 1, within: 300 }
      void limits.try(async () => void (await core.deliveries.limits.countHits(counted)))
    }
    const { tries, refused: all } = destination.recent.counts
    if (tries < ADAPTIVE.tries || all < tries * ADAPTIVE.refusedShare || provider?.mx.length === 0) return
    const slowed = {
      accountId: null,
      setting: 'rate',
      rule: ADAPTIVE_RULE,
      lasts: ADAPTIVE.seconds,
    } as const
    void limits.try(async () => {
      const halving = this.#halfOf(destination)
      destination.recent.clear()
      const half = await halving
      await limits.apply(destination, { ...slowed, ...half, reason: reply.text })
      this.#options.log.warn({ place: destination.name, ...half }, 'most mail is refused for now; slowed down')
    })
  }

  /** Half of the present rate, at least one message per minute: of the limit, or of what was tried within the last minute. */
  async #halfOf(destination: Destination): Promise<{ readonly value: number; readonly seconds: 60 }> {
    const { rate } = destination.limits
    // Each worker knows what it tried itself.
    const { tries } = destination.recent.counts
    const tried = tries * (await this.#options.core.deliveries.limits.workers())
    const perMinute = rate ? Math.min(tried, (rate.messages * 60) / rate.seconds) : tried
    return { value: Math.max(1, Math.floor(perMinute / 2)), seconds: 60 }
  }
}

function wasOffered(outcome: Outcome): boolean {
  return outcome.kind !== 'deferred' || beginningOf(outcome) === 'session'
}

/** A reply of a remote server. */
export interface ServerReply extends Reply {
  readonly host: string
}

/** The reply of a remote server; undefined if the outcome rests on none, or on a reply of this service. */
function serverReply(outcome: Outcome): ServerReply | undefined {
  if (outcome.kind === 'dropped' || outcome.host === undefined) return undefined
  const { reply, host } = outcome
  return reply.code === 0 || reply.own ? undefined : { ...reply, host }
}

function isRefusalForNow({ code, enhanced, text }: Reply): boolean {
  return code >= 400 && code < 500 && !GREYLISTED.test(text) && SLOWED_BY.has(bounceClass(enhanced, text))
}
