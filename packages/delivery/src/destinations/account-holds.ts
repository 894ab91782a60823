import {
  type AccountHold,
  type ClaimedDelivery,
  type Core,
  type Flow,
  HELD_PLACE,
  HELD_RECIPIENT_PLACE,
  isDatabaseTrouble,
  type LoadedMessage,
  type Log,
  type Rate,
} from '@postrider/core'
import { flowKey } from '../common/fair-queue.ts'
import { createRefresher } from '../common/refresher.ts'
import { windowOf } from './rate-gate.ts'
import { RecipientRepeats } from './recipient-repeats.ts'
import { RequirementHolds } from './requirement-holds.ts'

/** Milliseconds between two reads of the holds; a notification causes one at once. */
const READ_EVERY_MS = 1000
/** Deliveries of a flow that are claimed at once after its hold has ended, and while it is slowed. */
const AT_ONCE = { released: 50, slowed: 5 } as const
/** Milliseconds after which a rate that was used up is tried again, however long its window is. */
const MAX_CLOSED_MS = 60_000

export interface AccountHoldsOptions {
  readonly core: Core
  readonly log: Log
}

interface Held {
  /** Null if no mail is sent. */
  readonly rate: Rate | null
  /** Messages per hour; 0 if none is sent. */
  readonly perHour: number
  /** The rate is used up until then. */
  closedUntil: number
}

/** Which mail is held or slowed: because of its account's reputation or domain, or by the operator (core/reputation). */
export class AccountHolds {
  readonly #options: AccountHoldsOptions
  readonly repeats: RecipientRepeats
  readonly #requirements: RequirementHolds
  #byFlow = new Map<number, Held>()
  /** The hashes of recipients by account. */
  #recipients = new Map<number, Set<string>>()
  readonly #timer: NodeJS.Timeout
  #listening: { close(): Promise<void> } | undefined

  constructor(options: AccountHoldsOptions) {
    this.#options = options
    this.repeats = new RecipientRepeats(options)
    this.#requirements = new RequirementHolds(options)
    this.#timer = setInterval(() => void this.read(), READ_EVERY_MS)
  }

  /** Reads the holds, and reads them again whenever they change. */
  async start(): Promise<void> {
    await Promise.all([this.read(), this.#requirements.read()])
    this.#listening = await this.#options.core.deliveries.limits.listen(() => {
      void this.read()
      void this.#requirements.read()
    })
  }

  /** Whether nothing is held. */
  get isEmpty(): boolean {
    return this.#byFlow.size === 0 && this.#recipients.size === 0 && this.#requirements.isEmpty
  }

  /** Where a delivery waits whose account, recipient or domain is held; undefined if none is. */
  heldAt(delivery: ClaimedDelivery, message: LoadedMessage): string | undefined {
    if (this.isEmpty) return undefined
    const { accountId, recipient } = delivery
    if (this.#byFlow.get(flowKey(delivery))?.rate === null) return HELD_PLACE
    const recipients = this.#recipients.get(accountId)
    if (recipients?.has(this.#options.core.deliveries.recipientHash(recipient))) return HELD_RECIPIENT_PLACE
    return this.#requirements.heldAt(delivery, message)
  }

  /** The same, also of a delivery whose account is slowed; if it may be sent, it is counted. */
  async destinationOf(delivery: ClaimedDelivery, message: LoadedMessage): Promise<string | undefined> {
    const heldAt = this.heldAt(delivery, message)
    const held = this.#byFlow.get(flowKey(delivery))
    if (heldAt !== undefined || !held?.rate) return heldAt
    if (performance.now() < held.closedUntil) return HELD_PLACE
    return (await this.#take(held, held.rate)) ? undefined : HELD_PLACE
  }

  async #take(held: Held, rate: Rate): Promise<boolean> {
    // Without the database the delivery cannot be sent either.
    const standing = await this.#options.core.rateLimits.take([rate]).catch(() => undefined)
    if (!standing) return false
    const { refused, retryAfter } = standing
    if (refused) held.closedUntil = performance.now() + Math.min(retryAfter * 1000, MAX_CLOSED_MS)
    return !refused
  }

  /** How many deliveries of the flow may be claimed of those that are parked because it was held. */
  roomFor(flow: Flow, destination: string): number {
    if (destination === HELD_RECIPIENT_PLACE) return this.#recipients.has(flow.accountId) ? 0 : AT_ONCE.released
    const isHeld = this.#requirements.isHeld(flow, destination)
    if (isHeld !== undefined) return isHeld ? 0 : AT_ONCE.released
    const held = this.#byFlow.get(flowKey(flow))
    if (!held) return AT_ONCE.released
    return held.rate === null || performance.now() < held.closedUntil ? 0 : AT_ONCE.slowed
  }

  /** Those that are there when it is called are in effect when it resolves. */
  readonly read = createRefresher(() => this.#read())

  async #read(): Promise<void> {
    const { core, log } = this.#options
    try {
      const { accountHolds, recipientHolds } = core.deliveries.limits
      const [accounts, recipients] = await Promise.all([accountHolds(), recipientHolds()])
      this.#set(accounts)
      const byAccount = Map.groupBy(recipients, ({ accountId }) => accountId)
      this.#recipients = new Map(
        [...byAccount].map(([id, own]) => [id, new Set(own.map(({ recipient }) => recipient))]),
      )
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not read which accounts are held')
    }
  }

  #set(holds: readonly AccountHold[]): void {
    const before = this.#byFlow
    this.#byFlow = new Map()
    for (const { accountId, classes, rate } of holds) {
      for (const of of classes) {
        const key = flowKey({ accountId, class: of })
        const known = this.#byFlow.get(key)
        const perHour = rate ?? 0
        // The strictest applies.
        if (known && known.perHour <= perHour) continue
        const limit = rate === null ? null : windowOf(`account ${accountId}`, { messages: rate, seconds: 3600 })
        const closedUntil = before.get(key)?.rate?.name === limit?.name ? (before.get(key)?.closedUntil ?? 0) : 0
        this.#byFlow.set(key, { rate: limit, perHour, closedUntil })
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.repeats.close()
    this.#requirements.close()
    await this.#listening?.close().catch(() => {})
  }
}
