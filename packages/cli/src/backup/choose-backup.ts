import { CommandError } from '../command.ts'
import { type BackupFolder, type BaseBackup, listBackups } from './folder.ts'

/**
 * Returns the latest base backup from which the state at `to` can be recovered, or the latest state if `to` is undefined.
 *
 * Throws {@link CommandError} if there is none.
 */
export function chooseBackup(folder: BackupFolder, to: Date | undefined): BaseBackup {
  const backups = listBackups(folder)
  const [first] = backups
  if (!first) throw new CommandError(`${folder.path} has no complete base backup`)
  const found = backups.findLast(({ finishedAt }) => to === undefined || new Date(finishedAt) <= to)
  if (found) return found
  throw new CommandError(
    `the earliest moment that can be restored is ${first.finishedAt}, when the oldest base backup was complete`,
  )
}
