/**
 * Keeps values for a short time, so that hot paths need not query the database for data that rarely changes. Bounded in
 * age, because every process must reject a revoked key within 5 s, and in number of entries. Concurrent calls for one
 * key share one load if its result will be recent enough for all of them. The result of a failed load is not kept.
 */
export interface Cache<V, By = undefined> {
  /** `by`: passed to a load that this call begins. */
  get(key: string, by?: By): Promise<V> | V
  /** The last value, whatever its age; undefined if there is none. */
  peek(key: string): V | undefined
  forget(key?: string): void
}

export interface CacheOptions<V, By = undefined> {
  readonly load: (key: string, by: By | undefined) => Promise<V>
  /** Milliseconds a value may be used, counted from the start of its load. */
  readonly maxAge: number
  /** Milliseconds for which this value may be used after its load, if that ends before `maxAge`. */
  readonly ageOf?: (value: V) => number
  readonly maxEntries: number
  readonly monotonic?: () => number
}

interface Load<V> {
  readonly result: Promise<V>
  readonly requestedAt: number
}

interface Entry<V> {
  value: V | undefined
  requestedAt: number
  /** When the value is too old. */
  endsAt: number
  loading: Load<V> | undefined
}

export function createCache<V, By = undefined>({
  load,
  maxAge,
  ageOf = () => maxAge,
  maxEntries,
  monotonic = () => performance.now(),
}: CacheOptions<V, By>): Cache<V, By> {
  const entries = new Map<string, Entry<V>>()

  function refresh(key: string, entry: Entry<V>, by: By | undefined): Promise<V> {
    const requestedAt = monotonic()
    // A slow database must not extend the maximum age: a query sent before a key was revoked may return the key as
    // valid.
    if (entry.loading && requestedAt - entry.loading.requestedAt < maxAge) return entry.loading.result
    const result = load(key, by).then(
      (value) => {
        if (requestedAt >= entry.requestedAt) {
          entry.value = value
          entry.requestedAt = requestedAt
          entry.endsAt = Math.min(requestedAt + maxAge, monotonic() + ageOf(value))
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
    const loading: Load<V> = { result, requestedAt }
    entry.loading = loading
    return result
  }

  return {
    get(key, by) {
      let entry = entries.get(key)
      if (!entry) {
        if (entries.size >= maxEntries) dropOldest()
        const never = Number.NEGATIVE_INFINITY
        entry = { value: undefined, loading: undefined, requestedAt: never, endsAt: never }
        entries.set(key, entry)
      }
      const now = monotonic()
      if (entry.value === undefined || now >= entry.endsAt) return refresh(key, entry, by)
      // After half its maximum age a value is refreshed in the background, so that callers of busy keys never wait.
      if (now - entry.requestedAt >= maxAge / 2 && !entry.loading) refresh(key, entry, by).catch(() => {})
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
