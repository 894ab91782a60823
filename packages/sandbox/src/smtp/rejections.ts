import { randomUUIDv7 } from 'node:crypto'
import { startAfter } from '../reading/start-after.ts'
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

export interface RejectionQuery {
  readonly q: string
  /** If empty, the page begins with the newest. */
  readonly before: string
  readonly limit: number
}

export interface FoundRejections {
  readonly rejections: readonly Rejection[]
  /** Number of those found before the first. */
  readonly start: number
  readonly total: number
}

/** Maximum number of rejections; the oldest are forgotten. */
export const MAX_REJECTIONS = 1000

/** The latest rejections, in memory only. */
export class Rejections {
  readonly #latest: Rejection[] = []
  #total = 0
  readonly #onAdd: () => void

  constructor(onAdd: () => void) {
    this.#onAdd = onAdd
  }

  /**
   * Those whose recipient, return path or reply has all words of `q`, the newest first; of them `limit`, older than the one with the id `before`.
   */
  find({ q, before, limit }: RejectionQuery): FoundRejections {
    const words = q.toLowerCase().split(/\s/).filter(Boolean)
    const found = this.#latest.filter((one) => words.every((word) => textOf(one).includes(word))).reverse()
    const ids = found.map(({ id }) => id)
    const start = startAfter(ids, before)
    return { rejections: found.slice(start, start + limit), start, total: found.length }
  }

  /** All since the sandbox was started. */
  get total(): number {
    return this.#total
  }

  add(rejection: Pick<Rejection, 'from' | 'to' | 'reply'>): void {
    this.#total++
    this.#latest.push({ id: randomUUIDv7().replaceAll('-', ''), at: new Date(), ...rejection })
    if (this.#latest.length > MAX_REJECTIONS) this.#latest.shift()
    this.#onAdd()
  }

  clear(): void {
    this.#latest.length = 0
    this.#onAdd()
  }
}

function textOf({ from, to, reply }: Rejection): string {
  return `${from} ${to} ${reply ? `${reply.code} ${reply.text}` : ''}`.toLowerCase()
}
