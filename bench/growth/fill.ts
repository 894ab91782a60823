import { createCore, createLog, migrate, openDatabase, readConfig, type Sql } from '@postrider/core'
import { fillCounts, fillKept } from './counts.ts'
import { withoutIndexes } from './indexes.ts'
import { fillMail, type Time } from './mail.ts'
import { numberAll } from './numbers.ts'
import { fillOwners, type Owners } from './owners.ts'
import { fillRollUps, fillSuppressions } from './roll-ups.ts'
import type { Scale } from './scale.ts'

/** For the fill only; the folder is measured with the settings of `npm start`. */
export const FILL_SETTINGS = [
  'shared_buffers=1GB',
  'max_wal_size=8GB',
  'wal_level=minimal',
  'max_wal_senders=0',
  'synchronous_commit=off',
  'full_page_writes=off',
  'maintenance_work_mem=1GB',
  'autovacuum=off',
]
export const SECRET_KEY = 'a secret key that only benchmarks know'

/** At a time: as many as a laptop has cores to spare. */
const SESSIONS = 2
const CHUNK = 350_000
const LARGE_TABLES = [
  'events',
  'messages',
  'attempts',
  'finished_deliveries',
  'bodies',
  'engagements',
  'delivery_queue',
  'roll_ups',
  'suppressions',
]

/** What is noted of a filled database. */
export interface Filled extends Owners {
  readonly scale: number
  readonly filledAt: string
  /** When its person of ten thousand messages was asked to be forgotten. */
  readonly forgottenAt?: string
}

/** Makes the schema and fills it. Says how far it is. */
export async function fill(url: string, counts: Scale, report: (line: string) => void): Promise<Owners> {
  const sql = openDatabase({ url, name: 'fill', connections: 4 })
  const sessions = Array.from({ length: SESSIONS }, () => openDatabase({ url, name: 'fill', connections: 1 }))
  const config = readConfig({ DATABASE_URL: url, SECRET_KEY, DATA_DIR: '/tmp', LOG_LEVEL: 'silent' })
  const core = createCore({ sql, config, log: createLog('fill', 'silent') })
  try {
    await migrate(sql)
    const time = await prepare(sql, sessions, counts)
    const owners = await fillOwners(sql, core, counts)
    // Of added domains: the last that happened, in the first transactions. A page of numbers with one of these would span all weeks.
    await sql`delete from events`
    report('accounts, domains, templates')
    await withoutIndexes(sessions, LARGE_TABLES, async () => {
      await fillAllMail(sessions, { scale: counts, owners, time }, report)
      await Promise.all([
        numberAll(sessions[0] as Sql).then(() => report('numbers')),
        fillRollUps(sessions[1] as Sql, counts, owners).then(() => report('roll-ups and tags')),
      ])
      await fillSuppressions(sessions[0] as Sql, counts, owners)
      report('suppressions; now the indexes')
    })
    report('indexes')
    await sql`analyze roll_ups`
    while (await core.stats.sumSome()) {}
    report('sums of rollups')
    if (counts.lists) {
      await fillCounts(sessions[0] as Sql, counts, owners)
      await fillKept(sessions[0] as Sql, owners)
      report('counts of hours, returns')
    }
    await vacuum(sessions)
    return owners
  } finally {
    core.readiness.close()
    await Promise.all([sql, ...sessions].map((one) => one.end({ timeout: 5 })))
  }
}

async function prepare(sql: Sql, sessions: readonly Sql[], { days }: Scale): Promise<Time> {
  for (const session of sessions)
    await session`select set_config(name, value, false) from unnest(array['statement_timeout', 'work_mem', 'plan_cache_mode', 'synchronous_commit'],
      array['0', '384MB', 'auto', 'off']) as s(name, value)`
  const end = new Date()
  const begin = new Date(end.getTime() - days * 86_400_000)
  await sql`select ensure_partitions(${begin}, ${Math.ceil(days / 7) + 6})`
  return { begin, end }
}

async function fillAllMail(
  sessions: readonly Sql[],
  of: Parameters<typeof fillMail>[2],
  report: (line: string) => void,
): Promise<void> {
  const all = of.scale.sent + of.scale.waiting
  let next = 0
  await Promise.all(
    sessions.map(async (session) => {
      while (next < all) {
        const first = next
        next = Math.min(first + CHUNK, all)
        const last = next
        await fillMail(session, { first, last }, of)
        report(`messages up to ${last}`)
      }
    }),
  )
}

/** As autovacuum leaves them: the parents of partitions have no statistics, since it never looks at those. */
async function vacuum(sessions: readonly Sql[]): Promise<void> {
  const sql = sessions[0] as Sql
  // They may have been replaced meanwhile.
  for (const session of sessions) await session`select set_config('statement_timeout', '0', false)`
  const tables = await sql<{ name: string }[]>`
    select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0
     order by relpages desc`
  const left = tables.map(({ name }) => name)
  await Promise.all(
    sessions.map(async (session) => {
      for (let table = left.shift(); table; table = left.shift()) await session.unsafe(`vacuum (analyze) ${table}`)
    }),
  )
}
