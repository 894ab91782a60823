import { randomUUIDv7 } from 'node:crypto'
import type { Reply } from './behaviours.ts'

/** A recipient or message that the sandbox rejected, deferred or hung up on. */
export interface Rejection {
  readonly id: string
  readonly at: Date
  /** The return path. */
  readonly from: string
  readonly to: string
  /** Undefined if the connection was closed without a reply. */
  readonly reply: Reply | undefined
}

/** Maximum number of rejections; the oldest are forgotten. */
const MAX_REJECTIONS = 1000

/** The latest rejections, in memory only. */
export class Rejections {
  readonly #latest: Rejection[] = []
  readonly #onAdd: () => void

  constructor(onAdd: () => void) {
    this.#onAdd = onAdd
  }

  /** The newest is last. */
  list(): readonly Rejection[] {
    return this.#latest
  }

  add(rejection: Pick<Rejection, 'from' | 'to' | 'reply'>): void {
    this.#latest.push({ id: randomUUIDv7().replaceAll('-', ''), at: new Date(), ...rejection })
    if (this.#latest.length > MAX_REJECTIONS) this.#latest.shift()
    this.#onAdd()
  }

  clear(): void {
    this.#latest.length = 0
    this.#onAdd()
  }
}
