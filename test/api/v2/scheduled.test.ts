import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { freePorts } from '../../helpers/ports.ts'
import { startProcess } from '../../helpers/processes.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeArrivals } from '../arrivals.ts'
import { call, FORM, messageIdOf, refused } from '../call.ts'

const { service, base, sender, sink, send, copies, story } = await makeArrivals(t)
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A whole second, so that every spelling can say it. */
const inSeconds = (milliseconds: number) => Math.floor((Date.now() + milliseconds) / 1000)
const at = inSeconds(HOUR)
const iso = new Date(at * 1000).toISOString()

const SPELLINGS: readonly (readonly [what: string, schedule: unknown])[] = [
  ['Unix seconds', at],
  ['Unix seconds as text', String(at)],
  ['ISO 8601', iso],
  ['ISO 8601 without milliseconds', iso.replace('.000', '')],
  ['a blank between date and time', iso.replace('T', ' ').replace('.000Z', 'Z')],
  ['an offset', `${new Date(at * 1000 + 5.5 * HOUR).toISOString().slice(0, 19)}+05:30`],
  ['an offset without colon', `${new Date(at * 1000 - 8 * HOUR).toISOString().slice(0, 19)}-0800`],
  ['no zone, which is UTC', iso.slice(0, 19)],
  ['no zone and a blank', iso.slice(0, 19).replace('T', ' ')],
]
t.test('a schedule is read in each spelling, whatever the zone of the host', async (t) => {
  const [port] = await freePorts(1)
  await startProcess(t, 'api', { ...service.env, API_PORT: String(port), TZ: 'Asia/Tokyo' })
  for (const url of [base, `http://127.0.0.1:${port}`]) {
    for (const [what, schedule] of SPELLINGS) {
      const answer = await sendV2(url, sender.apiKey, v2Body(sender, { schedule }))
      const { scheduledAt, deliveries } = await story(answer)
      t.equal(scheduledAt?.getTime(), at * 1000, what)
      t.equal(deliveries[0]?.state, 'scheduled', what)
      t.equal(deliveries[0]?.nextAt?.getTime(), at * 1000, what)
    }
  }
})

t.test('a form may schedule too', async (t) => {
  const body = `data=${encodeURIComponent(JSON.stringify(v2Body(sender)))}`
  const fields = `personalizations[0][recipient]=a@harbor.example&from[fromEmail]=desk@${sender.domain}&subject=S&content=C`
  const headers = { api_key: sender.apiKey, ...FORM }
  const id = messageIdOf(await call(base, { headers, body: `${fields}&schedule=${at}` }))
  t.equal((await service.core.messages.show(id))?.scheduledAt?.getTime(), at * 1000)
  t.equal((await service.core.messages.show(messageIdOf(await call(base, { headers, body }))))?.scheduledAt, null)
})

t.test('a date alone is its first moment in UTC', async (t) => {
  const date = new Date(Date.now() + 3 * DAY).toISOString().slice(0, 10)
  t.equal((await story(await send({ schedule: date }))).scheduledAt?.toISOString(), `${date}T00:00:00.000Z`)
})

t.test('a schedule of almost 30 days is accepted; more than 30 days and an invalid time are rejected', async (t) => {
  const far = await send({ schedule: inSeconds(30 * DAY - HOUR) })
  t.equal((await story(far)).deliveries[0]?.state, 'scheduled')
  const before = (await service.sql`select count(*)::int as count from messages`)[0]?.count
  const wrong: unknown[] = [
    inSeconds(30 * DAY + HOUR),
    at * 1000,
    -at,
    1.5,
    1e12,
    'tomorrow',
    '12:00',
    '2026-13-01',
    '2026-01-32',
    '2026-01-05T25:00:00Z',
    '2026-01-05T10:00:00 CET',
    iso.slice(0, 13),
    `${iso} `,
    `${iso}\n`,
    '20260105T101112Z',
    'Mon, 05 Jan 2026 10:11:12 GMT',
    'NaN',
    '1e3',
    '٢٠٢٦-٠١-٠٥',
    true,
    {},
  ]
  for (const schedule of wrong) {
    const answer = await call(base, { headers: { api_key: sender.apiKey }, body: v2Body(sender, { schedule }) })
    refused(t, answer, [400, 113, /^Parameter \[schedule\] is invalid: /], String(schedule))
  }
  t.equal((await service.sql`select count(*)::int as count from messages`)[0]?.count, before)
})

t.test('all recipients of a call wait together, and those that may not be written to are told at once', async (t) => {
  const accountId = sender.accountId
  await service.core.suppressions.add({ accountId, scope: 'address', value: 'gone@harbor.example', reason: 'manual' })
  const personalizations = ['a@harbor.example', 'gone@harbor.example', 'no address'].map((recipient) => ({ recipient }))
  const { deliveries, events } = await story(await send({ personalizations, schedule: at }))
  t.strictSame(
    deliveries.map(({ state }) => state),
    ['scheduled', 'dropped', 'dropped'],
  )
  t.strictSame(events.map(({ type }) => type).sort(), ['dropped', 'invalid', 'processed'])
})

// Last, since it leaves the clock ahead.
t.test('a scheduled message is delivered at its time and not before, and has its 72 hours from then on', async (t) => {
  const later = inSeconds(2 * HOUR)
  const scheduled = await send({ schedule: later })
  const id = scheduled.body.data?.message_id ?? ''
  const arrived = () => sink.messages.some(({ data }) => data.includes(id))
  const [delivery] = (await story(scheduled)).deliveries
  t.equal(delivery?.expiresAt?.getTime(), (later + 72 * 3600) * 1000)
  for (const passed of ['1 minute', '1 hour 58 minutes']) {
    await moveClock(service.sql, passed)
    // What was accepted later is out: the worker has looked.
    await copies(await send())
    t.notOk(arrived(), `after ${passed}`)
    t.equal((await story(scheduled)).deliveries[0]?.state, 'scheduled')
  }
  await moveClock(service.sql, '2 hours 1 minute')
  t.equal((await copies(scheduled)).length, 1)
})
