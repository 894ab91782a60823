// The processes run from a bundle only if it is of the sources as they are, and from the sources they take 4 % more processor time.
import '../../packages/launch/src/build.ts'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { type Core, createCore, createLog, migrate, openDatabase, readConfig, type Sql } from '@postrider/core'
import { COMPILE_CACHE } from '@postrider/launch'
import { clusterOf } from '../../packages/cli/src/embedded-postgres/cluster.ts'
import { postmasterOf } from '../../packages/cli/src/embedded-postgres/postmaster.ts'
import { MEMORY } from '../../packages/cli/src/memory.ts'
import { expectCount } from './expect-count.ts'
import { freePort, type Running, start, until } from './processes.ts'
import type { Roots } from './processor.ts'

export type Part = 'api' | 'relay' | 'delivery' | 'returns'

const FILES: Readonly<Record<Part, string>> = {
  api: 'packages/api/src/server.ts',
  relay: 'packages/relay/src/server.ts',
  delivery: 'packages/delivery/src/worker.ts',
  returns: 'packages/relay/src/returns-server.ts',
}

/** What is emptied between rounds, so that every round begins with the same tables. */
const TABLES = [
  'messages',
  'bodies',
  'delivery_queue',
  'finished_deliveries',
  'attempts',
  'events',
  'event_pages',
  'idempotency_keys',
  'returns',
]

/** The service on an embedded Postgres with fsync on, each part a process of its own as in production. */
export interface Service {
  readonly sql: Sql
  readonly core: Core
  readonly databaseUrl: string
  readonly apiUrl: string
  readonly relayPort: number
  readonly relayTlsPort: number
  readonly returnsPort: number
  readonly accountId: number
  readonly apiKey: string
  readonly domain: string
  /** Starts processes of a part; `sinkPort` is where mail goes. */
  start(
    part: Part,
    options?: { sinkPort?: number; count?: number; settings?: Readonly<Record<string, string>> },
  ): Promise<void>
  stop(part: Part): Promise<void>
  /** Another account with its own domain. */
  makeSender(name: string): Promise<Sender>
  accepted(): Promise<number>
  /** Deliveries done. */
  delivered(): Promise<number>
  /**
   * Waits until the queue is empty, and empties the tables. Throws an Error unless `messages` were delivered, each to its one
   * recipient and at the first attempt: then as many arrivals at the sink are each of them once.
   */
  drained(messages?: number): Promise<void>
  empty(): Promise<void>
  /** Back to nothing running and empty tables, after a case that failed. */
  reset(): Promise<void>
  /** Its processes, the database's among them. */
  roots(): Roots
  /** The same by part. */
  parts(): Readonly<Record<string, Roots>>
  /** The most memory any process of the part ever had, in KiB. */
  peakKib(part: Part): number
  close(): Promise<void>
}

export interface Sender {
  readonly accountId: number
  readonly apiKey: string
  readonly domain: string
}

export interface ServiceOptions {
  /** More settings of the embedded Postgres, `name=value`. */
  readonly postgres?: readonly string[]
  /** More flags of every Node process. */
  readonly flags?: readonly string[]
}

/**
 * A database that has run for a while writes to recycled WAL segments; a new one fills each with zeros first, and so writes twice as much:
 * messages of 100 kB were accepted at 850 to 910 per second, instead of 1,090 to 1,140. It keeps as many segments as it has filled between two checkpoints,
 * with `max_wal_size=4GB` those of 2 GB.
 */
async function recycleWal(sql: Sql): Promise<void> {
  await sql`select pg_logical_emit_message(false, 'bench', repeat('-', 1000000)) from generate_series(1, 2000)`
  await sql`checkpoint`
}

