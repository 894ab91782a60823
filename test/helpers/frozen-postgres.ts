import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** The pid of the server in a test's own data folder. */
export function postmaster(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** Stops every process of a test's own Postgres where it stands; what is answered lets them go on. */
export function freezePostgres(t: Test, dataDir: string): () => void {
  const server = postmaster(dataDir)
  // The server first: it must not make new ones meanwhile.
  const stopped = [server]
  process.kill(server, 'SIGSTOP')
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || parentOf(name) !== server) continue
    process.kill(Number(name), 'SIGSTOP')
    stopped.push(Number(name))
  }
  const thaw = (): void => {
    for (const pid of stopped.splice(0)) signal(pid)
  }
  t.teardown(thaw)
  return thaw
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It ended meanwhile.
  }
}

/** The fourth field; the second, the name in brackets, may have spaces. */
function parentOf(pid: string): number | undefined {
  try {
    const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return Number(parent)
  } catch {
    return undefined
  }
}
