interface Asked<K, V> {
  readonly key: K
  readonly resolve: (value: V) => void
  readonly reject: (error: unknown) => void
}

/**
 * Returns a function that loads one value; keys that are requested in one iteration of the event loop are loaded by one call,
 * of at most `most` keys. Nothing waits for a call that is in progress, so one that hangs delays only its own keys.
 *
 * `load` returns one value per key, in order. If it throws, all of its keys fail.
 */
export function gather<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  most: number,
): (key: K) => Promise<V> {
  let asked: Asked<K, V>[] = []

  async function loadSome(some: readonly Asked<K, V>[]): Promise<void> {
    try {
      const values = await load(some.map(({ key }) => key))
      for (const [at, { resolve }] of some.entries()) resolve(values[at] as V)
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
  }

  function loadAll(): void {
    const all = asked
    asked = []
    for (let at = 0; at < all.length; at += most) void loadSome(all.slice(at, at + most))
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (asked.push({ key, resolve, reject }) === 1) setImmediate(loadAll)
    })
}
