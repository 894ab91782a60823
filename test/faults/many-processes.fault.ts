import { mkdtempSync, rmSync } from 'node:fs'
import { BoundSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectionsOf, migrate, openDatabase, type Sql } from '@postrider/core'
import t from 'tap'
import { startEmbeddedPostgres } from '../../packages/cli/src/start-postgres.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { type ProcessName, type ServiceProcess, type Sockets, startProcess } from '../helpers/processes.ts'
import { makeServiceOn } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** Processes of each kind, API, relay and delivery, in the steps of the run. */
const COUNTS = (process.env.COUNTS ?? '1,2,4,8,20').split(',').map(Number)
/** Seconds of load with each number of processes, and with the last one. */
const SECONDS = Number(process.env.SECONDS ?? 30)
const LAST_SECONDS = Number(process.env.LAST_SECONDS ?? 600)
const IDLE_SECONDS = 20
/** Senders that wait 5 ms after each message: the same load for each number of processes. */
const LANES = 4
const KINDS = ['api', 'relay', 'delivery'] as const

t.test(
  'many processes share one Postgres: they cost little while idle, lose nothing, and number all events in time',
  { timeout: (COUNTS.length * (SECONDS + IDLE_SECONDS + 60) + LAST_SECONDS + 120) * 1000 },
  async (t) => {
    const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'many-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const most = Math.max(...COUNTS)
    const expected = (count: number) => count * KINDS.reduce((sum, kind) => sum + connectionsOf(kind), 0)
    const server = await startEmbeddedPostgres({
      dataDir: folder,
      settings: [`max_connections=${expected(most) + 50}`, 'shared_preload_libraries=pg_stat_statements'],
    })
    t.teardown(() => server.stop())
    const sql = openDatabase({ url: server.url, name: 'test', connections: 3 })
    await migrate(sql)
    await sql`create extension pg_stat_statements`
    const sink = await startSink(t)
    const database = { url: server.url, sql, drop: () => sql.end({ timeout: 1 }) }
    const service = await makeServiceOn(t, database, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const ledger = new Ledger(service, await service.makeSender())
    const bind = (port: number): BoundSocket => {
      const socket = new BoundSocket({ host: '127.0.0.1', port })
      t.teardown(() => socket.close())
      return socket
    }
    const { apiPort, relayPort, relayTlsPort } = service.config
    const sockets: Partial<Record<ProcessName, Sockets>> = {
      api: { api: bind(apiPort) },
      relay: { relay: bind(relayPort), 'relay-tls': bind(relayTlsPort) },
    }
    const lag = async () => Number((await service.core.serviceFigures()).events_lag_seconds)
    const running: ServiceProcess[] = []
    for (const [at, count] of COUNTS.entries()) {
      while (running.length < count * KINDS.length)
        for (const kind of KINDS) running.push(await startProcess(t, kind, service.env, sockets[kind]))
      await pause(10)
      const idle = await measure(sql, () => pause(IDLE_SECONDS))
      const acknowledged = ledger.acknowledged.size
      const [latest, seconds] = [{ unnumbered: 0 }, at === COUNTS.length - 1 ? LAST_SECONDS : SECONDS]
      const load = ledger.load(LANES)
      const busy = await measure(sql, async () => {
        for (let second = 0; second < seconds; second++) {
          await pause(1)
          latest.unnumbered = Math.max(latest.unnumbered, await lag())
        }
      })
      const connections = await connectionsBy(sql)
      await load.stop()
      const sent = ledger.acknowledged.size - acknowledged
      t.comment(`figures: ${count} of each kind, ${JSON.stringify(connections)}`)
      t.comment(`figures:   idle: ${shown(idle, IDLE_SECONDS)} a second`)
      t.comment(
        `figures:   ${Math.round(sent / seconds)} messages/s: ${shown(busy, sent)} a message; ${busy.top.join('; ')}`,
      )
      t.comment(`figures:   the oldest event without a number: ${latest.unnumbered.toFixed(2)} s`)
      t.ok(Object.values(connections).reduce((sum, one) => sum + one, 0) <= expected(count), 'connections as computed')
      t.ok(latest.unnumbered < 5, 'events are numbered within five seconds')
    }
    await until('an empty queue', async () => (await sql`select 1 from delivery_queue limit 1`).length === 0, 60_000)
    const evaluated = await ledger.evaluate(sink)
    t.comment(`figures: ${figures(evaluated)}`)
    t.strictSame(evaluated.lost, [])
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unexpected, [])
    t.strictSame(evaluated.duplicated, [])
    t.strictSame(
      ledger.answers.filter(({ code }) => code < 200 || code >= 300).map(({ door, code }) => `${door} ${code}`),
      [],
    )
    const warnings = running.flatMap(({ log, name }) =>
      log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => `${name}: ${msg}`),
    )
    t.strictSame(warnings, [], 'no process had trouble: none lost its lease or its database')
  },
)

interface Work {
  readonly calls: number
  /** Milliseconds that the statements ran. */
  readonly ms: number
  readonly top: readonly string[]
}

async function measure(sql: Sql, act: () => Promise<unknown>): Promise<Work> {
  await sql`select pg_stat_statements_reset()`
  await act()
  const rows = await sql<{ calls: number; ms: number; query: string }[]>`
    select calls::int, total_exec_time as ms, left(regexp_replace(query, '\\s+', ' ', 'g'), 40) as query
      from pg_stat_statements order by total_exec_time desc`
  const sum = (of: (row: { calls: number; ms: number }) => number) => rows.reduce((all, row) => all + of(row), 0)
  return {
    calls: sum(({ calls }) => calls),
    ms: sum(({ ms }) => ms),
    top: rows.slice(0, 5).map(({ calls, ms, query }) => `${query} ${calls} × ${((ms / calls) * 1000).toFixed(0)} µs`),
  }
}

function shown({ calls, ms }: Work, by: number): string {
  return `${(calls / by).toFixed(1)} statements, ${(ms / by).toFixed(2)} ms in them`
}

async function connectionsBy(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ program: string; count: number }[]>`
    select split_part(application_name, ' ', 2) as program, count(*)::int as count from pg_stat_activity
     where application_name like 'postrider %' and application_name not like 'postrider test %' group by 1 order by 1`
  return Object.fromEntries(rows.map(({ program, count }) => [program, count]))
}

async function pause(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}
