const BUCKET_MS = 10_000
const BUCKETS = 6

interface Bucket {
  readonly at: number
  tries: number
  refused: number
}

/** How many deliveries were tried at a destination within the last minute, and how many the provider refused for now. */
export class RecentTries {
  #buckets: Bucket[] = []

  add(refused: boolean): void {
    const at = Math.floor(performance.now() / BUCKET_MS)
    let last = this.#buckets.at(-1)
    if (last?.at !== at) {
      last = { at, tries: 0, refused: 0 }
      this.#buckets.push(last)
    }
    last.tries++
    if (refused) last.refused++
  }

  get counts(): { readonly tries: number; readonly refused: number } {
    const first = Math.floor(performance.now() / BUCKET_MS) - BUCKETS
    this.#buckets = this.#buckets.filter(({ at }) => at > first)
    return {
      tries: this.#buckets.reduce((sum, { tries }) => sum + tries, 0),
      refused: this.#buckets.reduce((sum, { refused }) => sum + refused, 0),
    }
  }

  clear(): void {
    this.#buckets = []
  }
}
