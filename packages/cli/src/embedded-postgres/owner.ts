import { linkSync, renameSync, rmSync } from 'node:fs'
import { writeOnce } from '@postrider/core'
import { readText } from './read-text.ts'

/** What has the embedded database of a DATA_DIR: `postrider up`, or a command that started it for itself. */
export type Role = 'up' | 'command'

/** A process by its pid and the moment it started, so that a later one with the same pid is not taken for it. */
export interface Owner {
  readonly pid: number
  readonly startedAt: string
  readonly role: Role
}

/**
 * Takes the lock of a DATA_DIR's database for as long as this process has it. Answers how to give it back, or whose it is.
 *
 * A lock of a process that is gone, or that a full disk or a power cut left empty, counts for nothing.
 */
export function takeLock(path: string, role: Role): { readonly release: () => void } | { readonly owner: Owner } {
  const own = `${process.pid} ${startOf(process.pid) ?? '-'} ${role}\n`
  for (;;) {
    if (writeOnce(path, own)) return { release: () => void (readText(path) === own && rmSync(path, { force: true })) }
    const left = readText(path)
    const owner = left === undefined ? undefined : livingOwner(left)
    if (owner) return { owner }
    if (left !== undefined) removeStale(path, left)
  }
}

function livingOwner(text: string): Owner | undefined {
  const [, pid, startedAt = '', role] = /^(\d+) (\d+|-) (up|command)\n$/.exec(text) ?? []
  if (pid === undefined || (startOf(Number(pid)) ?? '-') !== startedAt) return undefined
  return { pid: Number(pid), startedAt, role: role as Role }
}

/** Of two that find the same lock stale the slower one may get hold of the quicker one's new lock: it puts that back. */
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

/** When a living process started, in clock ticks since boot (proc(5), field 22 of stat); undefined: it is gone, or a zombie. */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  // The second field is a name in parentheses that may hold anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || /[ZX]/.test(fields[0] ?? '') ? undefined : fields[19]
}
