import type { ChildProcess } from 'node:child_process'

/** How long a process may be silent, in ticks of `every` milliseconds. */
export interface Patience {
  readonly every: number
  /** Without a sign of life before it is asked to stop. */
  readonly silent: number
  /** The same before its first sign: a loaded machine takes long to load a program. */
  readonly starting: number
  /** Silent ticks after it was asked, before it is killed. */
  readonly stopping: number
  /** Ticks after it was asked, also of one that woke up and drains. */
  readonly draining: number
}

export interface Lives {
  add(name: string, child: ChildProcess): void
  stop(): void
}

interface Life {
  readonly name: string
  readonly child: ChildProcess
  heard: boolean
  /** Ticks since the last sign of life. */
  silent: number
  /** Ticks since it was asked to stop. */
  asked: number | undefined
}

/**
 * Ends processes that hang: their main loops have shown no sign of life for too long. What takes their place is the supervisor's.
 *
 * Silence is counted in ticks of our own timer, not read off a clock: on a machine that slept, or that stopped us, the timer
 * ticks once however long that took, so nobody is held to be hung for it.
 */
export function watchLives(patience: Patience, report: (line: string) => void): Lives {
  const lives = new Set<Life>()
  const timer = setInterval(() => {
    for (const life of lives) judge(life, patience, report)
  }, patience.every)
  timer.unref()
  return {
    add(name, child) {
      const life: Life = { name, child, heard: false, silent: 0, asked: undefined }
      lives.add(life)
      child.on('message', () => {
        life.heard = true
        life.silent = 0
      })
      child.once('exit', () => lives.delete(life))
    },
    stop: () => clearInterval(timer),
  }
}

function judge(life: Life, patience: Patience, report: (line: string) => void): void {
  life.silent++
  if (life.asked === undefined) {
    if (life.silent < (life.heard ? patience.silent : patience.starting)) return
    report(`${life.name} hangs (no sign of life for ${(life.silent * patience.every) / 1000} s) and is ended`)
    life.asked = 0
    life.silent = 0
    // One that wakes up finishes what it has in hand.
    life.child.kill('SIGTERM')
    return
  }
  life.asked++
  if (life.silent >= patience.stopping || life.asked >= patience.draining) life.child.kill('SIGKILL')
}
