import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Runs tests as test/run.ts does, and prints how much of each package's sources ran in any process of Node that they started. Node gives
 * NODE_V8_COVERAGE to each child by itself, whatever environment that has. A process that a test kills writes nothing. COVERAGE names a folder
 * where the counts stay, for a run in several parts.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** See that file. */
const THREADS = `--import=${new URL('helpers/coverage-of-threads.ts', import.meta.url)}`
const MOST_FUNCTIONS = 30
/** No code: blank, a comment, or what only closes something. */
const BARE = /^[\s\])},;]*$|^\s*(?:\/\/|\/?\*)/

/** What c8 calls a file that no process loaded. */
const EMPTY = '(empty-report)'

/** Of one file, as Istanbul writes it: for c8, each line is a statement. */
interface FileCoverage {
  readonly path: string
  readonly statementMap: Readonly<Record<string, { readonly start: { readonly line: number } }>>
  readonly s: Readonly<Record<string, number>>
  readonly fnMap: Readonly<Record<string, { readonly name: string; readonly loc: Lines }>>
  readonly f: Readonly<Record<string, number>>
}

interface Lines {
  readonly start: { readonly line: number }
  readonly end: { readonly line: number }
}

interface Part {
  readonly package: string
  readonly lines: readonly boolean[]
  readonly functions: readonly { readonly place: string; readonly length: number; readonly ran: boolean }[]
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const kept = process.env.COVERAGE
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'postrider-coverage-'))
  try {
    const raw = join(folder, 'raw')
    const status = await run(process.execPath, ['test/run.ts', ...args], {
      NODE_V8_COVERAGE: raw,
      NODE_OPTIONS: THREADS,
    })
    process.stdout.write(`coverage of ${readdirSync(raw).length} processes and threads of Node\n`)
    const report = [
      'report',
      '--merge-async',
      '--all',
      '--src=packages',
      '--include=packages/*/src/**',
      '--extension=.ts',
    ]
    await run('c8', [
      ...report,
      '--exclude=**/*.d.ts',
      `--temp-directory=${raw}`,
      `--reports-dir=${folder}`,
      '--reporter=json',
    ])
    const files = JSON.parse(readFileSync(join(folder, 'coverage-final.json'), 'utf8')) as Record<string, FileCoverage>
    print(Object.values(files).flatMap(partOf))
    return status
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

/** None of a file that only has types. */
function partOf({ path, statementMap, s, fnMap, f }: FileCoverage): Part[] {
  const name = relative(ROOT, path)
  const text = stripTypeScriptTypes(readFileSync(path, 'utf8')).split('\n')
  const lines = Object.entries(statementMap).flatMap(([id, { start }]) =>
    BARE.test(text[start.line - 1] ?? '') ? [] : [(s[id] ?? 0) > 0],
  )
  const functions = Object.entries(fnMap).map(([id, { name: of, loc }]) => ({
    place: of === EMPTY ? name : `${name}:${loc.start.line} ${of}`,
    length: loc.end.line - loc.start.line + 1,
    ran: (f[id] ?? 0) > 0,
  }))
  return lines.length === 0 ? [] : [{ package: name.split('/')[1] as string, lines, functions }]
}

function print(parts: readonly Part[]): void {
  const row = (name: string, of: readonly Part[]) => {
    const figures = [of.flatMap(({ lines }) => lines), of.flatMap(({ functions }) => functions.map(({ ran }) => ran))]
    return [name, ...figures.flatMap(shares)]
      .map((cell, at) => (at === 0 ? cell.padEnd(10) : cell.padStart(10)))
      .join('')
  }
  const byPackage = Object.entries(Object.groupBy(parts, (part) => part.package)).sort(([a], [b]) => (a < b ? -1 : 1))
  const head = ['package', 'lines', 'not run', 'run', 'functions', 'not run', 'run']
  process.stdout.write(`${head.map((cell, at) => (at === 0 ? cell.padEnd(10) : cell.padStart(10))).join('')}\n`)
  for (const [name, of = []] of [...byPackage, ['all', parts] as const]) process.stdout.write(`${row(name, of)}\n`)
  const longest = parts
    .flatMap(({ functions }) => functions.filter(({ ran }) => !ran))
    .sort((a, b) => b.length - a.length)
    .slice(0, MOST_FUNCTIONS)
  process.stdout.write('longest functions that never ran, in lines:\n')
  for (const { length, place } of longest) process.stdout.write(`${String(length).padStart(5)} ${place}\n`)
}

function shares(ran: readonly boolean[]): string[] {
  const count = ran.filter(Boolean).length
  return [String(ran.length), String(ran.length - count), `${((100 * count) / ran.length).toFixed(1)} %`]
}
