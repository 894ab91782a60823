import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { startOf, writeOnce } from '@postrider/core'
import { CommandError } from '../command.ts'
import { readText } from './read-text.ts'

/** The kind of process that owns the embedded database of a DATA_DIR: `postrider up`, or a command that started it for itself. */
export type Role = 'up' | 'command'

/** A process identified by its pid and start time, so that a later process with the same pid is not mistaken for it. */
export interface Owner {
  readonly pid: number
  readonly startedAt: string
  readonly role: Role
}

/**
 * Takes the lock of a DATA_DIR's database until it is released or this process ends. Returns `release`, or the owner of the lock.
 *
 * A lock is stale if its process has ended or if its content is incomplete after a full disk or a power failure.
 */
export function takeLock(path: string, role: Role): { readonly release: () => void } | { readonly owner: Owner } {
  const own = `${process.pid} ${startOf(process.pid) ?? '-'} ${role}\n`
  for (;;) {
    if (writeOnce(path, own)) return { release: () => void (readText(path) === own && rmSync(path, { force: true })) }
    const left = readText(path)
    if (left === undefined) requireReadable(path)
    const owner = left === undefined ? undefined : livingOwner(left)
    if (owner) return { owner }
    if (left !== undefined) removeStale(path, left)
  }
}

/** A lock of another user would be looked at for ever. Throws {@link CommandError}. */
function requireReadable(path: string): void {
  try {
    readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    throw new CommandError(
      `${path} cannot be read (${code}): run this as the user whose data it is, or delete the file if nothing runs there`,
    )
  }
}

function livingOwner(text: string): Owner | undefined {
  const [, pid, startedAt = '', role] = /^(\d+) (\d+|-) (up|command)\n$/.exec(text) ?? []
  if (pid === undefined || (startOf(Number(pid)) ?? '-') !== startedAt) return undefined
  return { pid: Number(pid), startedAt, role: role as Role }
}

/** If two processes find the same stale lock, the slower one may move the faster one's new lock: it then puts that lock back. */
function removeStale(path: string, stale: string): void {
  const aside = `${path}.${process.pid}.stale`
  try {
    renameSync(path, aside)
    if (readText(aside) !== stale) linkSync(aside, path)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  rmSync(aside, { force: true })
}
