import { type ChildProcess, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from '../packages/cli/src/compile-cache.ts'
import { withPostgres } from './helpers/postgres-server.ts'

/**
 * Runs the tests: one throw-away Postgres for all of them, one migrated template database, tap on the files named on the
 * command line or on all. It owns what must be cleaned up, since tap's own teardown does not run when it is interrupted.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Count {
  passed: number
  failed: number
  skipped: number
}

process.exitCode = await main(process.argv.slice(2))

async function main(named: string[]): Promise<number> {
  const files = named.length > 0 ? named : globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  return withPostgres(async ({ url, folder }) => {
    const { count, status } = await runTap(files, { TEST_DATABASE_URL: url, TEST_FOLDER: folder })
    process.stdout.write(`tests: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`)
    return status !== 0 || count.failed > 0 || count.passed === 0 ? 1 : 0
  })
}

async function runTap(
  files: readonly string[],
  env: Record<string, string>,
): Promise<{ count: Count; status: number }> {
  // The fault journeys take as long as they are told to.
  const patience = process.env.FAULT_SECONDS ? ['--timeout=1200'] : []
  const tap = spawn(join(ROOT, 'node_modules/.bin/tap'), ['run', '--reporter=tap', ...patience, ...files], {
    cwd: ROOT,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const forward = (signal: NodeJS.Signals) => tap.kill(signal)
  process.on('SIGINT', forward)
  process.on('SIGTERM', forward)
  const [count, status] = await Promise.all([
    readTap(tap),
    new Promise<number>((resolve) => tap.once('exit', (code) => resolve(code ?? 1))),
  ])
  return { count, status }
}

/** Each test file is a subtest; each test in it, one level deeper, is a sentence that counts. Failures are shown whole. */
async function readTap(tap: ChildProcess): Promise<Count> {
  const count: Count = { passed: 0, failed: 0, skipped: 0 }
  let file: string[] = []
  for await (const line of createInterface({ input: tap.stdout as NodeJS.ReadableStream })) {
    file.push(line)
    const figures = /^\s+# figures: (.*)$/.exec(line)
    if (figures) process.stdout.write(`       ${figures[1]}\n`)
    const test = /^ {4}(not )?ok \d+ - (.*)$/.exec(line)
    if (test) tally(count, test[1] !== undefined, test[2] ?? '')
    const done = /^(not )?ok \d+ - (.*)$/.exec(line)
    if (!done) continue
    process.stdout.write(`${done[1] ? 'FAILED' : 'ok    '} ${done[2]}\n`)
    if (done[1]) process.stdout.write(`${file.join('\n')}\n`)
    file = []
  }
  return count
}

function tally(count: Count, failed: boolean, title: string): void {
  const skipped = /# SKIP\b ?(.*)$/i.exec(title)
  if (skipped) {
    count.skipped++
    process.stdout.write(`skipped ${title}\n`)
  } else if (failed) count.failed++
  else count.passed++
}
