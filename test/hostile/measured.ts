import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MEMORY } from '../../packages/cli/src/memory.ts'
import type { Turns } from '../helpers/preload-turns.ts'
import { BARE_ENVIRONMENT, FILES, type ProcessName } from '../helpers/processes.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PRELOAD = new URL('../helpers/preload-turns.ts', import.meta.url).href
/** proc(5): the unit of times in /proc/PID/stat. */
const TICK_MS = 10

/** A process of the service whose turns, processor time and memory are measured. */
export interface Measured {
  readonly pid: number
  /** Undefined while it runs. */
  readonly ended: () => string | undefined
  /** Starts counting anew. */
  forget(within: number): Promise<boolean>
  /** Undefined when its main thread does not answer within so many milliseconds. */
  turns(within: number): Promise<Turns | undefined>
  /** Milliseconds of processor time so far: of all threads, and of the main one. */
  spent(): { readonly all: number; readonly main: number }
  /** MiB of memory at most since `forget`. */
  peak(): number
  kill(): Promise<void>
}

export async function startMeasured(name: ProcessName, env: Readonly<Record<string, string>>): Promise<Measured> {
  const child = fork(FILES[name], [], {
    cwd: ROOT,
    execArgv: [...MEMORY.flags, '--import', PRELOAD],
    env: { ...BARE_ENVIRONMENT, ...MEMORY.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const pid = child.pid as number
  let errors = ''
  let ended: string | undefined
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000)
  })
  const exited = once(child, 'exit').then(([code, signal]) => {
    ended = String(signal ?? `exit ${code}`)
  })
  const ask = async <T>(question: string, within: number, pick: (answer: object) => T | undefined) => {
    const answer = new Promise<T | undefined>((resolve) => {
      const listen = (message: unknown): void => {
        // Signs of life come too.
        const picked = typeof message === 'object' && message !== null ? pick(message) : undefined
        if (picked !== undefined) done(picked)
      }
      const done = (value: T | undefined): void => {
        clearTimeout(timer)
        child.off('message', listen)
        resolve(value)
      }
      const timer = setTimeout(() => done(undefined), within)
      child.on('message', listen)
      void exited.then(() => done(undefined))
    })
    if (child.connected) child.send(question, () => {})
    return answer
  }
  const ready = await Promise.race([
    new Promise((resolve) => child.on('message', (message) => message === 'ready' && resolve(true))),
    exited.then(() => false),
  ])
  if (!ready) throw new Error(`${name} ended before it worked: ${errors}`)
  return {
    pid,
    ended: () => ended,
    async forget(within) {
      const forgot = await ask('forget turns', within, (answer) => ('forgot' in answer ? true : undefined))
      // clear_refs of proc(5): the peak begins anew at what is used now.
      writeFileSync(`/proc/${pid}/clear_refs`, '5')
      return forgot ?? false
    },
    turns: (within) => ask('turns', within, (answer) => (answer as { turns?: Turns }).turns),
    spent: () => ({ all: processorTime(`/proc/${pid}/stat`), main: processorTime(`/proc/${pid}/task/${pid}/stat`) }),
    peak: () => peakOf(pid),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** 0 for a process that has ended. */
function processorTime(file: string): number {
  const text = textOf(file)
  // The name in brackets may hold blanks.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS
}

function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
