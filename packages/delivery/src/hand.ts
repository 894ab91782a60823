import type { DeliveryKey, LoadedMessage } from '@postrider/core'

/** Deliveries one worker has in hand at most. */
export const HAND_LIMIT = 2000
/**
 * Deliveries in slow conversations that do not count, so that hosts which keep us waiting do not take the room of those
 * that don't; each still costs a socket and its message.
 */
const MOST_SLOW = 6000
/** Octets of loaded bodies in hand above which nothing more is claimed. */
const HAND_OCTETS = 48 * 1024 * 1024

/** What this worker has claimed and not yet settled: how much room is left, and which deliveries it knows of. */
export class Hand {
  readonly #keys = new Set<string>()
  /** How many deliveries in hand share each loaded message. */
  readonly #messages = new Map<LoadedMessage, number>()
  readonly #onRoom: () => void
  #octets = 0
  #slow = 0

  constructor(onRoom: () => void) {
    this.#onRoom = onRoom
  }

  get count(): number {
    return this.#keys.size
  }

  /** How many more deliveries may be claimed now. */
  get room(): number {
    return this.#octets >= HAND_OCTETS ? 0 : Math.max(HAND_LIMIT + this.#slow - this.count, 0)
  }

  /** How many are in conversations that take long. */
  set slow(count: number) {
    this.#slow = Math.min(count, MOST_SLOW)
  }

  has(delivery: DeliveryKey): boolean {
    return this.#keys.has(keyOf(delivery))
  }

  take(delivery: DeliveryKey): void {
    this.#keys.add(keyOf(delivery))
  }

  /** The delivery's message is loaded; messages that several deliveries share count once. */
  load(message: LoadedMessage): void {
    const users = this.#messages.get(message) ?? 0
    this.#messages.set(message, users + 1)
    if (users === 0 && message.parts) this.#octets += message.size
  }

  letGo(delivery: DeliveryKey, message: LoadedMessage | undefined): void {
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
