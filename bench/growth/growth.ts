import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { FILL_SETTINGS, type Filled, fill } from './fill.ts'

const HELP = `npm run bench:growth -- [options]
Fills a database with ten million messages by SQL.

  --scale N    of everything (1)
  --data DIR   keep the database there and use the one that is there; else it is thrown away
  --serve      run the filled database until it is interrupted
`

process.exitCode = await main()

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      scale: { type: 'string', default: '1' },
      data: { type: 'string' },
      serve: { type: 'boolean', default: false },
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
    if (values.serve) await serve(folder, filled)
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
  const note = join(folder, 'growth.json')
  if (existsSync(note)) return JSON.parse(readFileSync(note, 'utf8')) as Filled
  if (existsSync(join(folder, 'postgres'))) throw new Error(`${folder} has a database that was not filled to the end`)
  const server = await startEmbeddedPostgres({ dataDir: folder, settings: FILL_SETTINGS, report })
  try {
    report(`filling ${server.url}`)
    const filled = await fill(server.url, scale, report)
    writeFileSync(note, `${JSON.stringify(filled, undefined, 2)}\n`)
    return filled
  } finally {
    await server.stop()
  }
}

async function serve(folder: string, filled: Filled): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir: folder, report })
  report(`serving ${server.url}, API key of account ${filled.large}: ${filled.apiKey}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await server.stop()
}
