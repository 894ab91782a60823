import type { BackupStore } from '@postrider/core'
import { CommandError } from '../command.ts'
import { type BaseBackup, findBackup } from './base-backup.ts'

/**
 * Returns the latest base backup from which the state at `to` can be recovered, or the latest state if `to` is undefined.
 *
 * Throws {@link CommandError} if there is none.
 */
export async function chooseBackup(store: BackupStore, to: Date | undefined): Promise<BaseBackup> {
  let first: BaseBackup | undefined
  const isWanted = (backup: BaseBackup) => {
    first = backup
    return to === undefined || new Date(backup.finishedAt) <= to
  }
  // The latest state is not silently an older one; a moment is the same whichever backup before it is used.
  const found = await findBackup(store, isWanted, { skipsDamaged: to !== undefined })
  if (found) return found
  if (!first) throw new CommandError(`${store.name} has no complete base backup`)
  throw new CommandError(
    `the earliest moment that can be restored is ${first.finishedAt}, when the oldest base backup was complete`,
  )
}
