import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { openDatabase, type Sql } from '@postrider/core'
import { createServiceFigures } from '../../packages/core/src/reporting/service-figures.ts'
import { freePort, start } from '../harness/processes.ts'
import { SECRET_KEY } from './fill.ts'

const TIMES = 30

/** A statement of a reading, as the server counted it. */
interface Statement {
  readonly query: string
  readonly calls: number
  readonly milliseconds: number
  readonly rows: number
  /** Pages read, from memory or not. */
  readonly pages: number
}

/**
 * Tells what the gauges of a delivery process cost on a filled database: the time of a reading, its statements with the pages that they read,
 * and the tables that were scanned; and the time of a scrape of the process itself. Returns whether nothing was scanned.
 */
export async function measureScrape(folder: string, report: (line: string) => void): Promise<boolean> {
  const settings = ['shared_preload_libraries=pg_stat_statements']
  const postgres = await startEmbeddedPostgres({ dataDir: folder, settings })
  const sql = openDatabase({ url: postgres.url, name: 'growth', connections: 1 })
  try {
    await sql`create extension if not exists pg_stat_statements`
    const isFine = await measureReadings(sql, report)
    await measureProcess(folder, postgres.url, report)
    return isFine
  } finally {
    await sql.end({ timeout: 5 })
    await postgres.stop()
  }
}

async function measureReadings(sql: Sql, report: (line: string) => void): Promise<boolean> {
  const read = () => createServiceFigures(sql, { backups: undefined, bodyStore: undefined, dataDir: '.' })()
  report(`gauges: ${JSON.stringify(await read())}`)
  const scannedBefore = await scanned(sql)
  await sql`select pg_stat_statements_reset()`
  const times: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const began = performance.now()
    await read()
    times.push(performance.now() - began)
  }
  for (const { query, calls, milliseconds, rows, pages } of await statements(sql)) {
    const each = [
      `${(calls / TIMES).toFixed(0)} times`,
      `${(milliseconds / TIMES).toFixed(2)} ms`,
      `${rows / TIMES} rows`,
    ]
    report(`a reading: ${each.join(', ')}, ${Math.round(pages / TIMES)} pages: ${query}`)
  }
  report(`a reading takes p50 ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms`)
  const scannedAfter = await scanned(sql)
  const tables = [...scannedAfter].flatMap(([name, rows]) => {
    const each = (rows - (scannedBefore.get(name) ?? 0)) / TIMES
    return each > 0 ? [`${name} (${each} rows a reading)`] : []
  })
  report(`read by sequential scans: ${tables.join(', ') || 'no table'}`)
  return tables.length === 0
}

/** Rows that sequential scans read, of each of the service's tables with more than a page. */
async function scanned(sql: Sql): Promise<Map<string, number>> {
  // The server's own counts are sent by each session when it is idle.
  await sql`select pg_stat_force_next_flush()`
  await sql`select pg_stat_clear_snapshot()`
  const rows = await sql<{ name: string; rows: number }[]>`
    select s.relname as name, s.seq_tup_read::float8 as rows
      from pg_stat_user_tables s join pg_class c on c.oid = s.relid where c.relpages > 1`
  return new Map(rows.map(({ name, rows }) => [name, rows]))
}

function statements(sql: Sql): Promise<Statement[]> {
  return sql<Statement[]>`
    select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as query, calls::float8, total_exec_time as milliseconds, rows::float8,
           (shared_blks_hit + shared_blks_read)::float8 as pages
      from pg_stat_statements where calls >= ${TIMES} order by total_exec_time desc`
}

async function measureProcess(folder: string, url: string, report: (line: string) => void): Promise<void> {
  const port = await freePort()
  const env = {
    DATABASE_URL: url,
    DATA_DIR: folder,
    SECRET_KEY,
    METRICS_PORT: String(port),
    // Nothing is due; and nobody is there who would take it.
    DELIVERY: 'smtp://127.0.0.1:9',
    LOG_LEVEL: 'info',
  }
  const worker = await start(process.execPath, ['packages/delivery/src/worker.ts'], { env, ready: /"msg":"started"/ })
  try {
    const scrape = async (): Promise<[number, number]> => {
      const began = performance.now()
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return [performance.now() - began, text.length]
    }
    const [first] = await scrape()
    const times: number[] = []
    let length = 0
    for (let time = 0; time < TIMES; time++) {
      const [milliseconds, octets] = await scrape()
      times.push(milliseconds)
      length = octets
    }
    report(
      `a scrape of ${Math.round(length / 1000)} kB: the first ${Math.round(first)} ms, those of the same ten seconds p50 ${quantile(times, 0.5)} ms`,
    )
  } finally {
    await worker.stop()
  }
}

function quantile(times: readonly number[], part: number): string {
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0).toFixed(1)
}
