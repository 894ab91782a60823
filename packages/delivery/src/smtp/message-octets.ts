import { release } from '@postrider/core'

/** Bytes above which a message is freed explicitly instead of by garbage collection. */
const LARGE_BYTES = 1024 * 1024

/** Whether the octets end with a line end; otherwise one is added before the dot (RFC 5321 4.1.1.4). */
export function endsWithCrlf(octets: Buffer): boolean {
  return octets.length >= 2 && octets[octets.length - 2] === 13 && octets[octets.length - 1] === 10
}

/** The octets of a message until they are released: from then on, what still refers to this object keeps no memory. */
export class MessageOctets {
  readonly length: number
  #octets: Buffer | undefined
  readonly #isOwn: boolean
  #onRelease: (() => void) | undefined

  /** `isOwn`: the memory belongs to this message alone. */
  constructor(octets: Buffer, { isOwn }: { readonly isOwn: boolean }) {
    this.length = octets.length
    this.#octets = octets
    this.#isOwn = isOwn
  }

  get octets(): Buffer {
    if (!this.#octets) throw new Error('the message was released')
    return this.#octets
  }

  set onRelease(act: () => void) {
    this.#onRelease = act
  }

  release(): void {
    const octets = this.#octets
    if (!octets) return
    this.#octets = undefined
    if (this.#isOwn && octets.length > LARGE_BYTES) release(octets)
    this.#onRelease?.()
  }
}
