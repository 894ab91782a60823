import { type Core, isAddedTo, type LoadedMessage, Tally } from '@postrider/core'
import type { MessageOctets } from '../smtp/message-octets.ts'

/** Bytes of large messages that are being sent. A server may be slow to take one. */
const SENDING_BYTES = 40 * 1024 * 1024
/** Further bytes for loading and building, which wait for no server. A message that takes more is built when no other is. */
const BUILDING_BYTES = 24 * 1024 * 1024
/** Of these, those of one account, so that its mail to slow servers leaves room for that of others. A larger message may take more, alone. */
const ACCOUNT_BYTES = SENDING_BYTES * 0.75
const SITE_BYTES = SENDING_BYTES / 2
/** Messages of one account that are being built. One thread builds them; what else is admitted would keep those of others from it. */
const ACCOUNT_BUILDS = 4
/** Memory factor of a message composed per delivery: base64, the rendering thread's copy, and intermediate copies. */
const COMPOSED_FACTOR = 3
/** Memory factor of a message with added content: the original text, the new text, and its encoding. */
const ADDED_CONTENT_FACTOR = 6.5
/** Size factor of both once they are built: base64 with its line ends. */
const BUILT_FACTOR = 1.4

interface Octets {
  /** While a body is loaded and a message is built, in addition to the built message. */
  readonly building: number
  /** Until the kernel has all of the message. */
  readonly sending: number
}

const NOTHING: Octets = { building: 0, sending: 0 }

/** A part of the budget that is in use. */
interface Use {
  octets: Octets
  readonly account: string
  readonly site: string
  /** It began although an earlier one was waiting. */
  readonly isAhead: boolean
}

/** A loaded body that concurrent deliveries share. */
interface LoadedBody {
  loading: Promise<LoadedMessage> | undefined
  readonly use: Use
  users: number
}

interface Waiting {
  readonly message: LoadedMessage
  readonly account: string
  readonly site: string
  /** Besides the shared body. */
  readonly own: Octets
  readonly enter: (entered: Entered) => void
}

interface Entered {
  readonly message: LoadedMessage
  readonly use: Use
  /** Undefined when the delivery no longer needs it. */
  body: LoadedBody | undefined
  isBuilt: boolean
}

/** The use of a body. */
interface Work<B, T> {
  readonly build: (loaded: LoadedMessage) => Promise<B>
  readonly send: (built: B) => Promise<T>
}

/**
 * Loads bodies that are too large to be loaded with a claim: once for all concurrent deliveries of a message, and within a memory
 * budget. A built message counts as what remains of it, until the kernel has all of it: not while its server is silent at the final dot.
 *
 * Waiting deliveries are admitted in order, but accounts take turns, and one account and one site have at most their share of the budget. While the
 * first has no room beside mail that servers are slow to take, later ones may begin that fit beside both.
 */
export class LargeBodies {
  readonly #bodies = new Map<string, LoadedBody>()
  /** Bytes being sent, by account and site. */
  readonly #sendingOf = new Tally<string>()
  /** Messages that are being built, by account. */
  readonly #buildsOf = new Tally<string>()
  #waiting: Waiting[] = []
  readonly #core: Pick<Core, 'messages'>
  readonly #siteShare: number
  #building = 0
  #sending = 0
  /** Of these, bytes of those that began ahead of an earlier one. */
  #ahead = 0

  /** `single`: almost all mail goes to one site, which may use the whole budget. */
  constructor(core: Pick<Core, 'messages'>, { single }: { single: boolean }) {
    this.#core = core
    this.#siteShare = single ? SENDING_BYTES : SITE_BYTES
  }

  /**
   * Builds a message from its body, and sends it. `size`: that of the built message, if it exceeds the estimate from the body's size. Throws
   * what loading, `build` or `send` throws.
   */
  async with<B extends { readonly message: MessageOctets }, T>(
    message: LoadedMessage,
    site: string,
    { build, send }: Work<B, T>,
    size?: number,
  ): Promise<T> {
    if (message.parts && size === undefined) return send(await build(message))
    const own = size === undefined ? ownOctets(message) : { building: Math.ceil(size / 2), sending: size }
    const entered = await new Promise<Entered>((enter) => {
      this.#waiting.push({ message, account: `account ${message.accountId}`, site: `site ${site}`, own, enter })
      this.#admit()
    })
    try {
      const built = await this.#build(entered, build)
      // Not written where it is assigned: V8 would keep it, and the body, until the next full collection.
      const leave = () => this.#leave(entered)
      built.message.onRelease = leave
      return await send(built)
    } finally {
      this.#leave(entered)
    }
  }

