import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Check } from './check.ts'
import { bytesText, type CheckResult, ok, warn } from './check-result.ts'
import type { Readings } from './readings.ts'

/** Bytes. A base backup that has no room is not taken, and the WAL stays on the disk of the database. */
const FREE = 2 * 2 ** 30

export const backupFolderCheck: Check = {
  area: 'replication',
  name: 'backup folder',
  run: async (readings) => check(readings),
}

/** Only of backups that the service takes itself, to a folder. */
function check({ config, env }: Readings): CheckResult | undefined {
  const { backups, dataDir } = config
  if (backups === undefined || env.DATABASE_URL || !('folder' in backups.address)) return undefined
  const { folder } = backups.address
  const at = firstExisting(folder)
  const problem = problemOf(at)
  if (problem !== undefined)
    return warn(
      `BACKUP_DIR cannot be written by this user (${at}: ${problem}), so no backup is taken`,
      `make ${folder} a folder of the user that runs the service, or correct BACKUP_DIR`,
    )
  if (existsSync(dataDir) && statSync(at).dev === statSync(dataDir).dev)
    return warn(
      `BACKUP_DIR (${folder}) is in the same file system as DATA_DIR: what damages the disk takes both`,
      'set BACKUP_DIR to a folder on another disk or host, or to s3://BUCKET/PREFIX (docs/backup.md)',
    )
  const { bavail, bsize } = statfsSync(at)
  const free = `${bytesText(bavail * bsize)} are free on the disk of BACKUP_DIR`
  return bavail * bsize < FREE
    ? warn(free, 'free space there, or lower BACKUP_KEEP; without room, no backup is taken')
    : ok(free)
}

/** The folder, or the one in which it would be created. */
function firstExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : firstExisting(dirname(path))
}

function problemOf(path: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return 'not a folder'
    // Of a file system that is mounted read-only it is an error for root, too.
    accessSync(path, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message
  }
}
