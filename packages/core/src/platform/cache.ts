/**
 * Answers kept for a short time, so that hot paths don't ask the database for what rarely changes. Bounded in age, because
 * a revoked key must be refused within 5 s in every process, and in number. Calls for the same key share one load, as long
 * as its answer will be young enough for them; a load that fails is not kept.
 */
export interface Cache<V> {
  get(key: string): Promise<V> | V
  /** The last answer, however old; undefined when there is none. */
  peek(key: string): V | undefined
  forget(key?: string): void
}

export interface CacheOptions<V> {
  readonly load: (key: string) => Promise<V>
  /** Milliseconds an answer may be used, counted from before it was asked for. */
  readonly maxAge: number
  readonly maxEntries: number
  readonly monotonic?: () => number
}

interface Load<V> {
  readonly answer: Promise<V>
  readonly askedAt: number
}

interface Entry<V> {
  value: V | undefined
  askedAt: number
  loading: Load<V> | undefined
}

export function createCache<V>({
  load,
  maxAge,
  maxEntries,
  monotonic = () => performance.now(),
}: CacheOptions<V>): Cache<V> {
  const entries = new Map<string, Entry<V>>()

  function refresh(key: string, entry: Entry<V>): Promise<V> {
    const askedAt = monotonic()
    // A database that hangs must not stretch the bound: what was asked before a key was revoked may say that it is good.
    if (entry.loading && askedAt - entry.loading.askedAt < maxAge) return entry.loading.answer
    const answer = load(key).then(
      (value) => {
        if (askedAt >= entry.askedAt) {
          entry.value = value
          entry.askedAt = askedAt
        }
        if (entry.loading === loading) entry.loading = undefined
        return value
      },
      (error: unknown) => {
        if (entry.loading === loading) entry.loading = undefined
        if (entry.value === undefined && !entry.loading && entries.get(key) === entry) entries.delete(key)
        throw error
      },
    )
    const loading: Load<V> = { answer, askedAt }
    entry.loading = loading
    return answer
  }

  return {
    get(key) {
      let entry = entries.get(key)
      if (!entry) {
        if (entries.size >= maxEntries) dropOldest()
        entry = { value: undefined, loading: undefined, askedAt: Number.NEGATIVE_INFINITY }
        entries.set(key, entry)
      }
      const age = monotonic() - entry.askedAt
      if (entry.value === undefined || age >= maxAge) return refresh(key, entry)
      // Past half its age an answer is renewed behind the caller's back, so that busy keys never wait.
      if (age >= maxAge / 2 && !entry.loading) refresh(key, entry).catch(() => {})
      return entry.value
    },
    peek: (key) => entries.get(key)?.value,
    forget(key) {
      if (key === undefined) entries.clear()
      else entries.delete(key)
    },
  }

  function dropOldest(): void {
    const oldest = entries.keys().next()
    if (!oldest.done) entries.delete(oldest.value)
  }
}
