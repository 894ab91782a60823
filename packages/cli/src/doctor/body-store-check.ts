import { randomUUID } from 'node:crypto'
import { createObjectStore, isOwner, notOwned, type ObjectStore, oldestRemoval, type Sql } from '@postrider/core'
import type { Check } from './check.ts'
import { bad, type CheckResult, ok, spanText, warn } from './check-result.ts'
import type { Readings } from './readings.ts'

const LIMITS = { timeoutMs: 4000 }
/** Seconds after which an object that is to be removed is late. */
const LATE = 3600

export const bodyStoreCheck: Check = { area: 'database', name: 'body store', database: true, run: check }

async function check({ config, sql }: Readings): Promise<CheckResult | undefined> {
  if (!config.bodyStore) return undefined
  const store = createObjectStore(config.bodyStore)
  try {
    return await evaluate(store, sql())
  } catch (error) {
    return bad(
      (error as Error).message,
      'large messages are refused or wait until then; correct BODY_STORE and the settings that begin with S3_, or the storage (docs/object-storage.md)',
    )
  } finally {
    store.close()
  }
}

/** Does with an object of its own what the service does with bodies. */
async function evaluate(store: ObjectStore, sql: Sql): Promise<CheckResult> {
  const began = performance.now()
  const key = `postrider-doctor-${randomUUID()}`
  await store.put(key, Buffer.from('postrider doctor\n'), LIMITS)
  await store.get(key, { ...LIMITS, maxBytes: 100 })
  await store.list(key, { ...LIMITS, limit: 1 })
  await store.remove(key, LIMITS)
  const took = Math.round(performance.now() - began)
  if ((await isOwner(sql, store)) === false) return bad(notOwned(store), 'correct BODY_STORE')
  const oldest = await oldestRemoval(sql)
  if (oldest > LATE)
    return warn(
      `objects should have been removed ${spanText(oldest)} ago`,
      'the log of the delivery processes says why ("bodies are not removed from object storage")',
    )
  return ok(`${store.name} stores, reads, lists and removes objects, in ${took} ms`)
}
