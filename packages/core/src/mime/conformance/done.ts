/** Corrections in a body, for the reply to its sender; names of parts are as in {@link nameOf}. */
export class Done {
  /** Parts that were encoded. */
  readonly encoded: string[] = []
  /** Parts whose header was folded or encoded. */
  readonly headers: string[] = []
  /** Other corrections, in words. */
  readonly others: string[] = []
  readonly #sevenBit: boolean

  constructor(sevenBit: boolean) {
    this.#sevenBit = sevenBit
  }

  get words(): string {
    const { others, encoded, headers } = this
    const other = others.length > 1 ? `${others.length} parts were corrected` : others[0]
    const coded =
      encoded.length > 1 ? `${encoded.length} parts were encoded` : encoded[0] && `${encoded[0]} was encoded`
    const all = [other, coded ?? wordsOf(headers, this.#sevenBit ? 'written in ASCII' : 'folded')].filter(Boolean)
    return all.length > 0 ? all.join('; ') : 'lines outside of its parts were broken'
  }

  /** Adds what was done in a part. */
  add({ encoded, headers, others }: Done): void {
    this.encoded.push(...encoded)
    this.headers.push(...headers)
    this.others.push(...others)
  }

  /** Returns a function that takes back what was noted since. */
  mark(): () => void {
    const [encoded, headers] = [this.encoded.length, this.headers.length]
    return () => {
      this.encoded.length = encoded
      this.headers.length = headers
    }
  }
}

function wordsOf(headers: readonly string[], done: string): string | undefined {
  if (headers.length > 1) return `the headers of ${headers.length} parts were ${done}`
  return headers[0] && `the header of ${headers[0]} was ${done}`
}
