import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Syncs a directory, so that the names in it are as durable as the files. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // A directory that cannot be synced (read-only, or on a network file system) is as durable as it gets.
    if (!['EINVAL', 'EROFS', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(descriptor)
  }
}
