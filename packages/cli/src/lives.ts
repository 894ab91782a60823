import type { ChildProcess } from 'node:child_process'
import { timerDelay } from '@postrider/core'

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
  /** Ticks since the last heartbeat. */
  silent: number
  /** Ticks since SIGTERM; undefined if none was sent. */
  sinceSigterm: number | undefined
}

/**
 * Ends processes that hang, that is, whose main loop has sent no heartbeat for too long. The supervisor replaces them.
 *
 * Silence is counted in ticks of a timer of this process, not by a clock. After a suspend of the machine or a SIGSTOP of this process
 * the timer fires once, however long the pause was, so no process is presumed hung because of it.
 */
export function watchLives(patience: Patience, report: (line: string) => void): Lives {
  const lives = new Set<Life>()
  const timer = setInterval(() => {
    for (const life of lives) checkLife(life, patience, report)
  }, timerDelay(patience.every))
  timer.unref()
  return {
    add(name, child) {
      const life: Life = { name, child, hasReported: false, silent: 0, sinceSigterm: undefined }
      lives.add(life)
      child.on('message', () => {
        life.hasReported = true
        life.silent = 0
      })
      child.once('exit', () => lives.delete(life))
    },
    stop: () => clearInterval(timer),
  }
}

function checkLife(life: Life, patience: Patience, report: (line: string) => void): void {
  life.silent++
  if (life.sinceSigterm === undefined) {
    if (life.silent < (life.hasReported ? patience.silent : patience.starting)) return
    report(`${life.name} hangs (no heartbeat for ${(life.silent * patience.every) / 1000} s); stopping it`)
    life.sinceSigterm = 0
    life.silent = 0
    // If it wakes up, it finishes its deliveries in flight.
    life.child.kill('SIGTERM')
    return
  }
  life.sinceSigterm++
  if (life.silent >= patience.stopping || life.sinceSigterm >= patience.draining) life.child.kill('SIGKILL')
}
