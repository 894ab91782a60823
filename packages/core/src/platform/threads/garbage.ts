import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Returns a function that collects the garbage of the calling thread, which takes about ten to fifty milliseconds; not
 * for the main loop. One large message leaves as much garbage as a process may use in total, and a thread's heap grows
 * regardless of the other heaps: collecting after each message saved 50 MB with messages of 10 MB.
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
