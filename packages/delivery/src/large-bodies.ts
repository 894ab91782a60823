import { type Core, isAddedTo, type LoadedMessage } from '@postrider/core'

/** Octets of large bodies in memory at once. A message that takes more than all of it goes alone. */
const ROOM = 48 * 1024 * 1024
/** A composed message is put together for each delivery: base64, what the thread has of it, and what is left of the way there. */
const COMPOSED = 3
/** And a message that is added to: its text as it was, as it becomes, and encoded. */
const ADDED_TO = 6.5

/** A body that deliveries share while they are under way together. */
interface Held {
  readonly loading: Promise<LoadedMessage>
  /** The site it was let in for. */
  readonly site: string
  users: number
}

interface Waiting {
  readonly message: LoadedMessage
  readonly site: string
  /** Octets of its own, besides the shared body. */
  readonly own: number
  readonly enter: (held: Held) => void
}

/**
 * Reads bodies too large to come along with a claim, when their turn comes: once for all deliveries of a message that are
 * under way together, and never more at once than memory allows. Whoever comes first is let in first; but one site gets
 * half of the room at most, so that a server that takes its mail slowly does not hold up everybody's large messages.
 */
export class LargeBodies {
  readonly #held = new Map<string, Held>()
  readonly #bySite = new Map<string, number>()
  #waiting: Waiting[] = []
  readonly #core: Core
  readonly #share: number
  #used = 0

  /** `single`: all mail goes to one site, which gets all of the room. */
  constructor(core: Core, { single }: { single: boolean }) {
    this.#core = core
    this.#share = single ? ROOM : ROOM / 2
  }

  /**
   * Runs `act` with the message's body in memory. `octets`: what it is known to take, where that is more than can be told from its
   * body. Throws what loading or `act` throws.
   */
  async with<T>(
    message: LoadedMessage,
    site: string,
    act: (loaded: LoadedMessage) => Promise<T>,
    octets?: number,
  ): Promise<T> {
    if (message.parts && octets === undefined) return act(message)
    const own = octets ?? ownOctets(message)
    const held = await new Promise<Held>((enter) => {
      this.#waiting.push({ message, site, own, enter })
      this.#admit()
    })
    try {
      return await act(await held.loading)
    } finally {
      this.#leave(message, site, held, own)
    }
  }

  #admit(): void {
    const kept: Waiting[] = []
    let full = false
    for (const waiting of this.#waiting) {
      if (!full && this.#fits(waiting)) this.#enter(waiting)
      else {
        kept.push(waiting)
        // Whoever waits for the room itself is not overtaken, or a large message would wait for ever.
        full ||= !this.#isOverShare(waiting)
      }
    }
    this.#waiting = kept
  }

  #octets({ message, own }: Waiting): number {
    return own + (this.#held.has(message.id) ? 0 : sharedOctets(message))
  }

  #fits(waiting: Waiting): boolean {
    return this.#used === 0 || (this.#used + this.#octets(waiting) <= ROOM && !this.#isOverShare(waiting))
  }

  #isOverShare(waiting: Waiting): boolean {
    const used = this.#bySite.get(waiting.site) ?? 0
    return used > 0 && used + this.#octets(waiting) > this.#share
  }

  #enter({ message, site, own, enter }: Waiting): void {
    let held = this.#held.get(message.id)
    if (!held) {
      const loading = message.parts ? Promise.resolve(message) : this.#core.messages.loadParts(message)
      held = { loading, site, users: 0 }
      this.#held.set(message.id, held)
      this.#use(site, sharedOctets(message))
    }
    held.users++
    this.#use(site, own)
    enter(held)
  }

  #leave(message: LoadedMessage, site: string, held: Held, own: number): void {
    this.#use(site, -own)
    if (--held.users === 0) {
      this.#held.delete(message.id)
      this.#use(held.site, -sharedOctets(message))
    }
    this.#admit()
  }

  #use(site: string, octets: number): void {
    this.#used += octets
    const own = (this.#bySite.get(site) ?? 0) + octets
    if (own === 0) this.#bySite.delete(site)
    else this.#bySite.set(site, own)
  }
}

/** A body that came along with the claim is in hand already. */
function sharedOctets({ parts, size }: LoadedMessage): number {
  return parts ? 0 : size
}

/** What one delivery takes besides the shared body. Relayed mail that nothing is added to is sent as it is. */
function ownOctets({ format, size, settings }: LoadedMessage): number {
  if (isAddedTo({ settings })) return Math.ceil(size * ADDED_TO)
  return format === 'mime' ? 0 : Math.ceil(size * COMPOSED)
}
