import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BackupAccess, type BackupStore, openDatabase, type Sql } from '@postrider/core'
import { CommandError } from '../command.ts'
import { startRecovered } from '../embedded-postgres/recovering.ts'
import type { Progress } from '../importing/progress.ts'
import { type BaseBackup, PARTS } from './base-backup.ts'
import { unpack } from './unpack.ts'
import { accessEnvironment, restoreSetting } from './wal-commands.ts'

export interface RecoverOptions {
  readonly store: BackupStore
  /** With which the server reads the write-ahead log from there. */
  readonly access: BackupAccess
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
 * Unpacks a base backup to `dataDir`, compares all checksums, starts the embedded Postgres on it, and replays the write-ahead log up to `to`.
 *
 * Throws {@link CommandError} if a file of the backup is damaged or missing, or if the write-ahead log does not reach `to`.
 */
export async function recover(options: RecoverOptions): Promise<Recovered> {
  const { store, access, backup, dataDir, to, progress, report } = options
  let bytes = 0
  const onBytes = (count: number) => {
    bytes += count
    progress.show('MB unpacked', Math.round(bytes / MB), Math.round(backup.bytes / MB))
  }
  await unpack({ store, backup, into: dataDir, onBytes })
  progress.end()
  writeFileSync(join(dataDir, PARTS.cluster, 'recovery.signal'), '')
  report('replaying the write-ahead log')
  const logFile = join(dataDir, 'postgres.log')
  const target = to
    ? [`recovery_target_time=${to.toISOString().replace('Z', '+00')}`, 'recovery_target_action=promote']
    : []
  const settings = [restoreSetting(), 'recovery_target_timeline=current', ...target]
  const env = accessEnvironment(access)
  const server = await startRecovered({ dataDir, logFile, settings, env, report }).catch((error) => {
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
const NOT_FETCHED = 'could not restore file'
/** The errors of fetch-wal.ts. */
const FETCH_FAILURE = /^cannot restore .*/gm
const TOO_SHORT = 'recovery ended before configured recovery target was reached'

function explained(error: unknown, logFile: string): unknown {
  if (!(error instanceof CommandError)) return error
  // The log that the message refers to is deleted with the rest of the restore.
  const notFetched = error.message.includes(NOT_FETCHED) && readFileSync(logFile, 'utf8').match(FETCH_FAILURE)?.at(-1)
  if (notFetched) {
    return new CommandError(
      `${notFetched}: repeat this when it can be read, or restore to a moment before that segment with --to-time`,
    )
  }
  if (!error.message.includes(TOO_SHORT)) return new CommandError(error.message.replace(`; see ${logFile}`, ''))
  const reached = reachedBy(logFile)
  return new CommandError(
    `the backups have changes only up to ${
      reached?.toISOString() ?? 'the end of the base ' + 'backup'
    }; name an earlier moment, or omit --to-time to restore all of them`,
  )
}
