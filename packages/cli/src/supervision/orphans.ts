import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { identityOf, isStillRunning, type ProcessIdentity } from '@postrider/core'

/** Longer than the drain of a process: it began when the supervisor was killed. */
const DRAIN_MS = 32_000
/** The same without the database, which ended with the supervisor: there is nothing that they could finish. */
const WITHOUT_DATABASE_MS = 2000
/** Milliseconds of a wait that is not reported. */
const SHORT_MS = 500

const fileOf = (dataDir: string): string => join(dataDir, 'processes')

/** Writes down the processes of a supervisor, so that the next one can wait for them if it is killed. */
export function noteChildren(dataDir: string, pids: readonly number[]): void {
  const file = fileOf(dataDir)
  try {
    if (pids.length === 0) rmSync(file, { force: true })
    else {
      writeFileSync(`${file}.new`, JSON.stringify(pids.map((pid) => identityOf(pid))), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    }
  } catch {
    // A full disk must not end the supervisor. The next one does not wait then.
  }
}

export interface OrphanOptions {
  readonly dataDir: string
  /** Whether their database has ended with their supervisor. */
  readonly areWithoutDatabase: boolean
  readonly report: (line: string) => void
}

/** Waits for the processes of a supervisor that was killed: they finish their work, and have its ports until then. */
export async function endOrphans({ dataDir, areWithoutDatabase, report }: OrphanOptions): Promise<void> {
  const patience = areWithoutDatabase ? WITHOUT_DATABASE_MS : DRAIN_MS
  const noted = readNoted(dataDir)
  const began = performance.now()
  let isReported = false
  for (let left = noted; ; await pause(50)) {
    left = left.filter(isStillRunning)
    if (left.length === 0) return
    const waited = performance.now() - began
    const pids = left.map(({ pid }) => pid)
    if (waited > SHORT_MS && !isReported) {
      report(`the processes of the last start (${pids.join(', ')}) still finish their work; waiting for them`)
      isReported = true
    }
    if (waited > patience) for (const pid of pids) kill(pid)
  }
}

function readNoted(dataDir: string): readonly ProcessIdentity[] {
  try {
    const noted: unknown = JSON.parse(readFileSync(fileOf(dataDir), 'utf8'))
    return Array.isArray(noted) ? (noted as ProcessIdentity[]) : []
  } catch {
    return []
  }
}

/** It may have ended since. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
