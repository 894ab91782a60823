import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError } from './config.ts'

/**
 * Writes a private file (0600) unless it is there, and answers whether it did. Of two writers at once the first wins, nobody ever
 * reads half a file, and when this returns a power cut takes nothing of it away: the octets are synced before the file has its
 * name, the folder after.
 */
export function writeOnce(path: string, content: string): boolean {
  makeFolder(dirname(path))
  const own = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(own, content, { mode: 0o600, flag: 'wx', flush: true })
    // link, not rename: it fails when another process was first.
    linkSync(own, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    // On a full disk it may be there without its content.
    rmSync(own, { force: true })
    syncFolder(dirname(path))
  }
}

/**
 * What {@link writeOnce} wrote, now or at an earlier start.
 *
 * Throws {@link ConfigError} when the file is empty, as a power cut or a full disk leaves one that was not synced: going on would
 * lock in what was made with its content. `remedy` says what to do.
 */
export function readKept(path: string, remedy: string): string {
  // Another process may have given it its name just now.
  syncFolder(dirname(path))
  const text = readFileSync(path, 'utf8').trim()
  if (text === '') throw new ConfigError(path, `is empty: ${remedy}`)
  return text
}

/** Makes the names in a folder as durable as its files. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // A folder that can't be synced (read-only, or on a network file system) is as durable as it gets.
    if (!['EINVAL', 'EROFS', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(descriptor)
  }
}

function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true })
  if (first === undefined) return
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made)) syncFolder(dirname(made))
}
