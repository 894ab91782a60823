import type { Sql } from './database.ts'
import { quietFor } from './deadlines.ts'

/** Milliseconds of each step of the wait: a process that was itself blocked for long has not waited for long. */
const WAIT_STEP = 250

/**
 * Throws if there is no answer within `limit` milliseconds. Keeps waiting while other connections of the pool receive
 * data: then the pool is busy, or only one connection is dead, and mail still flows.
 */
export async function answerWithin<T>(answer: Promise<T>, limit: number, pool: Sql): Promise<T> {
  let over = false
  const settled = answer.finally(() => {
    over = true
  })
  settled.catch(() => {})
  for (let waited = 0; !over && (waited < limit || quietFor(pool) < limit - WAIT_STEP); waited += WAIT_STEP) {
    let timer: NodeJS.Timeout | undefined
    const step = new Promise((resolve) => {
      timer = setTimeout(resolve, WAIT_STEP)
    })
    await Promise.race([settled, step]).finally(() => clearTimeout(timer))
  }
  if (over) return settled
  throw new Error('the database does not respond')
}
