import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { stopAll } from '../harness/processes.ts'
import type { Measured } from './call.ts'
import { v2Calls } from './calls-v2.ts'
import { v3Calls } from './calls-v3.ts'
import { measureCli } from './cli.ts'
import { coolingOf } from './cool.ts'
import { derivedCalls, unmeasured } from './coverage.ts'
import { FILL_SETTINGS, type Filled, fill } from './fill.ts'
import { forgetPerson } from './forget.ts'
import { findKnown, type Installation, openInstallation } from './installation.ts'
import { type Measuring, measureCall, watchPlans } from './measure.ts'
import { pageVisits, unvisited } from './pages.ts'
import { watchProcessor } from './processor.ts'
import { isFine, save, savePage, table } from './report.ts'
import { scaleOf } from './scale.ts'
import { measureScrape } from './scrape.ts'
import { createVisitor } from './visit.ts'

const HELP = `npm run bench:growth -- [options]
Fills a database with ten million messages by SQL, starts every process on it, and measures each operation of both APIs and the
command line that reads, and each page of the dashboard. Exit status 1 when one is above the bound, or is not measured.

  --scale N    of everything (1)
  --data DIR   keep the database there and use the one that is there; else it is thrown away
  --only TEXT  only calls whose name has this
  --bound MS   milliseconds that the p95 of a call may take (200)
  --minutes N  measures what fits into that time (all)
  --runs N     of a call, at most (20)
  --cold       before the first run of each call, takes the database out of the memory of Postgres and of the system (python3)
  --page       writes bench/results/reads.md
  --serve      run the filled database until it is interrupted
  --forget     instead of the reads: has the person of ten thousand messages forgotten, as a client of the API asks for it, and tells
               how long that takes. Once only on a database: the calls that ask for him find nothing afterwards
  --scrape     instead of the reads: what the gauges of a delivery process cost; exit status 1 when one of them scans a table
`

process.exitCode = await main()

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      scale: { type: 'string', default: '1' },
      data: { type: 'string' },
      only: { type: 'string', default: '' },
      bound: { type: 'string', default: '200' },
      minutes: { type: 'string', default: 'Infinity' },
      runs: { type: 'string', default: '20' },
      cold: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      serve: { type: 'boolean', default: false },
      forget: { type: 'boolean', default: false },
      scrape: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const scale = Number(values.scale)
  if (values.help || !(scale > 0 && scale <= 10)) {
    process.stdout.write(values.help ? HELP : '--scale must be a number above 0, at most 10\n')
    return values.help ? 0 : 64
  }
  const folder = values.data ?? mkdtempSync(join(tmpdir(), 'postrider-growth-'))
  try {
    const filled = await filledFolder(folder, scale)
    if (filled.forgottenAt) report(`the person of ten thousand messages was forgotten here at ${filled.forgottenAt}`)
    const bound = Number(values.bound)
    if (values.serve) await serve(folder, filled)
    else if (values.forget) await measureForget(folder, filled, bound)
    else if (values.scrape) return (await measureScrape(folder, report)) ? 0 : 1
    else
      return await measureAll(folder, filled, {
        only: values.only,
        cold: values.cold,
        page: values.page,
        bound,
        most: Number(values.runs),
        minutes: Number(values.minutes),
      })
    return 0
  } finally {
    if (values.data === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

function report(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
}

/** Fills it unless that was done. */
async function filledFolder(folder: string, scale: number): Promise<Filled> {
  const file = noteOf(folder)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Filled
  if (existsSync(join(folder, 'postgres'))) throw new Error(`${folder} has a database that was not filled to the end`)
  const server = await startEmbeddedPostgres({ dataDir: folder, settings: FILL_SETTINGS, report })
  try {
    report(`filling ${server.url}`)
    const owners = await fill(server.url, scaleOf(scale), report)
    const filled: Filled = { ...owners, scale, filledAt: new Date().toISOString() }
    note(folder, filled)
    return filled
  } finally {
    await server.stop()
  }
}

function noteOf(folder: string): string {
  return join(folder, 'growth.json')
}

function note(folder: string, filled: Filled): void {
  writeFileSync(noteOf(folder), `${JSON.stringify(filled, undefined, 2)}\n`)
}

/** Which calls are measured, and how often. */
interface Chosen {
  readonly only: string
  readonly minutes: number
  readonly most: number
}

async function measureAll(
  folder: string,
  filled: Filled,
  { bound, cold, page, ...which }: Chosen & { bound: number; cold: boolean; page: boolean },
): Promise<number> {
  return withInstallation(folder, filled, bound, async (installation) => {
    const processes = Object.entries(installation.processes)
    const started = Object.fromEntries(processes.map(([name, { startedIn }]) => [name, Math.round(startedIn)]))
    report(`started: ${JSON.stringify(started)}`)
    const { measured, isComplete } = await measureReads(installation, filled, {
      ...which,
      cool: cold ? await coolingOf(installation.sql, folder) : undefined,
    })
    const memory = mostMemory(installation)
    const result = { scale: filled.scale, bound, measured, started, memory }
    const file = save(result)
    if (page) {
      const [own] =
        await installation.sql`select count(*)::int as count from messages where account_id = ${filled.large}`
      savePage(result, { messages: own?.count ?? 0, isComplete })
    }
    process.stdout.write(`\n${table({ measured, bound })}\n\nmost memory, MiB: ${JSON.stringify(memory)}\n${file}\n`)
    return isComplete && measured.every((one) => isFine(one, bound)) ? 0 : 1
  })
}

async function measureForget(folder: string, filled: Filled, bound: number): Promise<void> {
  if (filled.forgottenAt) return
  await withInstallation(folder, filled, bound, async (installation) => {
    note(folder, { ...filled, forgottenAt: new Date().toISOString() })
    const { milliseconds, longestAnswer, receipt } = await forgetPerson(installation, report)
    report(`forgotten in ${(milliseconds / 1000).toFixed(1)} s: ${JSON.stringify(receipt)}`)
    report(`the longest answer meanwhile: ${Math.round(longestAnswer)} ms`)
    report(`most memory, MiB: ${JSON.stringify(mostMemory(installation))}`)
  })
}

async function withInstallation<T>(
  folder: string,
  filled: Filled,
  bound: number,
  act: (installation: Installation) => Promise<T>,
): Promise<T> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopAll().then(() => process.exit(130)))
  }
  const installation = await openInstallation(folder, filled, bound)
  try {
    return await act(installation)
  } finally {
    await installation.close()
  }
}

