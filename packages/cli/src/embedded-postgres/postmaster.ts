import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandError } from '../command.ts'
import { readText } from './read-text.ts'

/** The server that runs on a cluster, according to its postmaster.pid and the kernel. */
export interface Postmaster {
  readonly pid: number
  /** Line 8 of postmaster.pid; "ready" means that it accepts connections. */
  readonly state: string
}

/** After this time a fast shutdown becomes an immediate one, which loses nothing either: the next start recovers from the WAL. */
const FAST_SHUTDOWN_MS = 60_000
const SHUTDOWN_MS = 90_000
/** Interval of progress reports during a long wait. */
const REPORT_INTERVAL_MS = 15_000

/** undefined: no server runs on this cluster, whatever an old postmaster.pid says; another process may have its pid by now. */
export function postmasterOf(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    return pid > 0 && worksIn(pid, cluster) ? { pid, state: lines[7]?.trim() ?? '' } : undefined
  } catch {
    return undefined
  }
}

/** A postmaster's working directory is its cluster; a zombie has none. Throws if the process has ended. */
function worksIn(pid: number, cluster: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch (error) {
    // Our server runs as another user only if we are root; of a root with few capabilities, only its name can be read.
    if ((error as NodeJS.ErrnoException).code !== 'EACCES' || process.getuid?.() !== 0) throw error
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
  }
}

/**
 * Waits until a server whose owner has died has stopped. The kernel signalled it when its owner was killed, and its last checkpoint may
 * take a while. If it was not signalled, because setpriv is missing, it is signalled now.
 *
 * Throws {@link CommandError} if it does not stop.
 */
export async function endLeftOver(
  cluster: string,
  report: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const found = postmasterOf(cluster)
  if (!found) return
  const from = performance.now()
  let reportedAt = from - REPORT_INTERVAL_MS + 500
  let sent: NodeJS.Signals | undefined
  while (postmasterOf(cluster)?.pid === found.pid) {
    const waited = performance.now() - from
    const wanted = waited > FAST_SHUTDOWN_MS ? 'SIGQUIT' : 'SIGINT'
    if (sent !== wanted) signalProcess(found.pid, (sent = wanted))
    if (waited > SHUTDOWN_MS)
      throw new CommandError(
        `the embedded database of the last start (process ${found.pid}) does not stop; run kill -9 ${found.pid}, then start again`,
      )
    if (performance.now() - reportedAt > REPORT_INTERVAL_MS) {
      report(`the embedded database of the last start (process ${found.pid}) is still stopping; waiting for it`)
      reportedAt = performance.now()
    }
    await pause(50, undefined, signal ? { signal } : {})
  }
}

/** The process may end between the check and the signal. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * Makes Postgres see, too, that the server of this postmaster.pid has ended. It refuses to start if another process has its pid by now, as after a
 * restart of the machine or of a container. If it finds its parent there, this process, it goes on, but still checks that no process uses the former
 * server's shared memory; without the file it would not. An empty or damaged file has nothing to check.
 */
export function disownPidFile(cluster: string): void {
  const path = join(cluster, 'postmaster.pid')
  const text = readText(path)
  if (text === undefined || postmasterOf(cluster)) return
  const [, pid, rest] = /^([1-9]\d{0,9})(\n.*)$/s.exec(text) ?? []
  if (pid === undefined) rmSync(path, { force: true })
  else if (existsSync(`/proc/${pid}`)) writeFileSync(path, `${process.pid}${rest}`)
}
