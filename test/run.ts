import { existsSync, globSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, freemem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { changedTests } from './helpers/changed-tests.ts'
import { withPostgres } from './helpers/postgres-server.ts'
import { BARE_ENVIRONMENT } from './helpers/processes.ts'
import {
  endAll,
  type Given,
  openTestProcess,
  processorSeconds,
  runAlone,
  type TestProcess,
} from './helpers/test-processes.ts'
import { type Count, TestReport } from './helpers/test-report.ts'

/**
 * Runs the tests: one throw-away Postgres for all of them, one migrated template database, and each file named on the command line, or
 * each there is, or with `--changed` each that a change touches. Not by `tap run`: it loads itself into every process that a test starts, which is
 * most of what many of them take (docs/decisions/0016-own-test-runner.md).
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CORES = availableParallelism()
/** Files at once, however busy the processors are. */
const LEAST_AT_ONCE = CORES + 2
/** Files at once while they leave processors idle and memory free: many wait for a lease, a retry or a process. */
const MOST_AT_ONCE = 5 * CORES
/** Files at once while one of them is TIMED. */
const MOST_BESIDE_TIMED = CORES + 1
/** Bytes of memory that are free when another file begins beside LEAST_AT_ONCE: twice what the processes of one file take. */
const SPARE_MEMORY = 1.5 * 2 ** 30
/** The part of all processors' time that is idle from which on another file begins. */
const IDLE = 0.15
const LOOK_EVERY_MS = 300
/** Seconds a file may take. The fault journeys take as long as they are told to, and have timeouts of their own. */
const PATIENCE = process.env.FAULT_SECONDS || process.argv.some((file) => file.endsWith('.fault.ts')) ? 4 * 3600 : 600
/** Files that evaluate how long something takes: they run one at a time, and few others beside them. */
const TIMED = [
  'test/hostile/quick.test.ts',
  'test/hostile/search.test.ts',
  'test/core/reporting/statistics/plans.test.ts',
  'test/core/delivery/plans.test.ts',
  'test/core/retention/privacy/export.test.ts',
  'test/journeys/crashes.test.ts',
  'test/relay/returns/hostile-reports.test.ts',
]
/** The longest files, and the folders of those that mostly wait. TIMED follows them, then all others: short ones that rarely wait. */
const FIRST = [
  'test/cli/start-again.test.ts',
  'test/core/retention/privacy/forget.test.ts',
  'test/delivery/warm-up.test.ts',
  'test/core/delivery/lease.test.ts',
  'test/core/platform/database/silent-connections.test.ts',
  'test/core/retention/interrupted.test.ts',
  'test/delivery/',
  'test/cli/',
  'test/journeys/',
  'test/sandbox/',
  'test/core/reporting/statistics/',
  'test/hostile/',
  'test/relay/costly.test.ts',
  'test/api/large-calls.test.ts',
]
/** Folders whose files test modules in their own process, most of what such a file takes being to load those. */
const SHARED = /^test\/(api|cli|core|dashboard|delivery|journeys|relay|sandbox|ui)\//
/**
 * What in a file measures or changes the process it runs in. It has one of its own. Not `performance.now()`: what it measures passes for
 * a file that runs beside others, whatever process it is in.
 */
const OWN_PROCESS =
  /performance\.(?!now\b)|helpers\/(?:linear|(?:preload-)?turns)\.ts|node:(?:worker_threads|v8|vm)'|process\.(?:on|once|exit|memoryUsage|cpuUsage|resourceUsage)\b|globalThis\.|\bmock\b|process\.env\.\w+ =|Atomics/
/** Files that a shared process takes: its modules and what they keep stay in memory. */
const MOST_SHARED = 40
const SLOWEST = 10
/** Whether each process writes its coverage at its end. */
const COVERED = process.env.NODE_V8_COVERAGE !== undefined
/** Seconds in which it does: one that ran forty files and compiled ten thousand scripts took more than a minute beside others. */
const COVERAGE_WITHIN = 600
const DEBUG = process.argv.includes('--debug')
const CHANGED = '--changed'

interface Ran extends Count {
  readonly file: string
  readonly seconds: number
  /** Of processor time, without the database's. */
  readonly busy: number
  /** The titles of its tests that failed. */
  readonly failures: readonly string[]
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
let interrupted = false

process.exitCode = await main(process.argv.slice(2).filter((word) => word !== '--debug'))

async function main(named: string[]): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  const files = filesToRun(named)
  return withPostgres(async ({ url, folder, databaseSeconds }) => {
    const env = { ...process.env, ...BARE_ENVIRONMENT, TEST_DATABASE_URL: url, TEST_FOLDER: folder }
    const late: string[] = []
    const onLateError = (file: string, text: string) => {
      late.push(file)
      print(`FAILED ${file} # after its end\n${text.replace(/^/gm, '    ')}`)
    }
    const given = { env, patience: PATIENCE, debug: DEBUG, onLateError }
    const { ran, problems } = await runAll(files, COVERED ? { ...given, endsWithin: COVERAGE_WITHIN } : given)
    for (const one of ran) one.failed += late.filter((file) => file === one.file).length
    if (ran.length > SLOWEST)
      process.stdout.write(
        ranking('slowest', ran, ({ seconds }) => seconds) + ranking('most processor time', ran, ({ busy }) => busy),
      )
    const shown = [processorSeconds(process), databaseSeconds()].map((seconds) => seconds?.toFixed(0) ?? '?')
    print(`processor time: ${shown[0]} s, and ${shown[1]} s of the database`)
    for (const problem of problems) print(problem)
    for (const one of ran.filter(({ failed }) => failed > 0)) {
      print(`failed: ${one.file}`)
      for (const title of one.failures) print(`    ${title}`)
    }
    const sum = (which: keyof Count) => ran.reduce((all, one) => all + one[which], 0)
    print(`tests: ${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
    const allWell = sum('failed') === 0 && problems.length === 0
    return ran.length === files.length && allWell && sum('passed') > 0 ? 0 : 1
  })
}

function filesToRun(named: string[]): string[] {
  const asked = named.filter((name) => name !== CHANGED)
  if (asked.length > 0) return asked
  const all = globSync('test/**/*.test.ts', { cwd: ROOT }).sort(longFirst)
  const lost = TIMED.filter((file) => !all.includes(file))
  if (lost.length > 0) throw new Error(`TIMED names files that do not exist: ${lost.join(' ')}`)
  if (!named.includes(CHANGED)) return all
  const touched = changedTests(ROOT, all)
  print(`${touched.length} of ${all.length} files of tests`)
  return touched
}

function interrupt(): void {
  interrupted = true
  endAll()
}

function longFirst(a: string, b: string): number {
  const rank = (file: string) =>
    TIMED.includes(file) ? FIRST.length : FIRST.findIndex((begin) => file.startsWith(begin)) >>> 0
  return rank(a) - rank(b) || (a < b ? -1 : 1)
}

/** Runs the files in their order, as many at once as keep the processors busy. */
async function runAll(files: readonly string[], given: Given): Promise<{ ran: Ran[]; problems: string[] }> {
  const left = [...files]
  const ran: Ran[] = []
  const problems: string[] = []
  const running = new Map<string, Promise<void>>()
  const shared: TestProcess[] = []
  const ends: Promise<void>[] = []
  const idle = watchIdle()

  const end = (host: TestProcess) => {
    ends.push(
      host.end().then((problem) => {
        if (problem && !interrupted) problems.push(problem)
      }),
    )
  }
  /** One that has ended meanwhile would fail a file that it never began; its end is told by itself. */
  const living = (): TestProcess | undefined => {
    const host = shared.pop()
    if (!host || host.lives) return host
    end(host)
    return living()
  }
  const runShared = async (file: string, report: TestReport) => {
    const host = living() ?? openTestProcess(given)
    await host.run(file, report)
    if (host.lives && host.files.length < MOST_SHARED) shared.push(host)
    else end(host)
  }
  const begin = (file: string) => {
    const done = run(file, (report) => (isShared(file) ? runShared(file, report) : runAlone(file, report, given)))
    running.set(
      file,
      done.then((one) => {
        ran.push(one)
        running.delete(file)
      }),
    )
  }
  while (left.length > 0 || running.size > 0) {
    const most = mostAtOnce(running, left[0], idle())
    while (running.size < most && left.length > 0 && !interrupted) {
      const next = left.findIndex((file) => !TIMED.includes(file) || mayBeTimed(running))
      if (next === -1) break
      begin(left.splice(next, 1)[0] as string)
    }
    if (interrupted) left.length = 0
    await Promise.race([...running.values(), new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS).unref())])
  }
  for (const host of shared) end(host)
  await Promise.all(ends)
  return { ran, problems }
}

/** Before a TIMED file, others end first. */
function mostAtOnce(running: ReadonlyMap<string, unknown>, next: string | undefined, idle: number): number {
  if (TIMED.some((file) => file === next || running.has(file))) return MOST_BESIDE_TIMED
  const isRoom = idle > IDLE && freemem() > SPARE_MEMORY
  return Math.max(LEAST_AT_ONCE, isRoom ? Math.min(running.size + 1, MOST_AT_ONCE) : 0)
}

function mayBeTimed(running: ReadonlyMap<string, unknown>): boolean {
  return running.size < MOST_BESIDE_TIMED && !TIMED.some((file) => running.has(file))
}

function isShared(file: string): boolean {
  const path = join(ROOT, file)
  return SHARED.test(file) && existsSync(path) && !OWN_PROCESS.test(readFileSync(path, 'utf8'))
}

/** Returns the part of the processors' time that was idle since the last call, or a moment ago. */
function watchIdle(): () => number {
  const look = () => {
    const times = cpus().map(({ times }) => times)
    const idle = times.reduce((sum, time) => sum + time.idle, 0)
    return { idle, all: times.reduce((sum, time) => sum + time.user + time.nice + time.sys + time.irq + time.idle, 0) }
  }
  let last = look()
  return () => {
    const now = look()
    const part = now.all === last.all ? 0 : (now.idle - last.idle) / (now.all - last.all)
    last = now
    return part
  }
}

/** One file. What its tests say is shown when one of them failed. */
async function run(file: string, act: (report: TestReport) => Promise<void>): Promise<Ran> {
  const began = performance.now()
  const report = new TestReport(print)
  await act(report)
  const seconds = (performance.now() - began) / 1000
  const failed = report.count.failed > 0
  const busy = report.processorSeconds ?? 0
  print(`${failed ? 'FAILED' : 'ok    '} ${file} # ${seconds.toFixed(1)} s, ${busy.toFixed(1)} s of processor time`)
  if (failed) for (const line of report.lines) print(`    ${line}`)
  return { file, seconds, busy, failures: report.failures, ...report.count }
}

function ranking(what: string, ran: readonly Ran[], of: (one: Ran) => number): string {
  const first = ran.toSorted((a, b) => of(b) - of(a)).slice(0, SLOWEST)
  return `${what}:\n${first.map((one) => `${of(one).toFixed(1).padStart(8)} s ${one.file}\n`).join('')}`
}
