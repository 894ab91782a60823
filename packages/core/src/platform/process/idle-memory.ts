import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { timerDelay } from '../concurrency/timer-delay.ts'

/** Milliseconds between two looks. */
const LOOK_EVERY = 30_000
/** The part of the time in which an idle process uses a processor: looking for work takes a worker 0.01. */
const IDLE_SHARE = 0.03
/** Bytes by which the memory must have grown since the last collection: a collection takes some 30 ms. */
const GROWTH = 8 * 1024 * 1024

/** The process as a look sees it; tests give their own. */
export interface ProcessFigures {
  /** Milliseconds of processor time so far. */
  readonly processorTime: () => number
  readonly now: () => number
  /** Bytes. */
  readonly memory: () => number
  readonly collect: () => void
}

/**
 * Returns a function to be called regularly, which collects garbage when the process has been idle since the last call. V8 collects when much is
 * allocated, so what the start of a process left stayed for hours: 10 to 17 MB in each.
 */
export function idleCollector({ processorTime, now, memory, collect }: ProcessFigures): () => void {
  let last = { time: processorTime(), at: now() }
  let collected = 0
  return () => {
    const [time, at] = [processorTime(), now()]
    const isIdle = time - last.time < IDLE_SHARE * (at - last.at)
    last = { time, at }
    if (!isIdle || memory() < collected + GROWTH) return
    collect()
    collected = memory()
    last = { time: processorTime(), at: now() }
  }
}

/** Collects the garbage of this process whenever it has become idle. */
export function collectWhenIdle(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
  setFlagsFromString('--no-expose-gc')
  const look = idleCollector({
    processorTime() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    now: () => performance.now(),
    memory: () => process.memoryUsage.rss(),
    collect: () => gc({ type: 'major', flavor: 'last-resort' }),
  })
  setInterval(look, timerDelay(LOOK_EVERY)).unref()
}
