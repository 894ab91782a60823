import {
  bounceClass,
  type Core,
  isDatabaseTrouble,
  type Log,
  type Reply,
  type SourceResults,
  type WarmUpKey,
} from '@postrider/core'

/** Milliseconds after which all workers know that an allowance is used up. */
const KNOWN_BY_THEN_MS = 1500
/** Milliseconds between two statements that record results. */
const FLUSH_EVERY_MS = 1000

export interface WarmUpsOptions {
  readonly core: Core
  readonly log: Log
}

/** Records what happens to the sources that are warmed up: their allowances, results and pauses. */
export class WarmUps {
  readonly #options: WarmUpsOptions
  /** By source and provider, on the clock of performance.now(). */
  readonly #spentUntil = new Map<string, number>()
  /** Not yet recorded. */
  readonly #results = new Map<string, SourceResults>()
  #flushing: NodeJS.Timeout | undefined

  constructor(options: WarmUpsOptions) {
    this.#options = options
  }

  /** The allowance is used up for some seconds: other sources send the mail until then. */
  noteSpent(key: WarmUpKey, seconds: number): void {
    this.#spentUntil.set(textOf(key), performance.now() + KNOWN_BY_THEN_MS)
    void this.#try(() => this.#options.core.sources.noteSpent(key, seconds))
  }

  /** Whether this worker has found the allowance used up; the others may not know yet. */
  isSpent(key: WarmUpKey): boolean {
    return (this.#spentUntil.get(textOf(key)) ?? 0) > performance.now()
  }

  /** A back-off rule paused the source at the provider. */
  noteBlocked(key: WarmUpKey): void {
    void this.#try(() => this.#options.core.sources.noteBlocked(key))
  }

  /** A server replied to a delivery. `isRefused`: for now, because of volume, policy or content. */
  noteReply(key: WarmUpKey, { code, enhanced, text }: Reply, isRefused: boolean): void {
    const before = this.#results.get(textOf(key)) ?? { ...key, tried: 0, refused: 0, bounced: 0 }
    const isBounced = code >= 500 && bounceClass(enhanced, text) === 'bad-mailbox'
    this.#results.set(textOf(key), {
      ...before,
      tried: before.tried + 1,
      refused: before.refused + Number(isRefused),
      bounced: before.bounced + Number(isBounced),
    })
    this.#flushing ??= setTimeout(() => void this.flush(), FLUSH_EVERY_MS)
  }

  /** Records the results so far. */
  async flush(): Promise<void> {
    clearTimeout(this.#flushing)
    this.#flushing = undefined
    const results = [...this.#results.values()]
    this.#results.clear()
    await this.#try(() => this.#options.core.sources.addResults(results))
  }

  async #try(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (err) {
      if (!isDatabaseTrouble(err)) this.#options.log.error({ err }, 'could not record the warm-up of a source')
    }
  }
}

function textOf({ sourceId, provider }: WarmUpKey): string {
  return `${sourceId} ${provider}`
}
