/** Collects what a template renders as UTF-8, up to a limit. Outside of the heap, so that 10 MB fit beside the template. */
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

  /** What was written, in memory of its own: a message to another thread takes all of the memory it stands in. */
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

/** The rendering reached a limit: an outcome of template and data. */
export class TooMuch extends Error {
  readonly what: 'output' | 'steps'

  constructor(what: 'output' | 'steps') {
    super(what)
    this.what = what
  }
}
