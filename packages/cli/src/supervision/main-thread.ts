import { readFileSync } from 'node:fs'

export interface MainThread {
  /** It wants to run, or waits for a disk: pages of it that were swapped out, for example. */
  readonly isWaitingToRun: boolean
  /** Seconds of processor time that it has had. */
  readonly seconds: number
}

/** proc(5): USER_HZ, which is 100 on every platform that Node runs on. */
const TICKS_PER_SECOND = 100

/** Returns the state of the thread that runs the main loop of a process; undefined where /proc does not tell. */
export function readMainThread(pid: number, proc = '/proc'): MainThread | undefined {
  try {
    const stat = readFileSync(`${proc}/${pid}/task/${pid}/stat`, 'latin1')
    // The name in parentheses may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state = '', user, system] = [fields[0], Number(fields[11]), Number(fields[12])]
    return { isWaitingToRun: state === 'R' || state === 'D', seconds: (user + system) / TICKS_PER_SECOND }
  } catch {
    return undefined
  }
}