export async function openService({ postgres: settings = [], flags = [] }: ServiceOptions = {}): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-'))
  const postgres = await startEmbeddedPostgres({ dataDir: folder, settings })
  const sql = openDatabase({ url: postgres.url, name: 'bench', connections: 4 })
  await migrate(sql)
  await recycleWal(sql)
  const env = {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    API_PORT: String(await freePort()),
    RELAY_PORT: String(await freePort()),
    RELAY_TLS_PORT: String(await freePort()),
    RETURNS_PORT: String(await freePort()),
    SECRET_KEY: 'a secret key that only benchmarks know',
    HELO_NAME: 'bench.test',
    LOG_LEVEL: 'warn',
  }
  const config = readConfig(env)
  const givenKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  // One key for all domains: to generate one takes a fifth of a second, and a case has 2,000 of them.
  const core = createCore({ sql, config, log: createLog('bench', 'silent'), givenKey: () => givenKey })
  const makeSender = async (name: string): Promise<Sender> => {
    const account = await core.accounts.create(name)
    // The figures are of mail that nothing is added to.
    await sql`update accounts set open_tracking = false, click_tracking = false, generate_text = false where id = ${account.id}`
    const { secret } = await core.auth.createKey({ accountId: account.id })
    await core.domains.add({ accountId: account.id, name: `${name}.example`, state: 'active' })
    return { accountId: account.id, apiKey: secret, domain: `${name}.example` }
  }
  const sender = await makeSender('sender')
  const processes = new Map<Part, Running[]>()
  const peaks = new Map<Part, number>()
  const notePeaks = (part: Part): void => {
    for (const process of processes.get(part) ?? []) {
      peaks.set(part, Math.max(peaks.get(part) ?? 0, process.peakKib()))
    }
  }
  const stop = async (part: Part): Promise<void> => {
    notePeaks(part)
    await Promise.all((processes.get(part) ?? []).map((process) => process.stop()))
    processes.delete(part)
  }
  const accepted = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from messages`
    return row?.count ?? 0
  }
  const empty = async (): Promise<void> => {
    // The sequencer or a claim may hold one table and want another, which a deadlock ends; the next try comes through.
    for (let tries = 5; ; tries--) {
      // The numbers of events begin again, and webhooks with them.
      const statements = `truncate ${TABLES.join(', ')}; update webhooks set position = 0`
      const failed = await sql.unsafe(statements).catch((error: unknown) => error)
      if ((failed as { code?: string }).code !== '40P01') {
        if (failed instanceof Error) throw failed
        return
      }
      if (tries === 0) throw failed
    }
  }
  const parts = (): Record<string, number[]> => {
    const database = postmasterOf(clusterOf(folder))?.pid
    const own = [...processes].map(([part, running]) => [part, running.map(({ pid }) => pid)])
    return { ...(database !== undefined && { database: [database] }), ...Object.fromEntries(own) }
  }
  return {
    sql,
    core,
    databaseUrl: postgres.url,
    apiUrl: `http://127.0.0.1:${config.apiPort}`,
    relayPort: config.relayPort,
    relayTlsPort: config.relayTlsPort,
    returnsPort: config.returnsPort,
    ...sender,
    async start(part, { sinkPort, count = 1, settings = {} } = {}) {
      await stop(part)
      const trusted = { RELAY_TRUSTED_NETWORKS: '127.0.0.1', RELAY_TRUSTED_KEY: sender.apiKey }
      // The calls of a case all have the same recipients, who would be held.
      const rules = { REPUTATION_RULES: 'none' }
      const route = sinkPort ? { DELIVERY: `smtp://127.0.0.1:${sinkPort}` } : {}
      const command = {
        env: {
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          ...MEMORY.env,
          ...env,
          ...trusted,
          ...rules,
          ...route,
          ...settings,
          LOG_LEVEL: 'info',
        },
        ready: /"msg":"started"/,
      }
      const started = Array.from({ length: count }, () =>
        start(process.execPath, [...MEMORY.flags, ...flags, FILES[part]], command),
      )
      processes.set(part, await Promise.all(started))
    },
    stop,
    makeSender,
    accepted,
    empty,
    async delivered() {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from finished_deliveries`
      return row?.count ?? 0
    },
    async drained(messages) {
      await until('the queue to be empty', async () => {
        // Parked mail, and mail in flight, is due when its lifetime ends.
        const [row] = await sql`
          select 1 from delivery_queue
           where place is not null or worker_id is not null or next_at < now() + interval '1 hour' limit 1`
        return row === undefined
      })
      const [row] = await sql<{ finished: number; attempts: number }[]>`
        select (select count(*)::int from finished_deliveries where state = 'delivered') as finished,
               (select count(*)::int from attempts) as attempts`
      if (messages !== undefined) {
        expectCount('messages accepted', await accepted(), messages)
        expectCount('deliveries', row?.finished ?? 0, messages)
        expectCount('attempts', row?.attempts ?? 0, messages)
      }
      await empty()
    },
    async reset() {
      for (const part of [...processes.keys()]) await stop(part)
      await empty()
    },
    roots: () => Object.values(parts()).flat(),
    parts,
    peakKib(part) {
      notePeaks(part)
      return peaks.get(part) ?? 0
    },
    async close() {
      for (const part of [...processes.keys()]) await stop(part)
      core.readiness.close()
      await sql.end({ timeout: 5 })
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
