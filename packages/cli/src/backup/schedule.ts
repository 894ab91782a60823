import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { BackupConfig } from '@postrider/core'
import { folderOf, listBackups } from './folder.ts'
import { missingSegment } from './missing-segment.ts'

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
  let running: ChildProcess | undefined
  let pause = 0
  const look = (): void => {
    if (running || pause-- > 0 || !isDue(config)) return
    const program = fileURLToPath(new URL('../postrider.ts', import.meta.url))
    const args = [program, 'backup', config.folder, '--keep', String(config.keep), '--json']
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    running = child
    let said = ''
    child.stderr.on('data', (octets: Buffer) => (said = `${said}${octets}`.slice(-1000)))
    child.on('error', (error) => (said = error.message))
    child.on('close', (code) => {
      running = undefined
      pause = code === 0 ? 0 : PAUSE_AFTER_FAILURE
      if (code !== 0 && code !== null) report(`the backup to ${config.folder} failed: ${said.trim()}`)
    })
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  look()
  return {
    stop() {
      clearInterval(timer)
      running?.kill()
    },
  }
}

/** Whether a base backup is due: there is none, the last one is old, or changes after it are missing. */
export function isDue({ folder: path, everyHours }: BackupConfig, now = Date.now()): boolean {
  const folder = folderOf(path)
  const last = listBackups(folder).at(-1)
  if (!last || now - new Date(last.startedAt).getTime() >= everyHours * HOUR_MS) return true
  return missingSegment(folder, last) !== undefined
}
