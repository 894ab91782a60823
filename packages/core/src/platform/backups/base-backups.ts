import type { BackupStore } from './backup-store.ts'

/** The folder with the summary of each complete base backup. */
export const BASE_BACKUPS = 'base'

const SUMMARY = /^base\/((\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z)\.json$/

/** The name of a base backup: the time at which it began, so that names sort by it. */
export function backupName(startedAt: string): string {
  return `${startedAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

/** The path of the summary of a base backup. It is written last: a backup without it does not count. */
export function summaryPath(name: string): string {
  return `${BASE_BACKUPS}/${name}.json`
}

/** Returns the names of the complete base backups, the oldest first. */
export async function backupNames(store: BackupStore): Promise<string[]> {
  return (await store.list(BASE_BACKUPS)).flatMap((path) => SUMMARY.exec(path)?.[1] ?? [])
}

/** When the last complete base backup began; undefined if there is none. Reads names only. */
export async function lastBackupAt(store: BackupStore): Promise<Date | undefined> {
  const last = (await backupNames(store)).at(-1)
  return last === undefined ? undefined : new Date(summaryPath(last).replace(SUMMARY, '$2-$3-$4T$5:$6:$7Z'))
}
