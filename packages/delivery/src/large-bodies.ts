import { type Core, isAddedTo, type LoadedMessage } from '@postrider/core'

/** Budget in bytes of large bodies in memory. A message larger than the budget is loaded when nothing else is. */
const BUDGET_BYTES = 48 * 1024 * 1024
/** Memory factor of a message composed per delivery: base64, the rendering thread's copy, and intermediate copies. */
const COMPOSED_FACTOR = 3
/** Memory factor of a message with added content: the original text, the new text, and its encoding. */
const ADDED_CONTENT_FACTOR = 6.5

/** A loaded body that concurrent deliveries share. */
interface LoadedBody {
  readonly loading: Promise<LoadedMessage>
  /** The site whose share of the budget it counts against. */
  readonly site: string
  users: number
}

interface Waiting {
  readonly message: LoadedMessage
  readonly site: string
  /** Bytes in addition to the shared body. */
  readonly own: number
  readonly enter: (held: LoadedBody) => void
}

/**
 * Loads bodies that are too large to be loaded with a claim: once for all concurrent deliveries of a message, and within a memory
 * budget. Waiting deliveries are admitted in order, but one site gets at most half of the budget, so that a server that is slow to
 * accept its mail does not delay all large messages.
 */
export class LargeBodies {
  readonly #held = new Map<string, LoadedBody>()
  readonly #bySite = new Map<string, number>()
  #waiting: Waiting[] = []
  readonly #core: Core
  readonly #share: number
  #used = 0

  /** `single`: almost all mail goes to one site, which may use the whole budget. */
  constructor(core: Core, { single }: { single: boolean }) {
    this.#core = core
    this.#share = single ? BUDGET_BYTES : BUDGET_BYTES / 2
  }

  /**
   * Runs `act` with the message's body in memory. `octets`: the bytes needed, if they exceed the estimate from the body's size. Throws
   * what loading or `act` throws.
   */
  async with<T>(
    message: LoadedMessage,
    site: string,
    act: (loaded: LoadedMessage) => Promise<T>,
    octets?: number,
  ): Promise<T> {
    if (message.parts && octets === undefined) return act(message)
    const own = octets ?? ownOctets(message)
    const held = await new Promise<LoadedBody>((enter) => {
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
        // Keep FIFO order for bodies waiting for the budget, so that large ones do not starve.
        full ||= !this.#isOverShare(waiting)
      }
    }
    this.#waiting = kept
  }

  #octets({ message, own }: Waiting): number {
    return own + (this.#held.has(message.id) ? 0 : sharedOctets(message))
  }

  #fits(waiting: Waiting): boolean {
    return this.#used === 0 || (this.#used + this.#octets(waiting) <= BUDGET_BYTES && !this.#isOverShare(waiting))
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

  #leave(message: LoadedMessage, site: string, held: LoadedBody, own: number): void {
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

/** Bytes of the shared body; a body loaded with the claim is already counted. */
function sharedOctets({ parts, size }: LoadedMessage): number {
  return parts ? 0 : size
}

/** Bytes that one delivery needs besides the shared body. Relayed mail without added content is sent unchanged. */
function ownOctets({ format, size, settings }: LoadedMessage): number {
  if (isAddedTo({ settings })) return Math.ceil(size * ADDED_CONTENT_FACTOR)
  return format === 'mime' ? 0 : Math.ceil(size * COMPOSED_FACTOR)
}
