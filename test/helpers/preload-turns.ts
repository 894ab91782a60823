import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import { ownCpu } from './turns.ts'

/**
 * Loaded with --import into a process of the service that is measured. It tells the parent, when asked, how much processor time
 * the main thread spent at most in one turn of its loop: that is how long it answered nobody, whatever else the machine did
 * meanwhile. An immediate that does not keep the loop awake runs once a turn, behind whatever the turn had to do.
 */
export interface Turns {
  /** Milliseconds of processor time of the longest turn, and of all turns. */
  readonly longest: number
  readonly spent: number
}

function measure(): void {
  // What an input leaves behind is not what the next one takes.
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let last = ownCpu()
  let since = last
  let longest = 0
  const turn = (): void => {
    const now = ownCpu()
    longest = Math.max(longest, now - last)
    last = now
    setImmediate(turn).unref()
  }
  setImmediate(turn).unref()
  process.on('message', (message) => {
    if (message === 'turns')
      process.send?.({ turns: { longest: Math.max(longest, ownCpu() - last), spent: ownCpu() - since } })
    if (message === 'forget turns') {
      collect()
      longest = 0
      last = since = ownCpu()
      process.send?.({ forgot: true })
    }
  })
}

if (isMainThread) measure()
