import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASE_BACKUPS, writeOnce } from '@postrider/core'
import { CommandError } from '../command.ts'

/** A backup folder: base backups of one database, and the write-ahead log since the oldest of them. */
export interface BackupFolder {
  readonly path: string
  /** Has a folder for each base backup, named after the time at which it began. */
  readonly base: string
  /** The archived write-ahead log, one compressed file for each segment. */
  readonly wal: string
}

/** The summary of a base backup: its `backup.json`, which is written last. */
export interface BaseBackup {
  readonly name: string
  readonly folder: string
  /** Of Postgres: "18.4". Only the same major version can read the files. */
  readonly serverVersion: string
  /** ISO 8601, by the database's clock. The backup cannot be restored to a moment before `finishedAt`. */
  readonly startedAt: string
  readonly finishedAt: string
  /** Names of the first and last segment of the write-ahead log that it needs; both are part of it. */
  readonly firstSegment: string
  readonly lastSegment: string
  /** Position at which it ended. */
  readonly endsAt: string
  readonly files: number
  readonly bytes: number
  /** SHA-256 of `files.json`. */
  readonly filesDigest: string
  readonly hasSecretKey: boolean
}

/** Names within the folder of a base backup. */
export const PARTS = {
  summary: 'backup.json',
  files: 'files.json',
  cluster: 'postgres',
  password: 'postgres-password',
  secretKey: 'secret-key',
} as const

/** Base backups that are not complete, or are being deleted, have names that begin with this. */
export const UNFINISHED = '.unfinished-'
const MARKER = 'postrider-backup.json'

export function folderOf(path: string): BackupFolder {
  return { path, base: join(path, BASE_BACKUPS), wal: join(path, 'wal') }
}

/**
 * Makes `path` the backup folder of this database, if it does not exist or is empty.
 *
 * Throws {@link CommandError} if it has other files, or is the backup folder of another database: the write-ahead logs of two databases
 * have the same names. `database` is its backupIdOf.
 */
export function prepareFolder(path: string, database: string): BackupFolder {
  const folder = folderOf(path)
  try {
    if (!existsSync(join(path, MARKER))) {
      mkdirSync(path, { recursive: true, mode: 0o700 })
      if (readdirSync(path).length > 0)
        throw new CommandError(`${path} is not empty and is not a backup folder; name a new or empty folder`)
      writeOnce(join(path, MARKER), `${JSON.stringify({ format: 1, database })}\n`)
    }
    requireBackupFolder(path, database)
    for (const part of [folder.base, folder.wal]) mkdirSync(part, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`cannot write to the backup folder ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
  return folder
}

/** Throws {@link CommandError} if it is not a backup folder, or not that of this database. */
export function requireBackupFolder(path: string, database?: string): BackupFolder {
  const marker = readJson<{ format: number; database: string }>(join(path, MARKER))
  if (!marker) throw new CommandError(`${path} is not a backup folder`)
  if (marker.format !== 1) throw new CommandError(`the backup folder ${path} was written by a newer version`)
  if (database !== undefined && marker.database !== database)
    throw new CommandError(
      `${path} is the backup folder of another database, which may be the one that this was restored from; name a new folder`,
    )
  return folderOf(path)
}

/** Returns the complete base backups, the oldest first. */
export function listBackups({ base }: BackupFolder): BaseBackup[] {
  if (!existsSync(base)) return []
  return readdirSync(base)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .flatMap((name) => {
      const summary = readJson<Omit<BaseBackup, 'name' | 'folder'>>(join(base, name, PARTS.summary))
      return summary ? [{ ...summary, name, folder: join(base, name) }] : []
    })
}

/** Undefined if the file does not exist. Throws {@link CommandError} if it is damaged. */
export function readJson<T>(path: string): T | undefined {
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    throw new CommandError(`${path} is damaged`)
  }
}
