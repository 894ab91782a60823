import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, type Sql } from '@postrider/core'
import { CommandError } from '../command.ts'
import { startRecovered } from '../embedded-postgres/index.ts'
import type { Progress } from '../importing/progress.ts'
import { type CopiedFile, copyFile, listTree, makeFolders } from './copy-tree.ts'
import { type BackupFolder, type BaseBackup, PARTS, readJson } from './folder.ts'
import { restoreSetting } from './wal-commands.ts'

export interface RecoverOptions {
  readonly folder: BackupFolder
  readonly backup: BaseBackup
  /** A new folder, which gets the layout of a DATA_DIR. */
  readonly dataDir: string
  /** The moment; the latest state if undefined. */
  readonly to: Date | undefined
  readonly progress: Progress
  readonly report: (line: string) => void
}

/** A database that has been recovered, and runs. */
export interface Recovered {
  readonly sql: Sql
  /** The time of the last transaction that it contains; null if the write-ahead log has no transaction after the base backup. */
  readonly reached: Date | null
  /** Ends the connections and stops the server. */
  stop(): Promise<void>
}

const MB = 2 ** 20
/**
 * Copies a base backup to `dataDir`, compares all checksums, starts the embedded Postgres on the copy, and replays the write-ahead log up
 * to `to`.
 *
 * Throws {@link CommandError} if a file of the backup is damaged or missing, or if the write-ahead log does not reach `to`.
 */
export async function recover(options: RecoverOptions): Promise<Recovered> {
  const { folder, backup, dataDir, to, report } = options
  await copyBackup(options)
  writeFileSync(join(dataDir, PARTS.cluster, 'recovery.signal'), '')
  copyFileSync(join(backup.folder, PARTS.password), join(dataDir, PARTS.password))
  report('replaying the write-ahead log')
  const logFile = join(dataDir, 'postgres.log')
  const target = to
    ? [`recovery_target_time=${to.toISOString().replace('Z', '+00')}`, 'recovery_target_action=promote']
    : []
  const settings = [restoreSetting(folder.wal), 'recovery_target_timeline=current', ...target]
  const server = await startRecovered({ dataDir, logFile, settings, report }).catch((error) => {
    throw explained(error, logFile)
  })
  const sql = openDatabase({ url: server.url, name: 'restore', connections: 2 })
  return {
    sql,
    reached: reachedBy(logFile),
    async stop() {
      await sql.end({ timeout: 5 })
      await server.stop()
    },
  }
}

/** The time of the last transaction that was replayed, of which the server's log has one line; null: there was none. */
function reachedBy(logFile: string): Date | null {
  const text = readFileSync(logFile, 'utf8')
  const at = text.lastIndexOf(LAST_TRANSACTION)
  if (at < 0) return null
  const [time = ''] = text.slice(at + LAST_TRANSACTION.length).split('\n', 1)
  // "2026-11-24 11:19:57.349+00": the server's time zone is UTC.
  return new Date(time.trim().replace(' ', 'T').replace(/\+00$/, 'Z'))
}

const LAST_TRANSACTION = 'last completed transaction was at log time '
const TOO_SHORT = 'recovery ended before configured recovery target was reached'

function explained(error: unknown, logFile: string): unknown {
  if (!(error instanceof CommandError)) return error
  // The log that the message refers to is deleted with the rest of the restore.
  if (!error.message.includes(TOO_SHORT)) return new CommandError(error.message.replace(`; see ${logFile}`, ''))
  const reached = reachedBy(logFile)
  return new CommandError(
    `the backup folder has changes only up to ${reached?.toISOString() ?? 'the end of the base backup'}; name an earlier moment, or omit --to-time to restore all of them`,
  )
}

async function copyBackup({ backup, dataDir, progress }: RecoverOptions): Promise<void> {
  const source = join(backup.folder, PARTS.cluster)
  const target = join(dataDir, PARTS.cluster)
  const files = readFilesOf(backup)
  await makeFolders(target, ['', ...(await listTree(source)).folders])
  let bytes = 0
  for (const { path, bytes: size, digest } of files) {
    const copied = await copyFile(join(source, path), join(target, path), (count) => {
      bytes += count
      progress.show('MB copied', Math.round(bytes / MB), Math.round(backup.bytes / MB))
    })
    if (copied?.digest !== digest || copied.bytes !== size)
      throw new CommandError(`${join(source, path)} is ${copied ? 'damaged' : 'missing'}; use another base backup`)
  }
  progress.end()
}

/** The files of a backup. Throws {@link CommandError} if the list is damaged. */
export function readFilesOf(backup: BaseBackup): CopiedFile[] {
  const path = join(backup.folder, PARTS.files)
  const files = readJson<CopiedFile[]>(path)
  if (!files || createHash('sha256').update(readFileSync(path)).digest('hex') !== backup.filesDigest)
    throw new CommandError(`${path} is damaged or missing`)
  return files
}
