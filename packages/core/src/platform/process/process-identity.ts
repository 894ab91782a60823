import { readFileSync, readlinkSync } from 'node:fs'

/** Identifies a process: its pid alone may be that of a later one, of one in another container, or of one before a restart of the host. */
export interface ProcessIdentity {
  readonly pid: number
  /** In clock ticks since the host was started; `-` where /proc does not tell. */
  readonly startedAt: string
  /** The start of the host, and the container; `-` where /proc does not tell. */
  readonly place: string
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, startedAt: startOf(pid) ?? '-', place: placeOf() }
}

/** Whether the process has surely ended: false if it runs elsewhere, or if nothing is known. */
export function hasEnded(process: ProcessIdentity): boolean {
  return isKnownHere(process) && startOf(process.pid) !== process.startedAt
}

/** Whether the process surely runs: false if it runs elsewhere, or if nothing is known. */
export function isStillRunning(process: ProcessIdentity): boolean {
  return isKnownHere(process) && startOf(process.pid) === process.startedAt
}

function isKnownHere({ startedAt, place }: ProcessIdentity): boolean {
  return startedAt !== '-' && place !== '-' && place === placeOf()
}

/** Start time of a running process, in clock ticks since boot; undefined if it has ended. */
export function startOf(pid: number): string | undefined {
  return startIn(readIfAny(() => readFileSync(`/proc/${pid}/stat`, 'latin1')))
}

/**
 * The same by its stat (proc(5), field 22); undefined if it is a zombie. A zombie with threads that still end (field 20) has its files and ports until
 * they have.
 */
export function startIn(stat: string | undefined): string | undefined {
  // The second field is a name in parentheses, which may contain any character.
  const [state = 'X', ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  const [threads, startedAt] = [Number(fields[16]), fields[18]]
  return state === 'X' || (state === 'Z' && threads < 2) ? undefined : startedAt
}

function placeOf(): string {
  const boot = readIfAny(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim())
  const container = readIfAny(() => readlinkSync('/proc/self/ns/pid'))
  return boot === undefined || container === undefined ? '-' : `${boot} ${container}`
}

function readIfAny(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