function mostMemory({ processes }: Installation): Record<string, number> {
  return Object.fromEntries(
    Object.entries(processes).map(([name, { running }]) => [name, Math.round(running.peakKib() / 1024)]),
  )
}

/** The positions of all jobs: with little time, in an order in which the first ones are of all kinds. */
function spread(count: number, isShort: boolean): number[] {
  const all = Array.from({ length: count }, (_, at) => at)
  return isShort ? all.sort((a, b) => ((a * 7919) % 997) - ((b * 7919) % 997)) : all
}

/** `isComplete`: each operation that reads and each page is among the calls and visits, whichever of them were chosen. */
async function measureReads(
  installation: Installation,
  filled: Filled,
  { only, minutes, ...how }: Chosen & Omit<Measuring, 'processor'>,
): Promise<{ readonly measured: Measured[]; readonly isComplete: boolean }> {
  const known = await findKnown(installation, filled)
  const told = [...v2Calls(known), ...v3Calls(known)]
  const calls = [...told, ...derivedCalls(told)]
  const visits = pageVisits(known)
  const missing = [...unmeasured(calls), ...unvisited(visits).map((path) => `page ${path}`)]
  for (const name of missing) report(`not measured: ${name}`)
  const isComplete = missing.length === 0
  const plans = watchPlans(installation.logFile)
  const api = installation.processes.api?.running
  const measuring = { ...how, processor: watchProcessor(installation.sql, [api?.pid ?? 0]) }
  const visitor = await createVisitor(installation, filled)
  const jobs = [
    ...calls.map((call) => ({
      name: `${call.api} ${call.operation}: ${call.what}`,
      run: () => measureCall(installation, call, measuring),
    })),
    ...visits.map((visit) => ({
      name: `page ${visit.route}: ${visit.what}`,
      run: () => visitor.visit(visit, measuring),
    })),
  ].filter(({ name }) => name.includes(only))
  const found: Measured[] = []
  const until = performance.now() + minutes * 60_000
  for (const at of spread(jobs.length, Number.isFinite(minutes))) {
    if (performance.now() > until) break
    const one = await (jobs[at] as (typeof jobs)[number]).run()
    one.plans = plans()
    report(
      `${one.name}: ${one.cold === undefined ? '' : `cold ${one.cold.toFixed(0)}, `}${one.p50.toFixed(1)} ${one.p95.toFixed(1)} ms, ` +
        `${one.processor.toFixed(1)} on the processor, API ${Math.round((api?.peakKib() ?? 0) / 1024)} MiB so far` +
        `${one.said ? `, ${one.status} ${one.said}` : ''}`,
    )
    found[at] = one
  }
  const measured = found.filter((one) => one !== undefined)
  if (measured.length < jobs.length) {
    report(`not measured: ${jobs.length - measured.length} others, for lack of time`)
    return { measured, isComplete: false }
  }
  if (only !== '' && only !== 'cli') return { measured, isComplete }
  const lines = await measureCli(installation, filled, {
    ...how,
    processor: watchProcessor(installation.sql, [process.pid]),
  })
  return { measured: [...measured, ...lines], isComplete }
}

async function serve(folder: string, filled: Filled): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir: folder, report })
  report(`serving ${server.url}, API key of account ${filled.large}: ${filled.apiKey}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await server.stop()
}
