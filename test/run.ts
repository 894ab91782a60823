import { type ChildProcess, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { withPostgres } from './helpers/postgres-server.ts'
import { BARE_ENVIRONMENT } from './helpers/processes.ts'

/**
 * Runs the tests: one throw-away Postgres for all of them, one migrated template database, and each file named on the command line, or
 * each there is, as a process of its own. Not by `tap run`: it loads itself into every process that a test starts, which is most of
 * what many of them take (docs/decisions/0016-own-test-runner.md).
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** What files wait for in turn leaves room for one more than there are cores. */
const AT_ONCE = availableParallelism() + 1
/** Seconds a file may take. The fault journeys take as long as they are told to. */
const PATIENCE = process.env.FAULT_SECONDS ? 1200 : 300
/** Where the longest files are, which had better not begin last. */
const FIRST = ['test/journeys/', 'test/cli/', 'test/hostile/', 'test/delivery/']
const SLOWEST = 10
/** Lines of a file that are shown, the last, when one of its tests failed. */
const MOST_LINES = 10_000

interface Count {
  passed: number
  failed: number
  skipped: number
}

interface Ran extends Count {
  readonly file: string
  readonly seconds: number
}

/** `--debug`: each file waits for a debugger before its first line, and for as long as somebody takes. */
const DEBUG = process.argv.includes('--debug')
const running = new Set<ChildProcess>()
let interrupted = false

process.exitCode = await main(process.argv.slice(2).filter((word) => word !== '--debug'))

async function main(named: string[]): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  const files = named.length > 0 ? named : globSync('test/**/*.test.ts', { cwd: ROOT }).sort(longFirst)
  return withPostgres(async ({ url, folder }) => {
    const env = {
      ...process.env,
      ...BARE_ENVIRONMENT,
      TEST_DATABASE_URL: url,
      TEST_FOLDER: folder,
      TAP_TIMEOUT: String(DEBUG ? 0 : PATIENCE),
    }
    const ran = await runAll(files, env)
    if (ran.length > SLOWEST) process.stdout.write(slowest(ran))
    const sum = (which: keyof Count) => ran.reduce((all, one) => all + one[which], 0)
    process.stdout.write(`tests: ${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`)
    return ran.length === files.length && sum('failed') === 0 && sum('passed') > 0 ? 0 : 1
  })
}

function interrupt(): void {
  interrupted = true
  for (const child of running) endGroup(child)
}

/** tap's teardowns do not run on a signal, so all that a file started goes with it; what has a group of its own looks after itself. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}

function longFirst(a: string, b: string): number {
  const rank = (file: string) => FIRST.findIndex((folder) => file.startsWith(folder)) >>> 0
  return rank(a) - rank(b) || (a < b ? -1 : 1)
}

async function runAll(files: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran[]> {
  const left = [...files]
  const ran: Ran[] = []
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let file = left.shift(); file && !interrupted; file = left.shift()) ran.push(await run(file, env))
    }),
  )
  return ran
}

/** One file. What a test says is shown when one of the file failed. */
async function run(file: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const began = performance.now()
  const child = spawn(process.execPath, [...(DEBUG ? ['--inspect-brk'] : []), file], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  running.add(child)
  const output = createInterface({ input: child.stdout })
  // tap says by itself which test it waited for; this is for one that does not come to that.
  const patience = DEBUG ? undefined : setTimeout(() => endGroup(child), (PATIENCE + 20) * 1000)
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? 1)
      endGroup(child)
      // What it left behind may have its output open, and would be waited for.
      setTimeout(() => {
        output.close()
        child.stdout.destroy()
      }, 1000).unref()
    })
  })
  const { lines, count } = await readTap(output)
  const status = await ended
  clearTimeout(patience)
  running.delete(child)
  // Nobody else would say that it ended without a test, or after the last one went wrong.
  const ran = count.passed + count.failed + count.skipped
  if ((status !== 0 || ran === 0) && count.failed === 0) count.failed++
  const seconds = (performance.now() - began) / 1000
  const failed = count.failed > 0
  process.stdout.write(`${failed ? 'FAILED' : 'ok    '} ${file} # ${seconds.toFixed(1)} s\n`)
  if (failed) {
    for (const line of lines) process.stdout.write(`    ${line}\n`)
    process.stdout.write(`    ended with ${status}\n`)
  }
  return { file, seconds, ...count }
}

/** Each test of the file is a sentence that counts. */
async function readTap(output: Interface): Promise<{ lines: string[]; count: Count }> {
  const lines: string[] = []
  const count: Count = { passed: 0, failed: 0, skipped: 0 }
  for await (const line of output) {
    lines.push(line)
    if (lines.length > 2 * MOST_LINES) lines.splice(0, MOST_LINES)
    const figures = /^\s*# figures: (.*)$/.exec(line)
    if (figures) process.stdout.write(`       ${figures[1]}\n`)
    const test = /^(not )?ok \d+ - (.*)$/.exec(line)
    if (test) tally(count, test[1] !== undefined, test[2] ?? '')
  }
  return { lines, count }
}

function tally(count: Count, failed: boolean, title: string): void {
  const skipped = /# SKIP\b ?(.*)$/i.exec(title)
  if (skipped) {
    count.skipped++
    process.stdout.write(`skipped ${title}\n`)
  } else if (failed) count.failed++
  else count.passed++
}

function slowest(ran: readonly Ran[]): string {
  const most = ran.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  return `slowest:\n${most.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s ${file}\n`).join('')}`
}
