import { type ClaimedDelivery, type DeliveryKey, type Flow, type LoadedMessage, measure, Tally } from '@postrider/core'
import { flowKey } from '../common/fair-queue.ts'

/** Maximum number of deliveries in flight per worker. */
export const MAX_IN_FLIGHT = 2000
/**
 * Maximum number of deliveries in slow conversations that do not count, so that slow hosts do not take the capacity of fast ones. Each
 * still costs a socket and its message.
 */
const MAX_SLOW = 6000
/** Deliveries in flight up to which a flow gets more although others use the whole capacity, and the maximum of such deliveries. */
const FEW = 25
const MAX_RESERVED = 500
/** A flow is small if the average flow has this many times its deliveries in flight. */
const SMALL = 4
/** Bytes of loaded bodies above which nothing more is claimed; for a flow with few deliveries in flight there are more. */
const MAX_BODY_BYTES = { ofMany: 40 * 1024 * 1024, ofFew: 48 * 1024 * 1024 } as const
/**
 * Of these, bytes of one account, of which nothing more is claimed then: 400 messages of 100 kB at servers that are silent would stop the mail of
 * all others. What one claim takes beyond it does not count.
 */
const ACCOUNT_BYTES = 0.75 * MAX_BODY_BYTES.ofMany

/** Deliveries claimed by this worker and not yet finished, and the remaining capacity. */
export class InFlightDeliveries {
  readonly #keys = new Set<string>()
  readonly #ofFlow = new Tally<number>()
  /** Number of deliveries in flight that share each loaded message. */
  readonly #messages = new Tally<LoadedMessage>()
  readonly #onCapacity: () => void
  readonly #octetsOf = new Tally<number>()
  /** Bytes of all accounts, of each up to its share. */
  #octets = 0
  #slow = 0

  constructor(onCapacity: () => void) {
    this.#onCapacity = onCapacity
    measure(() => ({ deliveries_in_flight: this.count }))
  }

  get count(): number {
    return this.#keys.size
  }

  /** How many more deliveries may be claimed. */
  get capacity(): number {
    return this.#octets >= MAX_BODY_BYTES.ofMany ? 0 : Math.max(this.#left, 0)
  }

  /** Whether mail of the account may be claimed while there is capacity. */
  mayClaim({ accountId }: Pick<Flow, 'accountId'>): boolean {
    return this.#octetsOf.of(accountId) < ACCOUNT_BYTES
  }

  /** How many of a flow may be claimed in any case, because it has few in flight. `given`: to other flows by the same claim. */
  reserveFor(flow: Flow, given = 0): number {
    if (this.#octets >= MAX_BODY_BYTES.ofFew || !this.mayClaim(flow)) return 0
    const own = this.#ofFlow.of(flowKey(flow))
    return Math.max(Math.min(FEW - own, this.#left + MAX_RESERVED - given), 0)
  }

  get #left(): number {
    return MAX_IN_FLIGHT + this.#slow - this.count
  }

  /** Whether the flow has few in flight compared with the average of all flows. */
  isSmall(flow: Flow): boolean {
    return this.#ofFlow.of(flowKey(flow)) * SMALL <= this.count / this.#ofFlow.size
  }

  /** Number of deliveries in slow conversations. */
  set slow(count: number) {
    this.#slow = Math.min(count, MAX_SLOW)
  }

  has(delivery: DeliveryKey): boolean {
    return this.#keys.has(keyOf(delivery))
  }

  /** Returns whether a delivery is in flight now, however late it is asked. */
  snapshot(): (delivery: DeliveryKey) => boolean {
    const keys = new Set(this.#keys)
    return (delivery) => keys.has(keyOf(delivery))
  }

  take(delivery: ClaimedDelivery): void {
    this.#keys.add(keyOf(delivery))
    this.#ofFlow.add(flowKey(delivery), 1)
  }

  /** Counts the delivery's loaded message; a message shared by several deliveries counts once. */
  load(message: LoadedMessage): void {
    const isFirst = this.#messages.add(message, 1) === 1
    if (isFirst && message.parts) this.#count(message.accountId, message.size)
  }

  remove(delivery: ClaimedDelivery, message: LoadedMessage | undefined): void {
    if (this.#keys.delete(keyOf(delivery))) this.#ofFlow.add(flowKey(delivery), -1)
    if (message && this.#messages.add(message, -1) <= 0 && message.parts) this.#count(message.accountId, -message.size)
    this.#onCapacity()
  }

  #count(accountId: number, octets: number): void {
    const after = this.#octetsOf.add(accountId, octets)
    this.#octets += Math.min(after, ACCOUNT_BYTES) - Math.min(after - octets, ACCOUNT_BYTES)
  }
}

function keyOf({ messageId, recipientNo, attempt }: DeliveryKey): string {
  return `${messageId} ${recipientNo} ${attempt}`
}
