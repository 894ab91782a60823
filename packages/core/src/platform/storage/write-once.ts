import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { syncFolder } from './sync-folder.ts'

/**
 * Writes a private file (0600) unless it exists, and returns whether it did. A folder that is made for it is private, too (0700). Of two
 * concurrent writers the first wins, and no reader ever sees an incomplete file. After the return the file survives a power failure: its
 * content is synced before it gets its name, and the directory after.
 */
export function writeOnce(path: string, content: string): boolean {
  makeFolder(dirname(path))
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx', flush: true })
    // link, not rename: it fails if another process was first.
    linkSync(temporary, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    // On a full disk the file may exist without its content.
    rmSync(temporary, { force: true })
    syncFolder(dirname(path))
  }
}

/**
 * Reads a file that {@link writeOnce} wrote, now or at an earlier start.
 *
 * Throws {@link ConfigError} if the file is missing or empty, as a power failure or a full disk leaves a file that was not synced:
 * using an empty value would make data created with the former content unreadable. `remedy` tells the operator what to
 * do.
 */
export function readKept(path: string, remedy: string): string {
  // Another process may have linked the file a moment ago.
  syncFolder(dirname(path))
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
  if (text === undefined) throw new ConfigError(path, `is missing: ${remedy}`)
  if (text === '') throw new ConfigError(path, `is empty: ${remedy}`)
  return text
}

function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true })
  if (first === undefined) return
  chmodSync(folder, 0o700)
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made)) syncFolder(dirname(made))
}
