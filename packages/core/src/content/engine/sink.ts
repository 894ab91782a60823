/**
 * Collects the rendered output as UTF-8, up to a limit. Stored outside the heap, so that 10 MB fit in addition to the
 * template.
 */
export class Sink {
  readonly #limit: number
  #octets = Buffer.allocUnsafeSlow(16 * 1024)
  #used = 0
  #pending = ''

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Throws TooMuch. */
  write(text: string): void {
    if (text.length > this.#limit) throw new TooMuch('output')
    this.#pending += text
    if (this.#pending.length > 8192) this.#flush()
  }

  /**
   * Returns the output in a buffer of its own, since a transfer to another thread takes the whole underlying buffer.
   */
  end(): Uint8Array {
    this.#flush()
    return new Uint8Array(this.#octets.subarray(0, this.#used))
  }

  #flush(): void {
    const needed = this.#used + Buffer.byteLength(this.#pending)
    if (needed > this.#limit) throw new TooMuch('output')
    if (needed > this.#octets.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(needed, this.#octets.length * 2)))
      this.#octets.copy(grown, 0, 0, this.#used)
      this.#octets = grown
    }
    this.#used += this.#octets.write(this.#pending, this.#used)
    this.#pending = ''
  }
}

/** The rendering exceeded a limit because of its template and data. */
export class TooMuch extends Error {
  readonly what: 'output' | 'steps'

  constructor(what: 'output' | 'steps') {
    super(what)
    this.what = what
  }
}
