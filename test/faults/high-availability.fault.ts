import { migrate, openDatabase } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../helpers/database.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeServiceOn } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { type Cluster, missingForCluster, type Node, serverUrl, startCluster } from './database-cluster.ts'

/** How often each fault is caused. */
const KILLS = Number(process.env.KILLS ?? 20)
const HANGS = Number(process.env.HANGS ?? 10)
const SWITCHOVERS = Number(process.env.SWITCHOVERS ?? 20)
/** Milliseconds that the service may need after the new primary has a synchronous standby. */
const PATIENCE_MS = 2000
/** Milliseconds in which Patroni promotes a standby and finds another one for it: its lease of 30 s, and some of its rounds of 10 s. */
const PROMOTED_WITHIN_MS = 80_000

t.test(
  'kills, hangs and switchovers of the primary under load lose no acknowledged message, and no process has to be restarted',
  { timeout: (KILLS + HANGS + SWITCHOVERS) * 120_000 + 300_000, skip: missingForCluster() ?? false },
  async (t) => {
    const cluster = await startCluster(t)
    const sql = openDatabase({ url: cluster.url, name: 'test', connections: 3 })
    await migrate(sql)
    const sink = await startSink(t)
    const database = { url: cluster.url, sql, drop: () => sql.end({ timeout: 1 }) }
    const settings = { DELIVERY: `smtp://127.0.0.1:${sink.port}`, REQUIRE_SYNC_STANDBY: '1' }
    const service = await makeServiceOn(t, database, settings)
    const ledger = new Ledger(service, await service.makeSender())
    const processes = await Promise.all(
      (['api', 'api', 'relay', 'delivery', 'delivery'] as const)
        .filter((name, at) => at !== 1 || name !== 'api')
        .map((name) => startProcess(t, name, service.env)),
    )
    const load = ledger.load(12)
    const waits: number[] = []

    /** Causes a fault of the primary, and measures from the first write that the new primary takes to the first message that is accepted. */
    async function fault(
      what: string,
      act: (primary: Node) => Promise<void> | void,
      mend: (old: Node) => void,
    ): Promise<void> {
      const old = await cluster.whole()
      const before = ledger.acknowledged.size
      await until('mail to be accepted', () => ledger.acknowledged.size > before + 50, 30_000)
      const began = performance.now()
      await act(old)
      const { at } = await writable(cluster, old)
      await until(
        'mail to be accepted',
        () =>
          ledger.answers.some(
            (one) => isAccepted(one.code) && one.at - one.milliseconds > at - PATIENCE_MS && one.at > at,
          ),
        60_000,
      )
      const accepted = ledger.answers.find((one) => isAccepted(one.code) && one.at > at)?.at ?? Number.POSITIVE_INFINITY
      waits.push(accepted - at)
      t.comment(
        `${what} of ${old.name}: a new primary after ${Math.round(at - began)} ms, mail after ${Math.round(accepted - at)} ms more`,
      )
      mend(old)
    }

    for (let no = 0; no < SWITCHOVERS; no++)
      await fault(
        'switchover',
        (old) => cluster.switchOver(old),
        () => {},
      )
    for (let no = 0; no < KILLS; no++)
      await fault(
        'kill',
        (old) => old.kill(),
        (old) => old.start(),
      )
    for (let no = 0; no < HANGS; no++)
      await fault(
        'hang',
        (old) => old.freeze(),
        (old) => old.thaw(),
      )
    await cluster.whole()
    await load.stop()

    // Deliveries that were being sent are taken over once their worker's lease is lost or confirmed.
    await until(
      'no delivery in hand',
      async () => (await sql`select 1 from delivery_queue where state = 'sending' limit 1`).length === 0,
      60_000,
    )
    // A delivery that met several faults is due hours later.
    let hours = 0
    await until(
      'an empty queue',
      async () => {
        if ((await sql`select 1 from delivery_queue limit 1`).length === 0) return true
        await moveClock(sql, `${++hours} hours`)
        await new Promise((resolve) => setTimeout(resolve, 3000))
        return false
      },
      600_000,
    ).catch(async (error: Error) => {
      const left = await sql`
        select state, waiting_for, place, attempt, set_aside is not null as aside, count(*)::int as count, min(next_at) - service_now() as due
          from delivery_queue group by 1, 2, 3, 4, 5 order by 6 desc limit 10`
      const fatal = processes.flatMap(({ name, log }) =>
        log.filter(({ level }) => level === 60).map(({ msg }) => `${name}: ${msg}`),
      )
      throw new Error(`${error.message}: ${JSON.stringify(left)}; ${fatal.join('; ')}`)
    })
    const evaluated = await ledger.evaluate(sink)
    waits.sort((a, b) => a - b)
    t.comment(`figures: ${SWITCHOVERS} switchovers, ${KILLS} kills, ${HANGS} hangs; ${figures(evaluated)}`)
    t.comment(`figures: Patroni of the primary had to be restarted ${cluster.restarts} times`)
    t.comment(`figures: mail after ${waits.map(Math.round).join(', ')} ms of a new primary`)
    t.strictSame(evaluated.lost, [], 'nothing acknowledged is lost')
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unmarked, [], 'each extra copy is marked indeterminate')
    t.strictSame(evaluated.unexpected, [])
    t.ok((waits.at(-1) ?? 0) <= PATIENCE_MS, 'mail is accepted two seconds after a new primary at the latest')
    for (const process of processes)
      t.equal(await process.stop(), 0, `${process.name} lived through it and stops cleanly`)
  },
)

const isAccepted = (code: number) => code === 200 || code === 250

/** Waits until another node than `old` is a primary with a synchronous standby, by asking the servers themselves. */
async function writable({ nodes, recorded }: Cluster, old: Node): Promise<{ at: number }> {
  const others = nodes.filter((node) => node !== old)
  const pools = others.map((node) => openDatabase({ url: serverUrl(node), name: 'test', connections: 1 }))
  try {
    return await recorded(
      'a new primary',
      async () => {
        const answers = await Promise.all(
          pools.map((pool) =>
            pool<{ standby: boolean }[]>`select pg_is_in_recovery() or not exists (
            select from pg_stat_replication where sync_state = 'sync' and state = 'streaming') as standby`.then(
              ([row]) => row?.standby === false,
              () => false,
            ),
          ),
        )
        return answers.includes(true) && { at: performance.now() }
      },
      PROMOTED_WITHIN_MS,
      3 * PROMOTED_WITHIN_MS,
    )
  } finally {
    await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })))
  }
}
