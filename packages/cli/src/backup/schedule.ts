import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type BackupConfig, BackupError, type BackupStore, PATIENCE } from '@postrider/core'
import { findBackup } from './base-backup.ts'
import { missingSegment } from './missing-segment.ts'
import { withBackups } from './open-backups.ts'

export interface ScheduleOptions {
  readonly config: BackupConfig
  /** Of the process that takes a backup: DATA_DIR, and no DATABASE_URL. */
  readonly env: NodeJS.ProcessEnv
  readonly report: (line: string) => void
}

const LOOK_EVERY_MS = 60_000
/** Looks after which a backup that has failed is tried again. */
const PAUSE_AFTER_FAILURE = 10
const HOUR_MS = 3_600_000

/** Takes a base backup now and whenever one is due, each in a process of its own, until it is stopped. */
export function scheduleBackups({ config, env, report }: ScheduleOptions): { stop(): void } {
  let [isBusy, isStopped] = [false, false]
  let running: ChildProcess | undefined
  let pause = 0
  const look = async (): Promise<void> => {
    if (isBusy || pause-- > 0) return
    isBusy = true
    const problem = await backUpIfDue().catch((error: Error) => error.message)
    isBusy = false
    pause = problem === undefined ? 0 : PAUSE_AFTER_FAILURE
    if (problem !== undefined && !isStopped) report(`the backup to ${config.location} failed: ${problem}`)
  }

  /** Returns what went wrong. */
  async function backUpIfDue(): Promise<string | undefined> {
    if (!(await withBackups(config.address, PATIENCE.short, (store) => isDue(store, config))) || isStopped)
      return undefined
    const program = fileURLToPath(new URL('../postrider.ts', import.meta.url))
    const args = [program, 'backup', config.location, '--keep', String(config.keep), '--json']
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    running = child
    let said = ''
    child.stderr.on('data', (octets: Buffer) => (said = `${said}${octets}`.slice(-1000)))
    child.on('error', (error) => (said = error.message))
    const end = await new Promise<number | NodeJS.Signals>((resolve) =>
      child.on('close', (code, signal) => resolve(signal ?? code ?? 1)),
    )
    running = undefined
    if (end === 0 || isStopped) return undefined
    return said.trim() || `the program ended with ${end}`
  }

  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  void look()
  return {
    stop() {
      isStopped = true
      clearInterval(timer)
      running?.kill()
    },
  }
}

/** Whether a base backup is due: there is none, the last one is old or damaged, or changes after it are missing. */
export async function isDue(store: BackupStore, { everyHours }: BackupConfig, now = Date.now()): Promise<boolean> {
  try {
    const last = await findBackup(store)
    if (!last || now - new Date(last.startedAt).getTime() >= everyHours * HOUR_MS) return true
    return (await missingSegment(store, last)) !== undefined
  } catch (error) {
    if (error instanceof BackupError && error.kind === 'damaged') return true
    throw error
  }
}
