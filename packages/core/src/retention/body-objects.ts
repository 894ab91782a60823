import { dayPrefix, messageOfKey } from '../composition/body-key.ts'
import { onlyRow, type Sql } from '../platform/database/database.ts'
import { type ObjectStore, ObjectStoreError } from '../platform/storage/object-store.ts'

/** Removes objects of bodies from object storage. Delivery workers may call it concurrently. */
export interface BodyObjectRemoval {
  /** Removes some objects whose rows are deleted. Returns whether there may be more. Throws ObjectStoreError. */
  removeSome(): Promise<boolean>
  /**
   * Looks for objects of messages that were never stored, among those of a day that is past, and notes them. Returns whether there may be
   * more. Throws ObjectStoreError.
   */
  sweepSome(): Promise<boolean>
}

/** The object that says which installation the prefix belongs to. */
export const OWNER_KEY = 'postrider-owner'
/** Objects removed in one round, and at once. */
const REMOVED = 500
const AT_ONCE = 16
/** Objects listed in one round. */
const LISTED = 1000
/** After this, a round that a process did not finish is repeated. */
const REPEAT = '5 minutes'
/** Between the end of a day and its sweep: an accept takes less than a minute. */
const GRACE = '6 hours'
const SWEEP_INTERVAL = '10 minutes'
const TIMEOUT_MS = 10_000

/** Without object storage, nothing is removed; what was noted stays noted. */
export function createBodyObjectRemoval(sql: Sql, store: ObjectStore | undefined): BodyObjectRemoval {
  if (!store) return { removeSome: async () => false, sweepSome: async () => false }
  return {
    removeSome: () => removeSome(sql, store),
    sweepSome: () => sweepSome(sql, store),
  }
}

async function removeSome(sql: Sql, store: ObjectStore): Promise<boolean> {
  const rows = await sql<{ key: string }[]>`
    update object_removals set due_at = service_now() + ${REPEAT}::text::interval
     where key = any(array(select key from object_removals where due_at <= service_now()
                            order by due_at limit ${REMOVED} for update skip locked))
    returning key`
  if (rows.length === 0) return false
  await requireOwner(sql, store)
  const keys = rows.map(({ key }) => key)
  const removed: string[] = []
  const later: string[] = []
  try {
    await eachOf(
      keys.filter((key) => !key.endsWith('/')),
      async (key) => {
        await store.remove(key, { timeoutMs: TIMEOUT_MS })
        removed.push(key)
      },
    )
    for (const day of keys.filter((key) => key.endsWith('/'))) {
      if (await removeSomeOf(store, day)) removed.push(day)
      else later.push(day)
    }
  } finally {
    // Objects that were removed are not tried a second time, whatever failed.
    await sql`delete from object_removals where key = any(${removed}::text[])`
    if (later.length > 0) await sql`update object_removals set due_at = service_now() where key = any(${later}::text[])`
  }
  return true
}

/** Removes some objects of a day. Returns whether none is left. */
async function removeSomeOf(store: ObjectStore, day: string): Promise<boolean> {
  const { keys, isComplete } = await store.list(day, { limit: REMOVED, timeoutMs: TIMEOUT_MS })
  await eachOf(keys, (key) => store.remove(key, { timeoutMs: TIMEOUT_MS }))
  return isComplete
}

/** Runs `act` for each key, some at once, each of which ends with its first failure. */
async function eachOf(keys: readonly string[], act: (key: string) => Promise<void>): Promise<void> {
  const left = keys.values()
  const results = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, async () => {
      for (const key of left) await act(key)
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Notes that this installation has bodies in object storage. */
export async function noteStorage(sql: Sql): Promise<void> {
  await sql`insert into object_sweep default values on conflict do nothing`
}

async function sweepSome(sql: Sql, store: ObjectStore): Promise<boolean> {
  await noteStorage(sql)
  const [turn] = await sql<{ day: Date; after: string }[]>`
    update object_sweep set due_at = service_now() + ${SWEEP_INTERVAL}::text::interval
     where due_at <= service_now() and (day + 1)::timestamp at time zone 'UTC' + ${GRACE}::text::interval <= service_now()
    returning day::timestamp at time zone 'UTC' as day, after`
  if (!turn) return false
  await requireOwner(sql, store)
  const prefix = dayPrefix(turn.day)
  const { keys, isComplete } = await store.list(prefix, {
    limit: LISTED,
    timeoutMs: TIMEOUT_MS,
    ...(turn.after === '' ? {} : { after: turn.after }),
  })
  const found = keys.flatMap((key) => {
    const message = messageOfKey(key)
    return message ? [{ key, id: message.id }] : []
  })
  await sql`
    with noted as (
      insert into object_removals (key)
      select w.key from unnest(${found.map(({ key }) => key)}::text[], ${found.map(({ id }) => id)}::uuid[]) as w(key, id)
       where not exists (select from bodies b where b.message_id = w.id)
      on conflict do nothing
    )
    update object_sweep
       set due_at = service_now(), after = ${isComplete ? '' : (keys.at(-1) ?? '')}, day = day + ${isComplete ? 1 : 0}::int
     where day = ${prefix.slice(0, 10)}::date and after = ${turn.after}`
  return true
}

/**
 * Returns whether the prefix is this installation's, as far as the storage says; undefined if nothing there says so. Another one knows nothing of
 * these messages, and would remove all their bodies.
 */
export async function isOwner(sql: Sql, store: ObjectStore): Promise<boolean | undefined> {
  const owner = await ownerOf(sql)
  try {
    const found = await store.get(OWNER_KEY, { maxBytes: 1024, timeoutMs: TIMEOUT_MS })
    return found.toString('latin1').trim() === owner
  } catch (error) {
    if (error instanceof ObjectStoreError && error.kind === 'missing') return undefined
    throw error
  }
}

async function requireOwner(sql: Sql, store: ObjectStore): Promise<void> {
  const found = await isOwner(sql, store)
  if (found === undefined) await store.put(OWNER_KEY, Buffer.from(`${await ownerOf(sql)}\n`), { timeoutMs: TIMEOUT_MS })
  if (found === false) throw new ObjectStoreError('refused', notOwned(store))
}

/** Returns the sentence that tells the operator what to do if the prefix belongs to another installation. */
export function notOwned({ name }: ObjectStore): string {
  return (
    `${name} has the bodies of another installation, so none is removed: give each its own prefix in BODY_STORE, or remove the object ` +
    `${OWNER_KEY} if the other one is gone`
  )
}

async function ownerOf(sql: Sql): Promise<string> {
  await noteStorage(sql)
  return onlyRow(await sql<{ owner: string }[]>`select owner::text from object_sweep`).owner
}
