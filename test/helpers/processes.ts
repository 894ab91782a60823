import { type ChildProcess, spawn } from 'node:child_process'
import type { BoundSocket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from '@postrider/launch'
import type { Test } from 'tap'
import { failOnWarnings } from './warnings.ts'

export type ProcessName = 'api' | 'relay' | 'delivery' | 'returns' | 'sandbox'

export const FILES: Record<ProcessName, string> = {
  api: 'packages/api/src/server.ts',
  relay: 'packages/relay/src/server.ts',
  delivery: 'packages/delivery/src/worker.ts',
  returns: 'packages/relay/src/returns-server.ts',
  sandbox: 'packages/sandbox/src/server.ts',
}
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What a process of its own has of the test's environment. Of the rest, `npx tap` would load itself into it. */
export const BARE_ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  // V8 counts less precisely in functions that it has from a cache (nodejs.org/api/module.html#module-compile-cache).
  ...(process.env.NODE_V8_COVERAGE
    ? { NODE_DISABLE_COMPILE_CACHE: '1', NODE_OPTIONS: process.env.NODE_OPTIONS ?? '' }
    : { NODE_COMPILE_CACHE: COMPILE_CACHE }),
  // Not that of this checkout, which delivers to the internet.
  POSTRIDER_SETTINGS: 'no-such-file.env',
}

/** Time in which a process ends at the end of its test. */
const ENDS_WITHIN_MS = 5000

/** A real process of the service, started alone as an operator would. */
export interface ServiceProcess {
  readonly name: ProcessName
  readonly pid: number
  /** Its log, line by line. */
  readonly log: Record<string, unknown>[]
  /** Resolves with the exit status, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>
  kill(signal?: NodeJS.Signals): void
  /** Sends a message of its supervisor, if it was started with one. */
  tell(message: string): void
  /** Asks it to stop and waits. */
  stop(): Promise<number | NodeJS.Signals>
}

/** Sockets that a process inherits, by their names, as systemd hands them over. */
export type Sockets = Readonly<Record<string, BoundSocket>>

/** A shell that becomes the process knows its id before. */
const WITH_PID = ['-c', 'LISTEN_PID=$$ exec "$0" "$@"']

/**
 * Starts a process and waits until it says that it works. `root`: the folder of another version of the programs; `supervised`: it has a channel for
 * messages.
 */
export async function startProcess(
  t: Test,
  name: ProcessName,
  env: Record<string, string>,
  sockets?: Sockets,
  { root = ROOT, supervised = false }: { root?: string; supervised?: boolean } = {},
): Promise<ServiceProcess> {
  const command = [process.execPath, FILES[name]] as const
  const names = Object.keys(sockets ?? {})
  const child = spawn(sockets ? 'sh' : command[0], sockets ? [...WITH_PID, ...command] : [command[1]], {
    cwd: root,
    env: {
      ...BARE_ENVIRONMENT,
      LOG_LEVEL: 'info',
      ...env,
      ...(env.LOG_LEVEL === 'silent' ? { LOG_LEVEL: 'info' } : {}),
      ...(sockets ? { LISTEN_FDS: String(names.length), LISTEN_FDNAMES: names.join(':') } : {}),
    },
    stdio: [
      'ignore',
      'pipe',
      'pipe',
      ...Object.values(sockets ?? {}).map((socket) => socket.fd()),
      ...(supervised ? (['ipc'] as const) : []),
    ],
  })
  const log: Record<string, unknown>[] = []
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code ?? -1))
  })
  const stop = async (): Promise<number | NodeJS.Signals> => {
    child.kill('SIGTERM')
    return exited
  }
  t.teardown(async () => {
    // A killed process writes no coverage.
    child.kill(process.env.NODE_V8_COVERAGE ? 'SIGTERM' : 'SIGKILL')
    const timer = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS)
    await exited
    clearTimeout(timer)
  })
  // A warning of an older version is that version's.
  if (root === ROOT) failOnWarnings(t, child.stderr as Readable)
  else child.stderr?.resume()
  await started(child, log, name)
  return {
    name,
    pid: child.pid as number,
    log,
    exited,
    stop,
    kill: (signal = 'SIGKILL') => void child.kill(signal),
    tell: (message) => void child.send(message),
  }
}

function started(child: ChildProcess, log: Record<string, unknown>[], name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const errors: string[] = []
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => errors.push(line))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>
      log.push(entry)
      if (entry.msg === 'started') resolve()
    })
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it worked: ${errors.join('\n')}`)))
  })
}
