import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandError } from '../command.ts'

/** The server that runs on a cluster, as its postmaster.pid and the kernel tell. */
export interface Postmaster {
  readonly pid: number
  /** Line 8 of postmaster.pid: it takes connections when it says "ready". */
  readonly state: string
}

/** Past this a fast shutdown becomes an immediate one, which loses nothing either: the next start recovers from the WAL. */
const FAST_WITHIN_MS = 60_000
const GONE_WITHIN_MS = 90_000
/** Every so often something that takes long is told. */
const TELL_EVERY_MS = 15_000

/** undefined: none runs on this cluster, whatever an old postmaster.pid says; its pid may be anybody's by now. */
export function postmasterOf(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    return pid > 0 && worksIn(pid, cluster) ? { pid, state: lines[7]?.trim() ?? '' } : undefined
  } catch {
    return undefined
  }
}

/** A postmaster's working directory is its cluster; one that has ended and was not waited for has none. Throws when it is gone. */
function worksIn(pid: number, cluster: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch (error) {
    // Where it runs as somebody else and we are a root with few rights, only its name can be read.
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
  }
}

/**
 * Ends a server whose owner is gone, and waits until it has: it was asked to stop when its owner was killed, and may need a while
 * for its last checkpoint. One that was not asked, where setpriv is missing, is asked now.
 *
 * Throws {@link CommandError} when it does not end.
 */
export async function endLeftOver(
  cluster: string,
  report: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const found = postmasterOf(cluster)
  if (!found) return
  const from = performance.now()
  let told = from - TELL_EVERY_MS + 500
  let asked: NodeJS.Signals | undefined
  while (postmasterOf(cluster)?.pid === found.pid) {
    const waited = performance.now() - from
    const wanted = waited > FAST_WITHIN_MS ? 'SIGQUIT' : 'SIGINT'
    if (asked !== wanted) ask(found.pid, (asked = wanted))
    if (waited > GONE_WITHIN_MS)
      throw new CommandError(
        `the embedded database of the last start (process ${found.pid}) does not stop: end it with kill -9 ${found.pid}, then start again`,
      )
    if (performance.now() - told > TELL_EVERY_MS) {
      report(`the embedded database of the last start (process ${found.pid}) is still stopping: waiting for it`)
      told = performance.now()
    }
    await pause(50, undefined, signal ? { signal } : {})
  }
}

/** It may end at this very moment. */
function ask(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
