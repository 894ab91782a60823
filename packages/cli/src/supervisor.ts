import { type ChildProcess, fork } from 'node:child_process'
import { ALIVE_EVERY_MS, EXIT_CONFIG } from '@postrider/core'
import { COMPILE_CACHE } from './compile-cache.ts'
import { type Patience, watchLives } from './lives.ts'
import { MEMORY } from './memory.ts'

/**
 * Keeps one process a program running: starts it again when it dies, with a growing pause, ends it when it hangs, and stops all of
 * them together.
 */
export interface Supervisor {
  /** Resolves once every program has said it works; rejects when one can't (its settings are wrong). */
  readonly started: Promise<void>
  /** Resolves when a program gave up for good while running. */
  readonly broken: Promise<string>
  stop(): Promise<void>
}

export interface Program {
  readonly name: string
  readonly file: string
  /** Stops after the others: they may still have something to say to it. */
  readonly last?: boolean
}

export interface SupervisorOptions {
  readonly programs: readonly Program[]
  readonly env: NodeJS.ProcessEnv
  readonly report: (line: string) => void
  /** Tests have less of it. */
  readonly patience?: Patience
}

/** Together with the start of the next one a hung process is replaced within 65 s (P6), also one that hangs from its start on. */
const PATIENCE: Patience = { every: ALIVE_EVERY_MS, silent: 15, starting: 25, stopping: 5, draining: 15 }

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5000
/** A process that lived this long starts over with the first pause. */
const STEADY_MS = 10_000
/** Longer than a process takes to drain. */
const STOP_WITHIN_MS = 32_000

export function supervise({ programs, env, report, patience = PATIENCE }: SupervisorOptions): Supervisor {
  let stopping = false
  const children = new Map<string, ChildProcess>()
  const lives = watchLives(patience, report)
  let breakDown: (name: string) => void = () => {}
  const broken = new Promise<string>((resolve) => {
    breakDown = resolve
  })

  function run(program: Program, pause: number, onReady: () => void): void {
    const child = fork(program.file, [], {
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...MEMORY.env, ...env },
      execArgv: [...MEMORY.flags],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const startedAt = performance.now()
    children.set(program.name, child)
    lives.add(program.name, child)
    child.on('message', (message) => {
      if (message === 'ready') onReady()
    })
    child.once('exit', (code, signal) => {
      children.delete(program.name)
      if (stopping) return
      if (code === EXIT_CONFIG) {
        breakDown(program.name)
        return
      }
      const next = performance.now() - startedAt > STEADY_MS ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS)
      report(`${program.name} ended (${signal ?? `exit ${code}`}) and is started again`)
      setTimeout(() => {
        if (!stopping) run(program, next, onReady)
      }, pause)
    })
  }

  const ready = programs.map((program) => new Promise<void>((resolve) => run(program, FIRST_PAUSE_MS, resolve)))
  const failed = broken.then((name) => {
    throw new Error(`${name} could not start`)
  })
  failed.catch(() => {})

  return {
    started: Promise.race([Promise.all(ready).then(() => {}), failed]),
    broken,
    async stop() {
      stopping = true
      lives.stop()
      const wanted = programs.filter(({ last }) => !last).map(({ name }) => name)
      const first = [...children].filter(([name]) => wanted.includes(name))
      await Promise.all(first.map(([, child]) => stopChild(child)))
      await Promise.all([...children.values()].map(stopChild))
    },
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
  await gone
  clearTimeout(patience)
}
