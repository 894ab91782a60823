import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a private file (0600) unless it is there. Of two writers at once the first wins, and nobody ever reads half a file.
 */
export function writeOnce(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const own = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(own, content, { mode: 0o600 })
  try {
    // link, not rename: it fails when another process was first.
    linkSync(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(own)
  }
}
