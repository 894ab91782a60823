import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeLock } from '../embedded-postgres/owner.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `act`, and removes the folder if the process is ended by a signal meanwhile: it has a copy of the database, in plain. The server on it is
 * ended by the kernel with this process.
 */
export async function removingOnSignal<T>(folder: string, act: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals): void => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    process.stderr.write(`postrider: interrupted; ${folder} is deleted\n`)
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    return await act()
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}

const PREFIX = 'postrider-verify-'
const LOCK = 'verify.lock'

/**
 * Makes a folder below TMPDIR, which belongs to this process until it ends. Deletes those of processes that were killed: each has a copy of a
 * database, in plain.
 */
export function makeTemporaryFolder(report: (line: string) => void): string {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX))) {
    const left = join(tmpdir(), name)
    if (removeIfLeft(left)) report(`deleted ${left}, which a verify that was killed had left`)
  }
  const folder = mkdtempSync(join(tmpdir(), PREFIX))
  takeLock(join(folder, LOCK), 'command')
  return folder
}

/** Returns whether the folder was deleted. One without a lock may be about to get it. */
function removeIfLeft(folder: string): boolean {
  try {
    if (!existsSync(join(folder, LOCK)) || 'owner' in takeLock(join(folder, LOCK), 'command')) return false
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    return true
  } catch {
    // Another user's, or its server is still ending: the next verify deletes it.
    return false
  }
}
