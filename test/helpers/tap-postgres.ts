import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { withPostgres } from './postgres-server.ts'
import { BARE_ENVIRONMENT } from './processes.ts'
import { environmentFileOf } from './tap-environment.ts'

/**
 * What `tap` runs before the test files (.taprc): it starts their Postgres in a process of its own, which ends it once that `tap` has
 * ended, however it ends. tap-environment.ts tells each test file where it is.
 */
const LOOK_EVERY_MS = 200

const [tap] = process.argv.slice(2)
if (tap === undefined) await startServer(process.ppid)
else await serve(Number(tap))

async function startServer(tap: number): Promise<void> {
  const args = [fileURLToPath(import.meta.url), String(tap)]
  const { TMPDIR, TEST_DATABASE_URL } = process.env
  const env = { ...BARE_ENVIRONMENT, ...(TMPDIR && { TMPDIR }), ...(TEST_DATABASE_URL && { TEST_DATABASE_URL }) }
  const server = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'ignore', 'inherit'], env })
  const ended = once(server, 'exit')
  while (!existsSync(environmentFileOf(tap))) {
    if (server.exitCode !== null) throw new Error(`the Postgres of the tests ended with ${(await ended)[0]}`)
    await pause(LOOK_EVERY_MS)
  }
  server.unref()
}

async function serve(tap: number): Promise<void> {
  const file = environmentFileOf(tap)
  await withPostgres(async ({ url, folder }) => {
    writeFileSync(`${file}.new`, JSON.stringify({ TEST_DATABASE_URL: url, TEST_FOLDER: folder }), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    while (isRunning(tap)) await pause(LOOK_EVERY_MS)
  })
  rmSync(file, { force: true })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
