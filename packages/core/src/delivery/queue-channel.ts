import type { Sql } from '../platform/database/database.ts'
import type { Flow } from './flows.ts'

/** The notification channel that wakes workers after a message is accepted. */
export const QUEUE_CHANNEL = 'postrider_queue'

/** Flows beyond which a notification names none: a payload holds 8000 bytes. */
const MAX_NAMED = 400

/**
 * Returns a function that wakes the workers after a commit. NOTIFY stays outside the transaction that accepts a message,
 * because it takes a lock that all committing sessions share. Only one runs at a time, because one wake-up serves all.
 */
export function announcer(sql: Sql): (flow: Flow) => void {
  let running = false
  let queued = new Set<string>()
  const run = async (): Promise<void> => {
    running = true
    while (queued.size > 0) {
      const payload = queued.size > MAX_NAMED ? '' : [...queued].join(' ')
      queued = new Set()
      // A lost wake-up delays mail by one poll interval at most.
      await wake(sql, payload).catch(() => {})
    }
    running = false
  }
  return ({ accountId, class: of }) => {
    queued.add(`${accountId}.${of}`)
    if (!running) void run()
  }
}

/** NOTIFY writes a commit record, which need not be flushed. */
export async function wake(sql: Sql, payload: string): Promise<void> {
  await sql`select set_config('synchronous_commit', 'off', true), pg_notify(${QUEUE_CHANNEL}, ${payload})`
}

/** Returns the flows that a notification names; undefined if any flow may have mail. */
export function readFlows(payload: string): Flow[] | undefined {
  if (!/^(?:\d{1,10}\.[012](?: |$)){1,1000}$/.test(payload)) return undefined
  return payload.split(' ').map((flow) => {
    const [accountId, of] = flow.split('.').map(Number)
    return { accountId: accountId as number, class: of as Flow['class'] }
  })
}
