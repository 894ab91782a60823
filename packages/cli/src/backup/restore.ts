import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BackupAddress,
  type BackupStore,
  backupAccess,
  markRestored,
  migrate,
  PATIENCE,
  type Restored,
  syncFolder,
} from '@postrider/core'
import { CommandError } from '../command.ts'
import { requireNoRestore, UNFINISHED_RESTORE } from '../embedded-postgres/cluster.ts'
import type { Progress } from '../importing/progress.ts'
import { type BaseBackup, PARTS, requireBackups } from './base-backup.ts'
import { chooseBackup } from './choose-backup.ts'
import { missingSegment } from './missing-segment.ts'
import { withBackups } from './open-backups.ts'
import { recover } from './recover.ts'
import { removingOnSignal } from './temporary-folder.ts'

export interface RestoreOptions {
  readonly from: BackupAddress
  /** The DATA_DIR of the restored installation: a folder that does not exist or is empty. */
  readonly into: string
  /** The moment; the latest state if undefined. */
  readonly to: Date | undefined
  readonly progress: Progress
  readonly report: (line: string) => void
}

export interface RestoreResult extends Restored {
  readonly backup: BaseBackup
  /** The time of the last transaction that was restored. */
  readonly restoredTo: Date
  /** The segment of the write-ahead log at which the changes end although there are later ones; undefined if none is missing. */
  readonly missing: string | undefined
}

/**
 * Restores the database, and the secret key if the backup has it, to a new DATA_DIR. Mail that is in the queue is held, and a new epoch of
 * event numbers begins. The database is in its place only when all of that is complete.
 *
 * Throws {@link CommandError} if `into` has files, the backup is damaged, or the moment cannot be restored; then it leaves no files.
 */
export function restore(options: RestoreOptions): Promise<RestoreResult> {
  return withBackups(options.from, PATIENCE.long, (store) => restoreFrom(store, options))
}

async function restoreFrom(store: BackupStore, options: RestoreOptions): Promise<RestoreResult> {
  const { from, into, to, progress, report } = options
  await requireBackups(store)
  const backup = await chooseBackup(store, to)
  requireEmpty(into)
  const unfinished = join(into, UNFINISHED_RESTORE)
  const created = mkdirSync(unfinished, { recursive: true, mode: 0o700 }) ?? unfinished
  return removingOnSignal(created, () =>
    restoreAt({ created, unfinished }, backup, store, { from, into, to, progress, report }),
  )
}

async function restoreAt(
  { created, unfinished }: { readonly created: string; readonly unfinished: string },
  backup: BaseBackup,
  store: BackupStore,
  { from, into, to, progress, report }: RestoreOptions,
): Promise<RestoreResult> {
  try {
    const access = backupAccess(from)
    const { sql, reached, stop } = await recover({ store, access, backup, dataDir: unfinished, to, progress, report })
    const restoredTo = reached ?? new Date(backup.finishedAt)
    let restored: Restored
    try {
      await migrate(sql)
      report('holding the mail of the queue')
      restored = await markRestored(sql, restoredTo)
    } finally {
      await stop()
    }
    const missing = await missingSegment(store, backup)
    moveIntoPlace(unfinished, into)
    return { ...restored, backup, restoredTo, missing }
  } catch (error) {
    rmSync(created, { recursive: true, force: true })
    throw error
  }
}

/** The cluster last: a DATA_DIR with a cluster is complete. */
function moveIntoPlace(unfinished: string, into: string): void {
  const names = readdirSync(unfinished).filter((name) => name !== PARTS.cluster)
  for (const name of [...names, PARTS.cluster]) {
    syncFolder(unfinished)
    renameSync(join(unfinished, name), join(into, name))
  }
  rmSync(unfinished, { recursive: true })
  syncFolder(into)
}

function requireEmpty(into: string): void {
  try {
    if (!existsSync(into) || readdirSync(into).length === 0) return
  } catch (error) {
    throw new CommandError(`cannot read ${into} (${(error as NodeJS.ErrnoException).code})`)
  }
  requireNoRestore(into)
  throw new CommandError(`${into} is not empty; name a folder that does not exist or is empty`)
}
