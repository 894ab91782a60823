import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { promisify } from 'node:util'

/** Names of the threads of libuv's pool, in which Node signs. */
const POOL_THREAD = /^libuv-worker/
/**
 * On a busy processor a thread with this nice value (setpriority(2)) gets a thirtieth of the time of another one, on an idle processor
 * all it needs. Measured on two cores: docs/performance.md, Experiments.
 */
const NICE = 15

/**
 * Lowers the priority of the threads that sign messages. On a busy processor they then do not interrupt the main loop, which talks to all
 * servers and to the database; when the loop has nothing else to do, it waits for their signatures, and they run. Only Linux shows
 * its threads in /proc; elsewhere this does nothing. It never rejects.
 */
export async function yieldWhileSigning(): Promise<void> {
  try {
    // libuv starts all its threads at the first work for one.
    await promisify(randomBytes)(1)
    for (const task of await readdir('/proc/self/task')) {
      const name = await readFile(`/proc/self/task/${task}/comm`, 'utf8')
      const thread = Number(task)
      if (POOL_THREAD.test(name) && getPriority(thread) < NICE) setPriority(thread, NICE)
    }
  } catch {
    // Another system, or a container without /proc.
  }
}
