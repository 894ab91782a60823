import t from 'tap'
import { startInternetProcess } from '../delivery/outbox.ts'
import { keep } from '../helpers/keeper.ts'
import { isInTime } from '../helpers/pace.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'

/** Longer with `npm run test:faults`. */
const SECONDS = Number(process.env.FAULT_SECONDS ?? 5)
const WORKERS = process.env.FAULT_SECONDS ? 4 : 2
const LIMIT = 5
/** Per call of the API, and per second that the host takes them at. */
const AT_ONCE = 100
const PER_SECOND = 150

t.test(
  'workers that are killed at random never have more connections to a site than its limit, all together',
  { timeout: (2 * SECONDS + 450) * 1000 },
  async (t) => {
    const internet = await startInternetProcess(t, { SITE_CONNECTIONS: String(LIMIT) })
    const { service, sender } = internet
    let most = 0
    const mails = new Map<number, number>()
    const host = await internet.host(t, {
      greeting: () => {
        most = Math.max(most, host.open)
        return undefined
      },
      // Some sessions end between two messages, so that connections change hands.
      mail: ({ session }) => {
        const number = (mails.get(session) ?? 0) + 1
        mails.set(session, number)
        return session % 3 === 0 && number === 10 ? '421 4.3.2 closing' : undefined
      },
      dot: () => new Promise((resolve) => setTimeout(resolve, (1000 * LIMIT) / PER_SECOND, undefined)),
    })
    const domain = internet.domain([host])
    const kept = await Promise.all(Array.from({ length: WORKERS - 1 }, () => keep(t, 'delivery', service.env)))
    const base = `http://127.0.0.1:${service.config.apiPort}`
    const calls = Math.ceil((SECONDS * PER_SECOND) / AT_ONCE / 2)
    for (let call = 0; call < calls; call++) {
      const personalizations = Array.from({ length: AT_ONCE }, (_, at) => ({ recipient: `r${call}-${at}@${domain}` }))
      const { status } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
      t.equal(status, 200)
    }
    const end = Date.now() + SECONDS * 1000
    let kills = 0
    while (Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 800 + Math.random() * 1500))
      kept[Math.floor(Math.random() * kept.length)]?.kill()
      kills++
    }
    const killedAt = performance.now()
    const inUse = async (): Promise<number> => {
      const [row] = await service.sql`
        select count(*)::int from connection_slots s where not exists (select from workers w where w.id = s.worker_id)
            or exists (select from workers w where w.id = s.worker_id and not exists (
                 select from pg_locks l where l.locktype = 'advisory' and l.classid = 7741 and l.objid = w.id::oid
                    and l.database = (select oid from pg_database where datname = current_database())))`
      return row?.count as number
    }
    await until('the slots of killed workers to be free', async () => (await inUse()) === 0 || undefined, 15_000)
    const freedAfter = performance.now() - killedAt
    t.ok(isInTime(killedAt, 10_000), `${Math.round(freedAfter)} ms`)
    // After an indeterminate attempt, or after several deaths of its workers, a delivery waits for minutes.
    const waiting = async () =>
      (
        await service.sql`
          select 1 from delivery_queue where place is not null or worker_id is not null or next_at <= service_now() limit 1`
      ).length
    const patience = (60 + SECONDS) * 1000
    await until(
      'all mail that may be tried to be delivered',
      async () => (await waiting()) === 0 || undefined,
      patience,
    )
    t.comment(
      `figures: ${calls * AT_ONCE} deliveries, ${kills} kills, ${host.sessions} sessions, at most ${most} at once`,
    )
    t.equal(most, LIMIT, 'as many at once as the limit allows, and never more')
    t.ok(host.sessions > LIMIT, 'connections changed hands')
  },
)
