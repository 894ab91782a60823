import { timerDelay } from '@postrider/core'
import type { Inbox } from '../inbox.ts'
import type { InboxEntry } from '../inbox-entry.ts'
import { type Digest, EMPTY_DIGEST } from '../reading/digest.ts'
import { type MessageReader, NotShown } from '../reading/message-reader.ts'

/** Above the number of messages that the inbox keeps. */
const MAX_KNOWN = 12_000
/** Digests between two notices to open pages. */
const NOTICE_EVERY = 100

/**
 * Digests of messages, kept in memory. They are read only while pages are open, one at a time and after the receipt of the message: the SMTP
 * client never waits for them.
 */
export class Digests {
  readonly #inbox: Inbox
  readonly #reader: MessageReader
  readonly #onRead: () => void
  readonly #known = new Map<string, Digest>()
  #queue: InboxEntry[] = []
  /** The digests that calls wait for, by id. */
  readonly #waited = new Map<string, PromiseWithResolvers<void>>()
  #work: Promise<void> | undefined

  constructor(inbox: Inbox, reader: MessageReader, onRead: () => void) {
    this.#inbox = inbox
    this.#reader = reader
    this.#onRead = onRead
  }

  of({ id }: InboxEntry): Digest | undefined {
    return this.#known.get(id)
  }

  /** Reads the missing digests of these messages, in this order. Returns after this time at the latest; reading goes on. */
  async read(entries: readonly InboxEntry[], milliseconds: number): Promise<void> {
    const missing = entries.filter(({ id }) => !this.#known.has(id))
    const last = missing.at(-1)
    if (!last) return
    // Before those that other calls wait for: these are read, too.
    this.#queue = [...new Set([...missing, ...this.#queue])]
    this.#work ??= this.#readAll()
    const known = this.#waited.get(last.id) ?? Promise.withResolvers<void>()
    this.#waited.set(last.id, known)
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, timerDelay(milliseconds))
    await Promise.race([known.promise, late.promise])
    clearTimeout(timer)
  }

  async #readAll(): Promise<void> {
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
    let count = 0
    for (let entry = this.#queue.shift(); entry; entry = this.#queue.shift()) {
      const digest = await this.#readOne(entry)
      // The thread is busy or the process is ending: the next page tries again.
      if (!digest) this.#queue = []
      else {
        this.#known.set(entry.id, digest)
        this.#waited.get(entry.id)?.resolve()
        this.#waited.delete(entry.id)
        if (++count % NOTICE_EVERY === 0) this.#onRead()
      }
    }
    this.#work = undefined
    for (const { resolve } of this.#waited.values()) resolve()
    this.#waited.clear()
    if (count > 0) this.#onRead()
  }

  async #readOne(entry: InboxEntry): Promise<Digest | undefined> {
    try {
      return (await this.#reader.digest(this.#inbox.fileOf(entry))) ?? EMPTY_DIGEST
    } catch (error) {
      return error instanceof NotShown && error.why === 'busy' ? undefined : EMPTY_DIGEST
    }
  }
}
