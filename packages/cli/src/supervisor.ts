import { type ChildProcess, fork } from 'node:child_process'
import { ALIVE_EVERY_MS, EXIT_CONFIG } from '@postrider/core'
import { COMPILE_CACHE } from './compile-cache.ts'
import { type Patience, watchLives } from './lives.ts'
import { MEMORY } from './memory.ts'

/**
 * Runs one process per program: restarts it with growing pauses when it dies, ends it when it hangs, and stops all processes
 * together.
 */
export interface Supervisor {
  /** Resolves once every program is ready; rejects if one cannot start because of its settings. */
  readonly started: Promise<void>
  /** Resolves with the name of a program that exited with a configuration error. */
  readonly broken: Promise<string>
  stop(): Promise<void>
}

export interface Program {
  readonly name: string
  readonly file: string
  /** Settings that only this program has. */
  readonly env?: NodeJS.ProcessEnv
  /** Stops after the others, which may still send to it while they drain. */
  readonly last?: boolean
}

export interface SupervisorOptions {
  readonly programs: readonly Program[]
  readonly env: NodeJS.ProcessEnv
  readonly report: (line: string) => void
  /** Milliseconds of DRAIN_DELAY, by which a stop takes longer. */
  readonly drainDelayMs?: number
  /** Tests use shorter times. */
  readonly patience?: Patience
}

/** With the start of its successor, a hung process is replaced within 65 s (P6), also if it hangs from its start on. */
const PATIENCE: Patience = { every: ALIVE_EVERY_MS, silent: 15, starting: 25, stopping: 5, draining: 15 }

const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5000
/** A process that ran this long restarts with the first pause again. */
const STEADY_MS = 10_000
/** Longer than the drain of a process without DRAIN_DELAY. */
const STOP_TIMEOUT_MS = 32_000

export function supervise({
  programs,
  env,
  report,
  drainDelayMs = 0,
  patience = PATIENCE,
}: SupervisorOptions): Supervisor {
  let stopping = false
  const stopTimeoutMs = STOP_TIMEOUT_MS + drainDelayMs
  const children = new Map<string, ChildProcess>()
  const lives = watchLives(patience, report)
  let breakDown: (name: string) => void = () => {}
  const broken = new Promise<string>((resolve) => {
    breakDown = resolve
  })

  function run(program: Program, pause: number, onReady: () => void): void {
    const child = fork(program.file, [], {
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...MEMORY.env, ...env, ...program.env },
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
      const next = performance.now() - startedAt > STEADY_MS ? FIRST_PAUSE_MS : Math.min(pause * 2, MAX_PAUSE_MS)
      report(`${program.name} ended (${signal ?? `exit ${code}`}); restarting it`)
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
      await Promise.all(first.map(([, child]) => stopChild(child, stopTimeoutMs)))
      await Promise.all([...children.values()].map((child) => stopChild(child, stopTimeoutMs)))
    },
  }
}

async function stopChild(child: ChildProcess, timeoutMs: number): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const patience = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  await gone
  clearTimeout(patience)
}
