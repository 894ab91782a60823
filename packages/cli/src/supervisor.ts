import { type ChildProcess, fork } from 'node:child_process'
import { ALIVE_EVERY_MS, EXIT_CONFIG, REPLACED, timerDelay } from '@postrider/core'
import { COMPILE_CACHE } from '@postrider/launch'
import type { HeldSocket } from './held-sockets.ts'
import { MEMORY } from './memory.ts'
import { type Patience, watchLives } from './supervision/lives.ts'

/**
 * Runs one process per program: restarts it with growing pauses when it dies, ends it when it hangs, replaces all processes one by one,
 * and stops all together.
 */
export interface Supervisor {
  /** Resolves once every program is ready; rejects if one cannot start because of its settings. */
  readonly started: Promise<void>
  /** Resolves with the name of a program that exited with a configuration error. */
  readonly broken: Promise<string>
  /**
   * Replaces each process by a new one, which is started first and must be ready. Stops at the first that cannot start, and reports it; the old
   * process continues. A call during a replacement has all processes replaced once more after it.
   */
  roll(): Promise<void>
  stop(): Promise<void>
}

export interface Program {
  readonly name: string
  readonly file: string
  /** Settings that only this process has. */
  readonly env?: NodeJS.ProcessEnv
  /** The listening sockets that it inherits. */
  readonly sockets?: readonly HeldSocket[]
  /**
   * Stops after the others, which may still send to it while they drain. Two processes of it never run together: its successor is started after it
   * has ended.
   */
  readonly last?: boolean
}

export interface SupervisorOptions {
  readonly programs: readonly Program[]
  readonly env: NodeJS.ProcessEnv
  readonly report: (line: string) => void
  /** Milliseconds of DRAIN_DELAY, by which a stop takes longer. */
  readonly drainDelayMs?: number
  /** Called with the running processes when one was started or has ended. */
  readonly onChildren?: (pids: readonly number[]) => void
  /** Tests use shorter times. */
  readonly patience?: Patience
}

