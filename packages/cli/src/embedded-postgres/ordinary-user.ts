import { spawnSync } from 'node:child_process'
import { chownSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CommandError } from '../command.ts'

export const NOBODY = 65534

/**
 * The beginning of a command line that runs a program as a user other than root who may read and write `files`.
 *
 * Postgres refuses to run as root. A root process runs it in a user namespace in which our files belong to `nobody`. Where a container
 * forbids namespaces, it runs as the real user `nobody`, who must have access to DATA_DIR and the binaries.
 */
export function asOrdinaryUser(...files: readonly string[]): readonly string[] {
  if (process.getuid?.() !== 0) return []
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]
  if (works([...namespace, 'true'])) return namespace
  for (const file of files) give(file)
  return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
}

/** Throws {@link CommandError}. */
function give(file: string): void {
  try {
    chownSync(file, NOBODY, NOBODY)
  } catch (error) {
    throw new CommandError(
      `Postgres does not run as root, and ${file} cannot be given to user 65534 (${(error as NodeJS.ErrnoException).code}): run Postrider as ` +
        'another user (docker run --user), or set DATABASE_URL to a Postgres of your own',
    )
  }
}

/** Whether a command line of {@link asOrdinaryUser} changes to the real user `nobody`. */
export const isNobody = ([program]: readonly string[]): boolean => program === 'setpriv'

/** The first folder on the way to `path` that `nobody` may not enter. */
export function closedFolder(path: string): string | undefined {
  const folders = [resolve(path)]
  for (let folder = resolve(path); folder !== dirname(folder); ) folders.unshift((folder = dirname(folder)))
  return folders.find((folder) => {
    const { uid, gid, mode } = statSync(folder)
    const bit = uid === NOBODY ? 0o100 : gid === NOBODY ? 0o010 : 0o001
    return (mode & bit) === 0
  })
}

/** Where {@link asOrdinaryUser} changes to the real user, the files of a folder that was copied must belong to it, too. */
export function giveTo(command: readonly string[], folder: string): void {
  if (isNobody(command)) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder])
}

export function works(command: readonly string[]): boolean {
  return spawnSync(command[0] as string, command.slice(1), { stdio: 'ignore' }).status === 0
}
