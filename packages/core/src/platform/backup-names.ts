import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Name of the folder within a backup folder that has a folder for each complete base backup. */
export const BASE_BACKUPS = 'base'

const NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

/** The name of a base backup: the time at which it began, so that names sort by it. */
export function backupName(startedAt: string): string {
  return `${startedAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

/** When the last complete base backup in a backup folder began; undefined if there is none. Reads names only. */
export async function lastBackupAt(folder: string): Promise<Date | undefined> {
  const names = await readdir(join(folder, BASE_BACKUPS)).catch(() => [])
  const last = names
    .filter((name) => NAME.test(name))
    .sort()
    .at(-1)
  return last === undefined ? undefined : new Date(last.replace(NAME, '$1-$2-$3T$4:$5:$6Z'))
}
