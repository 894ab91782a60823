import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, verifyData } from '@postrider/core'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from '../../packages/cli/src/start-postgres.ts'
import { answered, postrider } from '../cli/postrider.ts'
import { countAll } from '../core/reporting/statistics/happen.ts'
import { independentCounts, keptCounts } from '../core/reporting/statistics/independent.ts'
import { Ledger } from '../helpers/ledger.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeServiceOn, type TestService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** Restores in all: half of them of what the backup folder had at a random moment, half to a random moment. */
const RESTORES = Number(process.env.RESTORES ?? 50)
/** Seconds of load before the first of these moments, and between two base backups. */
const LEAD_SECONDS = 75
const BASE_EVERY_SECONDS = 60
/** Seconds of load. */
const LOAD_SECONDS = Number(process.env.LOAD_SECONDS ?? 600)
/** Milliseconds of accepted mail that a lost disk may cost. */
const PROMISED_MS = 60_000

interface Moment {
  readonly at: number
  /** The backup folder as it was then; undefined: restored to the moment from all backups. */
  readonly folder: string | undefined
}

t.test(
  'what was acknowledged a minute before a moment under load is restored, with its event numbers and statistics',
  { timeout: (LOAD_SECONDS + RESTORES * 120 + 120) * 1000 },
  async (t) => {
    const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'restore-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    // That of makeServiceOn, since both work on one database.
    const SECRET_KEY = 'a secret key that only tests may know'
    const env = { DATA_DIR: join(folder, 'data'), BACKUP_DIR: join(folder, 'backups'), SECRET_KEY }
    t.equal((await postrider(env, 'migrate')).code, 0)
    const server = await startEmbeddedPostgres({ dataDir: env.DATA_DIR, backups: { folder: env.BACKUP_DIR } })
    t.teardown(() => server.stop())
    const sink = await startSink(t)
    const service = await serviceOn(t, server.url, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const ledger = new Ledger(service, await service.makeSender())
    const processes = await Promise.all(
      (['api', 'relay', 'delivery'] as const).map((name) => startProcess(t, name, service.env)),
    )
    const load = ledger.load(4)
    /** How many were acknowledged at each time. The ledger has them in order. */
    const acknowledged: { readonly at: number; readonly count: number }[] = []
    const note = setInterval(() => acknowledged.push({ at: Date.now(), count: ledger.acknowledged.size }), 100)
    t.teardown(() => clearInterval(note))

    const began = Date.now()
    await answered(env, 'backup', env.BACKUP_DIR)
    let based = Date.now()
    const moments: Moment[] = []
    const span = LOAD_SECONDS - LEAD_SECONDS
    const times = Array.from({ length: RESTORES }, () => began + (LEAD_SECONDS + Math.random() * span) * 1000).sort()
    for (const [at, time] of times.entries()) {
      while (Date.now() < time) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(time - Date.now(), 1000)))
        if (Date.now() - based < BASE_EVERY_SECONDS * 1000) continue
        await answered(env, 'backup', env.BACKUP_DIR)
        based = Date.now()
      }
      // The files of the folder never change, so links to them are a copy, as of a disk that is then lost.
      const copy = at % 2 === 0 ? join(folder, `lost-${at}`) : undefined
      const now = Date.now()
      if (copy) execFileSync('cp', ['-al', env.BACKUP_DIR, copy])
      moments.push({ at: now, folder: copy })
    }
    await load.stop()
    for (const process of processes) t.equal(await process.stop(), 0)
    const all = [...ledger.acknowledged]
    await service.sql`select pg_switch_wal()`
    await until('the archive', async () => {
      const [row] = await service.sql`select pg_walfile_name(pg_current_wal_lsn()) > last_archived_wal as later,
        last_archived_time > now() - interval '20 seconds' as recent from pg_stat_archiver`
      return row?.recent === true
    })

    const behind: number[] = []
    for (const [no, moment] of moments.entries()) {
      const into = join(folder, `restored-${no}`)
      const from = moment.folder ?? env.BACKUP_DIR
      const toTime = moment.folder ? [] : ['--to-time', new Date(moment.at).toISOString()]
      const { restoredTo } = await answered<{ restoredTo: string }>(env, 'restore', from, '--into', into, ...toTime)
      behind.push(moment.at - Date.parse(restoredTo))
      const due = acknowledged.filter(({ at }) => at <= moment.at - (moment.folder ? PROMISED_MS : 1000)).at(-1)
      await check(t, into, all.slice(0, due?.count ?? 0), `restore ${no + 1} of ${moments.length}`)
      rmSync(into, { recursive: true, force: true })
    }
    const lost = behind.filter((_ms, at) => moments[at]?.folder).map((ms) => Math.round(ms / 1000))
    t.comment(`figures: ${all.length} acknowledged, ${moments.length} restores; a lost disk cost ${lost.join(', ')} s`)
  },
)

/** Checks a restored DATA_DIR. */
async function check(t: Test, dataDir: string, expected: readonly string[], what: string): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir })
  try {
    const sql = openDatabase({ url: server.url, name: 'test', connections: 2 })
    const rows = await sql<{ recipient: string }[]>`
      select recipient from deliveries union all select recipient from delivery_queue`
    const found = new Set(rows.map(({ recipient }) => recipient))
    t.strictSame(
      expected.filter((recipient) => !found.has(recipient)),
      [],
      `${what}: all ${expected.length} are there`,
    )
    await sql`set statement_timeout = 0`
    await sql.end()
    const service = await serviceOn(t, server.url)
    await countAll(service)
    const [kept, counted] = [await keptCounts(service), await independentCounts(service)]
    t.strictSame(sorted(kept), sorted(counted), `${what}: statistics equal a recount`)
    const patient = openDatabase({ url: `${server.url}?statement_timeout=0`, name: 'test', connections: 1 })
    t.strictSame((await verifyData(patient)).problems, [], `${what}: pages, indexes and event numbers are whole`)
    await patient.end()
    service.core.readiness.close()
    await service.sql.end({ timeout: 1 })
  } finally {
    await server.stop()
  }
}

const sorted = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort()

function serviceOn(t: Test, url: string, settings: Record<string, string> = {}): Promise<TestService> {
  const sql = openDatabase({ url, name: 'test', connections: 3 })
  return makeServiceOn(t, { url, sql, drop: () => sql.end({ timeout: 1 }) }, settings)
}