  /** A function of its own, because a suspended one keeps what it has: the body would stay in memory while the message is sent. */
  async #build<B extends { readonly message: MessageOctets }>(
    entered: Entered,
    build: Work<B, unknown>['build'],
  ): Promise<B> {
    const { use, body } = entered
    const loaded = await (body?.loading as Promise<LoadedMessage>)
    const built = await build(loaded)
    this.#endBuild(entered)
    const { octets } = built.message
    const isBody = [...(loaded.parts?.values() ?? [])].some(({ buffer }) => buffer === octets.buffer)
    if (isBody && body) {
      this.#change(use, NOTHING)
      this.#change(body.use, { building: 0, sending: sharedOctets(entered.message) })
    } else {
      this.#change(use, { building: 0, sending: octets.length })
      this.#leaveBody(entered)
    }
    this.#admit()
    return built
  }

  #admit(): void {
    let first: Octets | undefined
    const served = new Set<string>()
    const left = this.#waiting.filter((waiting) => {
      const needed = this.#needed(waiting)
      if (this.#isOverShare(waiting, needed)) return true
      if (this.#fits(needed) && (!first || this.#fitsBeside(first, needed))) {
        this.#enter(waiting, first !== undefined)
        // One that begins ahead of another does so out of turn.
        if (!first) served.add(waiting.account)
        return false
      }
      first ??= needed
      return true
    })
    const isServed = ({ account }: Waiting): boolean => served.has(account)
    this.#waiting = served.size === 0 ? left : [...left.filter((one) => !isServed(one)), ...left.filter(isServed)]
  }

  #needed({ message, own }: Waiting): Octets {
    const body = this.#bodies.has(message.id) ? NOTHING : bodyOctets(message)
    // A message that is larger than the share of an account does not wait until nothing else is sent.
    const sending = Math.min(own.sending + body.sending, ACCOUNT_BYTES)
    return { building: own.building + body.building, sending }
  }

  #fits(needed: Octets): boolean {
    return hasRoom(this.#building, needed.building, BUILDING_BYTES) && this.#hasRoomToSend(needed)
  }

  #hasRoomToSend({ sending }: Octets): boolean {
    return hasRoom(this.#sending, sending, SENDING_BYTES)
  }

  /** Whether the first that waits fits all the same once those that were sent before it are gone. One that waits for its building does soon. */
  #fitsBeside(first: Octets, { sending }: Octets): boolean {
    return !this.#hasRoomToSend(first) && this.#ahead + sending + first.sending <= SENDING_BYTES
  }

  #isOverShare({ account, site, own }: Waiting, { sending }: Octets): boolean {
    if (own.building > 0 && this.#buildsOf.of(account) >= ACCOUNT_BUILDS) return true
    const isOver = (holder: string, share: number): boolean => !hasRoom(this.#sendingOf.of(holder), sending, share)
    return isOver(site, this.#siteShare) || isOver(account, ACCOUNT_BYTES)
  }

  #enter({ message, account, site, own, enter }: Waiting, isAhead: boolean): void {
    let body = this.#bodies.get(message.id)
    if (!body) {
      const loading = message.parts ? Promise.resolve(message) : this.#core.messages.loadParts(message)
      body = { loading, use: { octets: NOTHING, account, site, isAhead }, users: 0 }
      this.#bodies.set(message.id, body)
      this.#change(body.use, bodyOctets(message))
    }
    body.users++
    const use: Use = { octets: NOTHING, account, site, isAhead }
    this.#change(use, own)
    if (own.building > 0) this.#buildsOf.add(account, 1)
    enter({ message, use, body, isBuilt: own.building === 0 })
  }

  #leave(entered: Entered): void {
    this.#endBuild(entered)
    this.#change(entered.use, NOTHING)
    this.#leaveBody(entered)
    this.#admit()
  }

  #leaveBody(entered: Entered): void {
    const { message, body } = entered
    entered.body = undefined
    if (!body || --body.users > 0) return
    this.#bodies.delete(message.id)
    body.loading = undefined
    this.#change(body.use, NOTHING)
  }

  #endBuild(entered: Entered): void {
    if (entered.isBuilt) return
    entered.isBuilt = true
    this.#buildsOf.add(entered.use.account, -1)
  }

  #change(use: Use, octets: Octets): void {
    const sending = octets.sending - use.octets.sending
    this.#building += octets.building - use.octets.building
    this.#sending += sending
    if (use.isAhead) this.#ahead += sending
    for (const holder of [use.account, use.site]) this.#sendingOf.add(holder, sending)
    use.octets = octets
  }
}

function hasRoom(used: number, needed: number, most: number): boolean {
  return used === 0 || needed === 0 || used + needed <= most
}

/** Bytes of the shared body; a body loaded with the claim is already counted. */
function sharedOctets({ parts, size }: LoadedMessage): number {
  return parts ? 0 : size
}

/** Relayed mail without added content is sent unchanged; other bodies are needed until the message is built. */
function bodyOctets(message: LoadedMessage): Octets {
  const octets = sharedOctets(message)
  return isUnchanged(message) ? { building: 0, sending: octets } : { building: octets, sending: 0 }
}

/** Bytes that one delivery needs besides the shared body. */
function ownOctets(message: LoadedMessage): Octets {
  if (isUnchanged(message)) return NOTHING
  const sending = Math.ceil(message.size * BUILT_FACTOR)
  return { building: Math.ceil(message.size * factorOf(message)) - sending, sending }
}

function isUnchanged(message: LoadedMessage): boolean {
  return message.format === 'mime' && !isAddedTo(message)
}

function factorOf(message: LoadedMessage): number {
  return isAddedTo(message) ? ADDED_CONTENT_FACTOR : COMPOSED_FACTOR
}
