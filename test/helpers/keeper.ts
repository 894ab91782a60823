import type { Test } from 'tap'
import { type ProcessName, type ServiceProcess, startProcess } from './processes.ts'

/** Keeps a process of the service running as the supervisor does, so that tests can kill it at will. */
export interface Keeper {
  readonly name: ProcessName
  readonly current: ServiceProcess | undefined
  /** How often it was started. */
  readonly starts: number
  kill(signal?: NodeJS.Signals): void
  stop(): Promise<void>
}

export async function keep(t: Test, name: ProcessName, env: Record<string, string>): Promise<Keeper> {
  let stopped = false
  let starts = 0
  let current: ServiceProcess | undefined
  const run = async (): Promise<void> => {
    starts++
    const process = await startProcess(t, name, env)
    current = process
    void process.exited.then(() => {
      current = undefined
      if (!stopped) void run().catch(() => {})
    })
  }
  await run()
  t.teardown(() => {
    stopped = true
  })
  return {
    name,
    get current() {
      return current
    },
    get starts() {
      return starts
    },
    kill: (signal) => current?.kill(signal),
    async stop() {
      stopped = true
      await current?.stop()
    },
  }
}
