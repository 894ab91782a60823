import t from 'tap'
import { until } from '../../helpers/until.ts'
import { BROWSER, makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const { service, ask, deliver, pixel, seen } = readers

/** Seconds until the service's next hour. */
async function untilNextHour(): Promise<number> {
  const [row] = await service.sql<{ seconds: number }[]>`
    select 3600 - floor(extract(epoch from service_now()))::int % 3600 as seconds`
  return row?.seconds ?? 0
}

t.test('a pixel is a GIF of one transparent dot that may not be cached, and its loading an open', async (t) => {
  const message = await deliver()
  const answer = await ask(pixel(message))
  t.equal(answer.status, 200)
  t.equal(answer.headers['content-type'], 'image/gif')
  t.match(answer.headers['cache-control'], /no-store/)
  t.equal(answer.headers['x-content-type-options'], 'nosniff')
  t.equal(answer.headers['referrer-policy'], 'no-referrer')
  t.equal(answer.headers['set-cookie'], undefined)
  t.match(answer.text, /^GIF89a\x01\x00\x01\x00/)
  const [opened, ...more] = await seen(message)
  t.strictSame(opened, {
    type: 'opened',
    recipientNo: 0,
    detail: { ip: '127.0.0.1', userAgent: BROWSER, rules: 1, first: true },
  })
  t.strictSame(more, [])
})

t.test(
  'the pixel may end in .gif, has whatever query a mail program adds, and is there at any host name',
  async (t) => {
    const message = await deliver()
    t.equal((await ask(`${pixel(message)}.gif`)).status, 200)
    t.equal((await ask(`${pixel(message)}?cachebuster=1`)).status, 200)
    t.equal((await ask(pixel(message), { headers: { host: 'news.ship.example' } })).status, 200)
    t.equal((await seen(message)).length, 3)
  },
)

t.test('only the first open of a person is the first, however many come at once', async (t) => {
  const message = await deliver(['lena@harbor.example', 'piet@harbor.example'])
  await Promise.all(Array.from({ length: 20 }, (_, at) => ask(pixel(message, { recipientNo: at % 2 }))))
  const classifying = Array.from({ length: 4 }, () => service.core.tracking.classify())
  await readers.pass(10)
  await Promise.all([...classifying, ...Array.from({ length: 4 }, () => service.core.tracking.classify())])
  await ask(pixel(message))
  const events = await seen(message)
  t.equal(events.length, 21)
  const firsts = events.filter(({ detail }) => detail.first)
  t.strictSame(firsts.map(({ recipientNo }) => recipientNo).sort(), [0, 1])
  t.strictSame(events.findIndex(({ detail }) => detail.first) < 2, true)
})

t.test("a machine's open is not the first", async (t) => {
  const message = await deliver()
  await ask(pixel(message), { headers: { 'user-agent': 'Mozilla/5.0' } })
  t.match((await seen(message))[0]?.detail, { machine: 'prefetcher', first: undefined })
  await ask(pixel(message))
  const [machine, person] = await seen(message)
  t.notOk(machine?.detail.first)
  t.equal(person?.detail.first, true)
})

t.test('many opens cost few commits', async (t) => {
  const messages = await Promise.all(Array.from({ length: 40 }, () => readers.accept()))
  await readers.deliverAll()
  await readers.pass(60)
  // What comes while the first one waits for its commit shares the next.
  const asked = service.sql.begin(async (holder) => {
    await holder`lock table hits in exclusive mode`
    const asked = messages.map((message) => ask(pixel(message)))
    await until('a hit that waits', async () => {
      const waiting = await holder`select from pg_locks where relation = 'hits'::regclass and not granted`
      return waiting.length > 0
    })
    // What comes on another connection afterwards is answered after they have been read.
    await ask('/t/o/none')
    return { asked }
  }) as Promise<{ asked: Promise<unknown>[] }>
  await Promise.all((await asked).asked)
  const [commits] = await service.sql<{ count: number }[]>`select count(distinct xmin::text)::int as count from hits`
  t.ok((commits?.count ?? 99) < 20, `${commits?.count} commits`)
  for (const message of messages) t.equal((await seen(message)).length, 1)
})

t.test('a pixel in a loop is answered, and recorded fifty times an hour', async (t) => {
  // Hours are those of the clock, and the next one must not begin before the test has come to it.
  await readers.pass(await untilNextHour())
  const message = await deliver()
  const load = (count: number) => Promise.all(Array.from({ length: count }, () => ask(pixel(message))))
  t.ok((await load(70)).every(({ status }) => status === 200))
  t.equal((await seen(message)).length, 50)
  await load(10)
  t.equal((await seen(message)).length, 50)
  await readers.pass(3600)
  await load(3)
  const later = await seen(message)
  t.equal(later.length, 53)
  t.equal(later.filter(({ detail }) => detail.first).length, 1, 'a new hour has no new first')
  // A loop of machines hides no person.
  const other = await deliver()
  const machine = { headers: { 'user-agent': 'curl/8.0' } }
  await Promise.all(Array.from({ length: 60 }, () => ask(pixel(other), machine)))
  await ask(pixel(other))
  const events = await seen(other)
  t.equal(events.length, 51)
  t.equal(events.filter(({ detail }) => detail.first).length, 1)
})

t.test("in privacy mode the reader's address and program are written nowhere", async (t) => {
  const message = await deliver()
  await service.sql`update accounts set privacy_mode = true where id = ${readers.sender.accountId}`
  await ask(pixel(message))
  const [hit] = await service.sql`select ip, user_agent from hits where message_id = ${message}::uuid`
  t.strictSame({ ...hit }, { ip: null, user_agent: null })
  t.strictSame((await seen(message))[0]?.detail, { rules: 1, first: true })
  // Switched on while a hit waits: what was stored goes.
  await service.sql`update accounts set privacy_mode = false where id = ${readers.sender.accountId}`
  await ask(pixel(message))
  await service.sql`update accounts set privacy_mode = true where id = ${readers.sender.accountId}`
  t.strictSame((await seen(message))[1]?.detail, { rules: 1 })
  await service.sql`update accounts set privacy_mode = false where id = ${readers.sender.accountId}`
})

t.test('a program that calls itself what it likes is stored in one bounded line', async (t) => {
  const message = await deliver()
  await ask(pixel(message), { headers: { 'user-agent': `Mozilla/5.0 (${'x'.repeat(3000)}\t)` } })
  await ask(pixel(message), { headers: { 'user-agent': `Mail\t<script>\u0080alert(1)</script>` } })
  // Hits are numbered when they are recorded, in any order.
  const found = await seen(message)
  const [long, odd] = found.sort((a, b) => String(b.detail.userAgent).length - String(a.detail.userAgent).length)
  t.equal(String(long?.detail.userAgent).length, 512)
  t.equal(odd?.detail.userAgent, 'Mail <script> alert(1)</script>')
})

t.test('nothing is recorded of a message that is not there, or of an account that is deleted', async (t) => {
  const unknown = '0197a0b1c2d37e4f8a9bacbdcedfe0f1'
  t.equal((await ask(pixel(unknown))).status, 200)
  t.strictSame(await seen(unknown), [])
  const message = await deliver()
  t.equal((await ask(pixel(message, { recipientNo: 7 }))).status, 200, 'nor of a recipient that is not there')
  const other = await service.makeSender()
  await ask(pixel(message, { accountId: other.accountId }))
  t.strictSame(await seen(message), [], "nor of another account's")
  await ask(pixel(message))
  await service.sql`update accounts set state = 'deleted' where id = ${readers.sender.accountId}`
  t.equal((await ask(pixel(message))).status, 200)
  t.strictSame(await seen(message), [])
  await service.sql`update accounts set state = 'active' where id = ${readers.sender.accountId}`
})

t.test('the pixel loads for a message whose partition is gone, and its hits hold up no others', async (t) => {
  const message = await deliver()
  await ask(pixel(message))
  await service.sql`delete from messages where id = ${message}::uuid`
  const other = await deliver()
  await ask(pixel(other))
  t.equal((await seen(other)).length, 1)
  t.strictSame(await seen(message), [])
  t.equal((await ask(pixel(message))).status, 200)
  t.strictSame(await seen(message), [])
  const [left] = await service.sql`select count(*)::int as count from hits`
  t.equal(left?.count, 0)
})

t.test('a hit that cannot be recorded is left out, and the others are', async (t) => {
  const [message, other] = [await deliver(), await deliver()]
  const [{ week } = { week: '' }] = await service.sql<{ week: string }[]>`
    select tableoid::regclass::text as week from engagements limit 1`
  // As if the partition had not been made: its id is of a week of which there are messages only.
  await service.sql.unsafe(`alter table ${week} add constraint odd check (message_id <> '${message}')`)
  await ask(pixel(message))
  await ask(pixel(other))
  t.equal((await seen(other)).length, 1)
  t.strictSame(await seen(message), [])
  await service.sql.unsafe(`alter table ${week} drop constraint odd`)
})

t.test('the client that a trusted proxy names is the one that is recorded, and no other', async (t) => {
  const message = await deliver()
  await ask(pixel(message), { headers: { 'x-forwarded-for': '192.0.2.7' } })
  const behind = await makeReaders(t, { TRUST_PROXY: '127.0.0.1' })
  const proxied = await behind.deliver()
  await behind.ask(behind.pixel(proxied), { headers: { 'x-forwarded-for': '192.0.2.7' } })
  t.equal((await seen(message))[0]?.detail.ip, '127.0.0.1')
  t.equal((await behind.seen(proxied))[0]?.detail.ip, '192.0.2.7')
})