/** One of the processes that should run, whichever process that is at present. */
interface Slot {
  readonly program: Program
  /** The process that counts; undefined during the pause before a restart. */
  child: ChildProcess | undefined
  /** It is being replaced: its end is expected. */
  isReplacing: boolean
  /** Called when any of its processes is ready. */
  onReady: () => void
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
  onChildren = () => {},
  patience = PATIENCE,
}: SupervisorOptions): Supervisor {
  let stopping = false
  const stopTimeoutMs = STOP_TIMEOUT_MS + drainDelayMs
  const children = new Map<ChildProcess, Program>()
  const lives = watchLives(patience, report)
  let breakDown: (name: string) => void = () => {}
  const broken = new Promise<string>((resolve) => {
    breakDown = resolve
  })
  const slots: Slot[] = programs.map((program) => ({
    program,
    child: undefined,
    isReplacing: false,
    onReady: () => {},
  }))

  const tell = (): void => onChildren([...children.keys()].flatMap(({ pid }) => pid ?? []))

  function start(slot: Slot): ChildProcess {
    const child = startChild(slot.program, env)
    children.set(child, slot.program)
    tell()
    child.once('exit', () => {
      children.delete(child)
      tell()
    })
    lives.add(slot.program.name, child)
    return child
  }

  function run(slot: Slot, pause: number): void {
    const child = start(slot)
    child.on('message', (message) => {
      if (message === 'ready') slot.onReady()
    })
    keep(slot, child, pause)
  }

  /** Makes a process the one that counts, and restarts it when it ends. */
  function keep(slot: Slot, child: ChildProcess, pause: number): void {
    const startedAt = performance.now()
    slot.child = child
    child.once('exit', (code, signal) => {
      if (stopping || slot.child !== child) return
      slot.child = undefined
      if (slot.isReplacing) return
      if (code === EXIT_CONFIG) {
        breakDown(slot.program.name)
        return
      }
      const next = performance.now() - startedAt > STEADY_MS ? FIRST_PAUSE_MS : Math.min(pause * 2, MAX_PAUSE_MS)
      report(`${slot.program.name} ended (${signal ?? `exit ${code}`}); restarting it`)
      restartAfter(slot, pause, next)
    })
  }

  function restartAfter(slot: Slot, pause: number, next: number): void {
    setTimeout(() => {
      if (!stopping && !slot.child && !slot.isReplacing) run(slot, next)
    }, timerDelay(pause))
  }

  /** Returns whether the process was replaced. */
  async function replace(slot: Slot): Promise<boolean> {
    slot.isReplacing = true
    try {
      const old = slot.child
      if (slot.program.last && old) await stopChild(old, 'SIGTERM', stopTimeoutMs)
      if (stopping) return false
      const child = start(slot)
      const failure = await untilReady(child)
      if (stopping) return false
      if (failure !== undefined) {
        report(
          `${slot.program.name}: the new process could not start (${failure}); ${slot.child ? 'the old one continues' : 'retrying'}`,
        )
        return false
      }
      keep(slot, child, FIRST_PAUSE_MS)
      slot.onReady()
      if (old && !slot.program.last) await stopChild(old, REPLACED, stopTimeoutMs)
      return true
    } finally {
      slot.isReplacing = false
      if (!slot.child) restartAfter(slot, FIRST_PAUSE_MS, FIRST_PAUSE_MS)
    }
  }

  async function replaceAll(): Promise<void> {
    for (const slot of slots) {
      if (stopping || !(await replace(slot))) return
    }
    report('all processes are replaced')
  }

  const ready = slots.map((slot) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    slot.onReady = resolve
    run(slot, FIRST_PAUSE_MS)
    return promise
  })
  const failed = broken.then((name) => {
    throw new Error(`${name} could not start`)
  })
  failed.catch(() => {})
  let rolling = Promise.resolve()
  let waiting: Promise<void> | undefined

  return {
    started: Promise.race([Promise.all(ready).then(() => {}), failed]),
    broken,
    roll() {
      waiting ??= rolling.then(() => {
        waiting = undefined
        rolling = replaceAll()
        return rolling
      })
      return waiting
    },
    async stop() {
      stopping = true
      lives.stop()
      const stopAll = (wanted: readonly (readonly [ChildProcess, Program])[]) =>
        Promise.all(
          wanted.map(async ([child, { sockets = [] }]) => {
            await stopChild(child, 'SIGTERM', stopTimeoutMs)
            // Others may take longer: connections would wait for nothing.
            for (const socket of sockets) socket.close()
          }),
        )
      await stopAll([...children].filter(([, { last }]) => !last))
      await stopAll([...children])
    },
  }
}

/** Sockets are inherited as the descriptors from 3 on (sd_listen_fds(3)); LISTEN_PID cannot be known before. */
function startChild({ file, sockets = [], env: own }: Program, env: NodeJS.ProcessEnv): ChildProcess {
  const listen = sockets.length > 0 && {
    LISTEN_FDS: String(sockets.length),
    LISTEN_FDNAMES: sockets.map(({ name }) => name).join(':'),
  }
  const { LISTEN_FDS: _fds, LISTEN_FDNAMES: _names, LISTEN_PID: _pid, ...inherited } = env
  return fork(file, [], {
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...MEMORY.env, ...inherited, ...own, ...listen },
    execArgv: [...MEMORY.flags],
    stdio: ['ignore', 'inherit', 'inherit', ...sockets.map(({ fd }) => fd), 'ipc'],
  })
}

/** Resolves with undefined when the process is ready, or with the way in which it ended before. */
function untilReady(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve(undefined)
    })
    child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
  })
}

/** Stops a process by a signal or the message REPLACED, and kills it after `timeoutMs`. */
async function stopChild(child: ChildProcess, how: 'SIGTERM' | typeof REPLACED, timeoutMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  if (how === 'SIGTERM') child.kill(how)
  else child.send(how, () => {})
  const patience = setTimeout(() => child.kill('SIGKILL'), timerDelay(timeoutMs))
  await gone
  clearTimeout(patience)
}
