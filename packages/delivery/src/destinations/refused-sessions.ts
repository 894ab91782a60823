import {
  type BounceClass,
  bounceClass,
  type Core,
  isDatabaseTrouble,
  type Log,
  type Outcome,
  type Reply,
  Tally,
} from '@postrider/core'
import { siteOfSessions } from '../tls/policy.ts'
import type { Destination } from './destination.ts'
import { beginningOf, type Refused } from './site-health.ts'

/**
 * Rounds of sessions that a site of a provider refuses in a row after which it takes none: if this worker has others, which are those of other sites, and
 * if only other workers have, perhaps all that the site takes.
 */
const MAX_ROUNDS = { besideOwn: 3, besideThoseOfOthers: 10 } as const
/** Other words that refuse a session beside others, also permanently, are about their number. */
const BLOCKS: ReadonlySet<BounceClass> = new Set(['spam', 'policy', 'authentication', 'relay'])
/** Maximum number of sites remembered. */
const MAX_SITES = 1000

interface InARow {
  rounds: number
  /** performance.now() at the last refusal of the round. */
  at: number
}

/** Whether a session was permanently refused for who asks, and not for how many there are. */
function saysBlock({ code, enhanced, text }: Reply): boolean {
  return code >= 500 && BLOCKS.has(bounceClass(enhanced, text))
}

/** Lowers the limits of connections of destinations that refuse sessions beside others. */
export class RefusedSessions {
  readonly #options: { readonly core: Core; readonly log: Log; readonly workerId: number }
  /** By destination, the refused sessions that are still counted as conversations in progress. */
  readonly #refused = new Tally<string>()
  readonly #inARow = new Map<string, InARow>()

  constructor(options: { readonly core: Core; readonly log: Log; readonly workerId: number }) {
    this.#options = options
  }

  /** Judges how a session began: one that is refused for now while there are others with the destination, of this worker or another, is one too many. */
  async judge(destination: Destination, site: string, outcome: Outcome): Promise<Refused> {
    if (outcome.kind === 'dropped' || beginningOf(outcome) !== 'refused' || saysBlock(outcome.reply)) {
      this.#inARow.delete(site)
      return undefined
    }
    const { core, log, workerId } = this.#options
    const { name: place, base } = destination
    const open = destination.progress.count + destination.connections.idle
    const others = Math.max(0, open - this.#refused.of(place) - 1)
    const most = others > 0 ? MAX_ROUNDS.besideOwn : MAX_ROUNDS.besideThoseOfOthers
    const rounds = siteOfSessions(site) === base ? 0 : this.#roundsOf(site, performance.now() - outcome.milliseconds)
    if (rounds > most) return 'of-site'
    this.#refused.add(place, 1)
    try {
      const session = { place, workerId, others, reason: outcome.reply.text }
      return (await core.deliveries.limits.lowerConnections(session)) ? 'too-many' : undefined
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not lower the limit of connections')
      return undefined
    } finally {
      this.#refused.add(place, -1)
    }
  }

  /** Sessions that began together are refused together: 40 at a host that takes one do not show that it takes none. */
  #roundsOf(site: string, startedAt: number): number {
    const inARow = this.#inARow.get(site) ?? { rounds: 0, at: Number.NEGATIVE_INFINITY }
    if (startedAt > inARow.at) {
      inARow.rounds++
      inARow.at = performance.now()
    }
    this.#inARow.delete(site)
    this.#inARow.set(site, inARow)
    if (this.#inARow.size > MAX_SITES) this.#inARow.delete(this.#inARow.keys().next().value as string)
    return inARow.rounds
  }
}
