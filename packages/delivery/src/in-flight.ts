import type { DeliveryKey, LoadedMessage } from '@postrider/core'

/** Maximum number of deliveries in flight per worker. */
export const MAX_IN_FLIGHT = 2000
/**
 * Maximum number of deliveries in slow conversations that do not count, so that slow hosts do not take the capacity of fast ones. Each
 * still costs a socket and its message.
 */
const MAX_SLOW = 6000
/** Bytes of loaded bodies above which nothing more is claimed. */
const MAX_BODY_BYTES = 48 * 1024 * 1024

/** Deliveries claimed by this worker and not yet finished, and the remaining capacity. */
export class InFlightDeliveries {
  readonly #keys = new Set<string>()
  /** Number of deliveries in flight that share each loaded message. */
  readonly #messages = new Map<LoadedMessage, number>()
  readonly #onRoom: () => void
  #octets = 0
  #slow = 0

  constructor(onCapacity: () => void) {
    this.#onRoom = onCapacity
  }

  get count(): number {
    return this.#keys.size
  }

  /** How many more deliveries may be claimed. */
  get capacity(): number {
    return this.#octets >= MAX_BODY_BYTES ? 0 : Math.max(MAX_IN_FLIGHT + this.#slow - this.count, 0)
  }

  /** Number of deliveries in slow conversations. */
  set slow(count: number) {
    this.#slow = Math.min(count, MAX_SLOW)
  }

  has(delivery: DeliveryKey): boolean {
    return this.#keys.has(keyOf(delivery))
  }

  take(delivery: DeliveryKey): void {
    this.#keys.add(keyOf(delivery))
  }

  /** Counts the delivery's loaded message; a message shared by several deliveries counts once. */
  load(message: LoadedMessage): void {
    const users = this.#messages.get(message) ?? 0
    this.#messages.set(message, users + 1)
    if (users === 0 && message.parts) this.#octets += message.size
  }

  remove(delivery: DeliveryKey, message: LoadedMessage | undefined): void {
    this.#keys.delete(keyOf(delivery))
    if (message) this.#unload(message)
    this.#onRoom()
  }

  #unload(message: LoadedMessage): void {
    const users = (this.#messages.get(message) ?? 1) - 1
    if (users > 0) {
      this.#messages.set(message, users)
      return
    }
    this.#messages.delete(message)
    if (message.parts) this.#octets -= message.size
  }
}

function keyOf({ messageId, recipientNo, attempt }: DeliveryKey): string {
  return `${messageId} ${recipientNo} ${attempt}`
}
