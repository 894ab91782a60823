import type { ChildProcess } from 'node:child_process'
import { timerDelay } from '@postrider/core'
import { readMainThread } from './main-thread.ts'

/** How long a process may stay silent, in ticks of `every` milliseconds. */
export interface Patience {
  readonly every: number
  /** Ticks without a heartbeat before it is sent SIGTERM. */
  readonly silent: number
  /** The same before its first heartbeat: a loaded machine takes long to load a program. */
  readonly starting: number
  /** Silent ticks after SIGTERM before it is killed. */
  readonly stopping: number
  /** Ticks after SIGTERM before it is killed, also if it woke up and drains. */
  readonly draining: number
}

export interface Lives {
  add(name: string, child: ChildProcess): void
  stop(): void
}

interface Life {
  readonly name: string
  readonly child: ChildProcess
  hasReported: boolean
  /** Ticks since the last heartbeat in which it could have sent one; and all of them. */
  silent: number
  ticks: number
  /** Seconds of processor time of its main thread at the last tick; undefined if they are not known. */
  seconds: number | undefined
  /** Ticks since SIGTERM; undefined if none was sent. */
  sinceSigterm: number | undefined
}

/**
 * Ends processes that hang, that is, whose main loop has sent no heartbeat for too long. The supervisor replaces them.
 *
 * Silence is counted in ticks of a timer of this process, not by a clock. After a suspend of the machine or a SIGSTOP of this process
 * the timer fires once, however long the pause was, so no process is presumed hung because of it.
 *
 * A tick counts as far as the process had a processor in it: on a machine with more work than it can do, a healthy process is silent, too, and to replace it
 * would add the work of a start. One that waits for nothing that it could run, or is stopped, has its whole ticks counted.
 */
export function watchLives(patience: Patience, report: (line: string) => void, read = readMainThread): Lives {
  const lives = new Set<Life>()
  const timer = setInterval(() => {
    for (const life of lives) checkLife(life, { patience, report, read })
  }, timerDelay(patience.every))
  timer.unref()
  return {
    add(name, child) {
      const life: Life = {
        name,
        child,
        hasReported: false,
        silent: 0,
        ticks: 0,
        seconds: undefined,
        sinceSigterm: undefined,
      }
      lives.add(life)
      child.on('message', () => {
        life.hasReported = true
        life.silent = 0
        life.ticks = 0
        life.seconds = undefined
      })
      child.once('exit', () => lives.delete(life))
    },
    stop: () => clearInterval(timer),
  }
}

interface Watch {
  readonly patience: Patience
  readonly report: (line: string) => void
  readonly read: typeof readMainThread
}

function checkLife(life: Life, { patience, report, read }: Watch): void {
  const counted = life.ticks === 0 ? 1 : countedPart(life, patience, read)
  life.ticks++
  life.silent += counted
  if (life.sinceSigterm === undefined) {
    if (life.silent < (life.hasReported ? patience.silent : patience.starting)) return
    report(`${life.name} hangs (no heartbeat for ${(life.ticks * patience.every) / 1000} s); stopping it`)
    life.sinceSigterm = 0
    life.silent = 0
    // If it wakes up, it finishes its deliveries in flight.
    life.child.kill('SIGTERM')
    return
  }
  life.sinceSigterm += counted
  if (life.silent >= patience.stopping || life.sinceSigterm >= patience.draining) life.child.kill('SIGKILL')
}

/** The part of a processor that counts as a whole one: of a machine that is shared with as much other work. */
const FULL_SHARE = 0.5
/** The minimum part of a tick: a process that waits for a disk that no longer answers gets no processor either, and must not hang forever. */
const MIN_PART = 1 / 40

/** The part of the last tick, 0 to 1, in which a silent process could have sent a heartbeat. */
function countedPart(life: Life, { every }: Patience, read: typeof readMainThread): number {
  const now = life.child.pid === undefined ? undefined : read(life.child.pid)
  const before = life.seconds
  life.seconds = now?.seconds
  // It sleeps, or is stopped: more processor time would not help. Or nothing is known.
  if (now === undefined || !now.isWaitingToRun) return 1
  if (before === undefined) return MIN_PART
  return Math.min(1, Math.max(MIN_PART, (now.seconds - before) / ((every / 1000) * FULL_SHARE)))
}
