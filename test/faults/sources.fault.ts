import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capOf } from '@postrider/core'
import t from 'tap'
import { startInternetProcess } from '../delivery/outbox.ts'
import { keep } from '../helpers/keeper.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'

/** Deliveries over four sources; 100,000 take some ten minutes on two cores. */
const SHARED = Number(process.env.SOURCES_DELIVERIES ?? 20_000)
const DAYS = 40
/** The hours of a day in which mail is sent: an eighth of a day's messages may be sent per hour, so that all of them are in nine. */
const hoursOf = (day: number): number => (day < 4 ? 9 : 5)
const PER_CALL = 500
const FILE = join(t.testdir(), 'providers.yaml')
writeFileSync(FILE, 'providers:\n  - { name: harbour, mx: [.harbour.example], connections: 20 }\n')

t.setTimeout(3_000_000)

async function start() {
  const internet = await startInternetProcess(t, {
    PROVIDERS_FILE: FILE,
    SITE_CONNECTIONS: '20',
    WRONG_KEYS_PER_MINUTE: '1000',
    // Ids have the database's own time, which stands still for forty days: its week's partition must not be dropped.
    BODY_DAYS: '90',
  })
  const { service, sender } = internet
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const counts = new Map<string, number>()
  const destinations = new Map<string, string>()
  const host = await internet.host(
    t,
    {
      dot: ({ message }) => {
        counts.set(message.client, (counts.get(message.client) ?? 0) + 1)
        destinations.set(message.to[0] ?? '', message.client)
        return '250 2.0.0 taken'
      },
      keep: () => false,
    },
    'harbour.example',
  )
  const domain = internet.domain([host])
  let sent = 0
  return {
    internet,
    sources: service.core.sources,
    counts,
    places: destinations,
    async send(count: number): Promise<void> {
      for (let left = count; left > 0; left -= PER_CALL) {
        const personalizations = Array.from({ length: Math.min(left, PER_CALL) }, () => ({
          recipient: `r${sent++}@${domain}`,
        }))
        const { status } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
        if (status !== 200) throw new Error(`not accepted: ${status}`)
      }
    },
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    untilKnown: () =>
      until('the worker to have the sources', async () =>
        (await service.core.sources.read()).sources.every(({ workers }) => workers > 0),
      ),
  }
}

t.test(
  'four sources send by their weights within two percent, and one that is paused moves only its share',
  { timeout: 1_200_000 },
  async (t) => {
    const { internet, sources, counts, places, send, total, untilKnown } = await start()
    await keep(t, 'delivery', internet.service.env)
    const weights = [10, 20, 30, 40]
    for (const [at, weight] of weights.entries()) {
      await sources.add({ name: `mta-${at}`, address: `127.0.0.${at + 2}`, helo: `mta-${at}.example.com`, weight })
    }
    await untilKnown()
    await send(SHARED)
    await until('all of it', () => total() === SHARED, 900_000)
    for (const [at, weight] of weights.entries()) {
      const share = (counts.get(`127.0.0.${at + 2}`) ?? 0) / SHARED
      t.comment(`figures: weight ${weight}: ${(100 * share).toFixed(2)} %`)
      t.ok(Math.abs(share - weight / 100) < 0.02 * (SHARED < 50_000 ? 2 : 1), `weight ${weight}`)
    }
    t.equal(places.size, SHARED, 'each once')
    await sources.change('mta-3', { pause: 'a test' })
    await new Promise((resolve) => setTimeout(resolve, 500))
    counts.clear()
    await send(SHARED / 10)
    await until('the rest', () => total() === SHARED / 10, 300_000)
    t.notOk(counts.get('127.0.0.5'), 'nothing from the paused one')
  },
)

t.test(
  'over forty days a new source never sends more than its plan allows, and the rest waits',
  { timeout: 1_500_000 },
  async (t) => {
    const { internet, sources, counts, send, untilKnown } = await start()
    const { service } = internet
    await sources.add({ name: 'old', address: '127.0.0.6', helo: 'old.example.com', weight: 1 })
    await sources.add({ name: 'new', address: '127.0.0.7', helo: 'new.example.com', weight: 100, warmUpPlan: 'gentle' })
    await untilKnown()
    const [row] = await service.sql<{ left: number }[]>`
    select (extract(epoch from date_trunc('day', now() at time zone 'UTC') + interval '1 day' - now() at time zone 'UTC') / 60)::int + 1 as left`
    await internet.advance(row?.left ?? 0)
    const ofNew = () => counts.get('127.0.0.7') ?? 0
    const warmUp = async () =>
      (await sources.read()).sources
        .find(({ name }) => name === 'new')
        ?.warmUps.find(({ provider }) => provider === 'harbour')
    const days: string[] = []
    for (let day = 0; day < DAYS; day++) {
      const before = ofNew()
      const cap = capOf('gentle', (await warmUp())?.day ?? 0) ?? Number.POSITIVE_INFINITY
      for (let hour = 0; hour < hoursOf(day); hour++) {
        await send(40)
        await until(
          'all of it',
          async () => (await service.sql`select 1 from delivery_queue limit 1`).length === 0,
          60_000,
        )
        await internet.advance(60)
        // A process asks for an allowance that was used up again after two seconds.
        await new Promise((resolve) => setTimeout(resolve, 2000))
        await service.sql`select pg_notify('postrider_limits', '')`
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
      const sent = ofNew() - before
      days.push(`${sent}/${cap}`)
      t.ok(sent <= cap, `day ${day + 1}: ${sent} of ${cap}`)
      await internet.advance((24 - hoursOf(day)) * 60)
      await until('the next day', async () => {
        await service.core.sources.advanceWarmUps()
        return true
      })
      await service.sql`select pg_notify('postrider_limits', '')`
      await new Promise((resolve) => setTimeout(resolve, 600))
    }
    t.comment(`figures: sent of the cap, by day: ${days.join(' ')}`)
    t.ok(((await warmUp())?.day ?? 0) >= 3, 'it advances as long as half of the cap is used')
  },
)
