import t from 'tap'
import { until } from '../../helpers/until.ts'
import { call } from '../call.ts'
import { openApiFar } from './far-database.ts'
import { BROWSER, makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const far = await openApiFar(t, readers.service)
const { deliver, link, pixel, leave, seen, service } = readers
const SHOP = 'https://shop.example/'
const LEAVE = 'List-Unsubscribe=One-Click'
const ask = (path: string, method = 'GET', body?: string) =>
  call(far.base, { method, path, headers: { 'user-agent': BROWSER }, ...(body ? { body } : {}) })

async function timed<T>(act: Promise<T>): Promise<{ answer: T; took: number }> {
  const began = performance.now()
  return { answer: await act, took: performance.now() - began }
}

t.afterEach(() => far.restore())

for (const [what, cut] of [
  ['away', () => far.cut()],
  ['hanging', () => far.hang()],
] as const) {
  t.test(
    `while the database is ${what}, pixels and links respond within two seconds, and are recorded later`,
    async (t) => {
      const message = await deliver()
      // So that the connections are there.
      await ask(pixel(message, { recipientNo: 1 }))
      cut()
      const [open, click] = await Promise.all([timed(ask(pixel(message))), timed(ask(link(message, SHOP)))])
      t.equal(open.answer.headers['content-type'], 'image/gif')
      t.equal(click.answer.headers.location, SHOP)
      for (const { took } of [open, click]) t.ok(took < 3500, `${Math.round(took)} ms`)
      t.strictSame(await seen(message), [])
      // One that hangs is given up after the statement's time-out of its own; here the way is broken.
      far.restore()
      const events = await until(
        'both events',
        async () => {
          const found = await seen(message)
          return found.length === 2 && found
        },
        30_000,
      )
      t.strictSame(events.map(({ type }) => type).sort(), ['clicked', 'opened'])
      t.ok(events.every(({ detail }) => detail.first))
    },
  )
}

t.test('while the database is away no one is shown that they are unsubscribed', async (t) => {
  const message = await deliver()
  far.cut()
  const page = await timed(ask(leave(message)))
  t.equal(page.answer.status, 200, 'the page that asks needs no database')
  t.match(page.answer.text, '<form method="post">')
  t.ok(page.took < 3500)
  const refused = await ask(leave(message), 'POST', LEAVE)
  t.equal(refused.status, 503)
  t.ok(refused.headers['retry-after'])
  far.restore()
  const done = await until('the database', async () => {
    const answer = await ask(leave(message), 'POST', LEAVE)
    return answer.status === 200 && answer
  })
  t.match(done.text, 'You are unsubscribed')
  t.strictSame(
    (await seen(message)).map(({ type }) => type),
    ['unsubscribed'],
  )
})

t.test('an opening is recorded at the time it happened, and not when the database came back', async (t) => {
  const message = await deliver()
  far.cut()
  const [before] = await service.sql<{ now: Date }[]>`select service_now() as now`
  await ask(pixel(message))
  const [after] = await service.sql<{ now: Date }[]>`select service_now() as now`
  await new Promise((resolve) => setTimeout(resolve, 500))
  far.restore()
  await until(
    'the hit',
    async () => (await service.sql`select 1 from hits where message_id = ${message}::uuid`).length > 0,
  )
  const [hit] = await service.sql<{ at: Date }[]>`select at from hits where message_id = ${message}::uuid`
  const at = hit?.at.getTime() ?? 0
  const [least, most] = [before?.now.getTime() ?? 0, after?.now.getTime() ?? 0]
  t.ok(at >= least - 50 && at <= most + 50, `${at - least} ms after it began, ${most - at} before it was answered`)
})

t.test(
  'a flood while the database is away gets responses from bounded memory, and delays nothing afterwards',
  async (t) => {
    // Of one delivery no more than a hundred a minute would be stored.
    const recipients = Array.from({ length: 30 }, (_, at) => `reader${at}@harbor.example`)
    const message = await deliver(recipients)
    far.cut()
    let asked = 0
    let answered = 0
    const load = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        const path = pixel(message, { recipientNo: asked++ % recipients.length })
        if ((await ask(path)).status === 200) answered++
      }
    }
    // The first thousand wait their two seconds; behind them nobody does.
    const { took } = await timed(
      Promise.all([
        Promise.all(Array.from({ length: 1100 }, () => load(1))),
        new Promise((resolve) => setTimeout(resolve, 1500)).then(() =>
          Promise.all(Array.from({ length: 20 }, () => load(50))),
        ),
      ]),
    )
    t.equal(answered, 2100)
    t.ok(took < 20_000, `${Math.round(took)} ms`)
    far.restore()
    await until('all of them', async () => {
      const [row] = await service.sql<{ count: number }[]>`
      select count(*)::int as count from hits where message_id = ${message}::uuid`
      return row?.count === 2100
    })
    t.equal((await seen(message)).length, recipients.length * 50)
  },
)

t.test('what is not written yet is written before the process ends', async (t) => {
  const message = await deliver()
  const other = await openApiFar(t, service)
  await other.core.tracking.note(
    {
      kind: 'open',
      accountId: readers.sender.accountId,
      messageId: message,
      recipientNo: 0,
      group: 0,
      link: 0,
      url: '',
    },
    { method: 'GET', headers: { 'user-agent': BROWSER }, address: '127.0.0.1' },
  )
  other.cut()
  const late = other.core.tracking.note(
    {
      kind: 'open',
      accountId: readers.sender.accountId,
      messageId: message,
      recipientNo: 0,
      group: 0,
      link: 0,
      url: '',
    },
    { method: 'GET', headers: { 'user-agent': BROWSER }, address: '127.0.0.1' },
  )
  const closed = other.core.tracking.close()
  other.restore()
  await Promise.all([late, closed])
  t.equal((await seen(message)).length, 2)
})
