import type { Core, LoadedMessage } from '@postrider/core'

/** Octets of large bodies in memory at once; one body is always let in, however large. */
const LIMIT = 96 * 1024 * 1024
/** Raw octets, their text form on the way from the database, and the composed message. */
const COPIES = 3

interface Held {
  readonly loading: Promise<LoadedMessage>
  users: number
}

/**
 * Reads bodies too large to come along with a claim, when their turn comes: once for all deliveries of a message that are
 * under way together, and never more at once than memory allows.
 */
export class LargeBodies {
  readonly #held = new Map<string, Held>()
  readonly #waiting: (() => void)[] = []
  readonly #core: Core
  #used = 0

  constructor(core: Core) {
    this.#core = core
  }

  /** Runs `act` with the message's body in memory. Throws what loading or `act` throws. */
  async with<T>(message: LoadedMessage, act: (loaded: LoadedMessage) => Promise<T>): Promise<T> {
    if (message.parts) return act(message)
    const held = this.#held.get(message.id) ?? this.#hold(message)
    held.users++
    try {
      return await act(await held.loading)
    } finally {
      if (--held.users === 0) this.#release(message)
    }
  }

  #hold(message: LoadedMessage): Held {
    const held: Held = { users: 0, loading: this.#room(message).then(() => this.#core.messages.loadParts(message)) }
    this.#held.set(message.id, held)
    return held
  }

  async #room(message: LoadedMessage): Promise<void> {
    const octets = message.size * COPIES
    while (this.#used > 0 && this.#used + octets > LIMIT)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#used += octets
  }

  #release(message: LoadedMessage): void {
    this.#held.delete(message.id)
    this.#used -= message.size * COPIES
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
