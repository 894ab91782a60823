import t from 'tap'
import { holding, untilBlocked } from '../../helpers/blocked.ts'
import { isInTime } from '../../helpers/pace.ts'
import { BROWSER, makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const { service, ask, deliver, leave, link, pixel, seen } = readers
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const SHOP = 'https://shop.example/'

const storedOf = async (messageId: string): Promise<unknown> =>
  service.sql`
    select kind, machine is not null as machine, count(*)::int as count from hits where message_id = ${messageId}::uuid group by 1, 2 order by 1, 2`

/** Requests for links of a message, stored as they arrive, so many seconds ago. */
async function store(messageId: string, clicks: readonly { recipientNo: number; link: number; ago: number }[]) {
  await service.sql`
    insert into hits (id, at, account_id, message_id, recipient_no, kind, link, url, ip, user_agent, rules)
    select gen_random_uuid(), service_now() - make_interval(secs => ago), ${readers.sender.accountId}, ${messageId}::uuid, no, 'clicked', link,
           ${SHOP}, '192.0.2.9', n::text, 1
      from unnest(${clicks.map((one) => one.recipientNo)}::int[], ${clicks.map((one) => one.link)}::int[],
                  ${clicks.map((one) => one.ago)}::float8[]) with ordinality as c(no, link, ago, n)`
}

t.test(
  'of one delivery a process stores a hundred opens a minute, and as many clicks, and as many by machines',
  async (t) => {
    const message = await deliver(['lena@harbor.example', 'piet@harbor.example'])
    const answers = await Promise.all(
      Array.from({ length: 130 }, () => [
        ask(pixel(message)),
        ask(link(message, SHOP)),
        ask(pixel(message), { headers: { 'user-agent': 'curl/8.0' } }),
      ]).flat(),
    )
    t.strictSame([...new Set(answers.map(({ status }) => status))].sort(), [200, 302], 'each gets its pixel or page')
    t.match(await storedOf(message), [
      { kind: 'clicked', machine: false, count: 100 },
      { kind: 'opened', machine: false, count: 100 },
      { kind: 'opened', machine: true, count: 100 },
    ])
    await ask(pixel(message, { recipientNo: 1 }))
    const events = await seen(message)
    t.equal(events.filter(({ recipientNo }) => recipientNo === 1).length, 1, 'another recipient counts as ever')
    t.equal(events.filter(({ type, detail }) => type === 'opened' && !detail.machine).length, 50 + 1)
  },
)

t.test('thousands of clicks on one link delay no events of others', async (t) => {
  const message = await deliver()
  const other = await deliver()
  await store(
    message,
    Array.from({ length: 12_000 }, (_, at) => ({ recipientNo: 0, link: 1, ago: 100 - at / 1000 })),
  )
  await store(other, [{ recipientNo: 0, link: 1, ago: 200 }])
  t.equal(await service.core.tracking.classify(), true)
  const events = await service.sql`select message_id from events
     where type = 'clicked' and message_id = any(${[message, other]}::uuid[])`
  t.equal(events.length, 50 + 1)
  await service.sql`delete from hits`
})

t.test(
  'a click is a machine’s if one on another link of the delivery is within two seconds, whatever lies between',
  async (t) => {
    const recipients = Array.from({ length: 20 }, (_, at) => `reader${at}@harbor.example`)
    const message = await deliver(recipients)
    const clicks = recipients.flatMap((_, recipientNo) =>
      Array.from({ length: 15 }, () => ({
        recipientNo,
        link: Math.floor(Math.random() * 2.3),
        ago: 30 + Math.floor(Math.random() * 60) / 2,
      })),
    )
    await store(message, clicks)
    const expected = clicks.map((click) =>
      clicks.some(
        (one) => one.recipientNo === click.recipientNo && one.link !== click.link && Math.abs(one.ago - click.ago) <= 2,
      ),
    )
    const events = await seen(message)
    const found = clicks.map(
      (_, at) => events.find(({ detail }) => detail.userAgent === String(at + 1))?.detail.machine,
    )
    t.strictSame(
      found.map((rule) => rule === 'links'),
      expected,
    )
    t.ok(expected.includes(true) && expected.includes(false))
    t.ok(events.every(({ detail }) => detail.userAgent !== BROWSER))
  },
)

async function leaving(path: string): Promise<number> {
  return (await ask(path, { method: 'POST', headers: FORM, body: 'List-Unsubscribe=One-Click' })).status
}

t.test('a client that unsubscribes one recipient over and over does not delay the others', async (t) => {
  const message = await deliver(['lena@harbor.example', 'piet@harbor.example'])
  const unsubscribe = (recipientNo: number) => leaving(leave(message, { recipientNo }))
  const flood = { on: true, answers: new Set<number>() }
  const flooding = Array.from({ length: 300 }, async () => {
    while (flood.on) flood.answers.add(await unsubscribe(0))
  })
  const answers: number[] = []
  for (let at = 0; at < 10; at++) answers.push(await unsubscribe(1))
  flood.on = false
  await Promise.all(flooding)
  t.ok(flood.answers.has(503), 'too many of one recipient are told to come later')
  t.strictSame([...new Set(answers)], [200])
})

t.test('recipients who wait for an erasure leave the connections to those of other accounts', async (t) => {
  const others = await service.makeSender()
  const erased = await deliver(Array.from({ length: 8 }, (_, at) => `crew${at}@harbor.example`))
  const message = await deliver(['nora@harbor.example'], others)
  const waiting = await holding(t, service, async (locker) => {
    // As a batch of an erasure does until its end.
    await locker`select from finished_deliveries where message_id = ${erased}::uuid for update`
    const own = Array.from({ length: 8 }, (_, recipientNo) => leaving(leave(erased, { recipientNo })))
    await untilBlocked(locker, 2)
    const began = performance.now()
    t.equal(await leaving(leave(message, { accountId: others.accountId })), 200)
    t.ok(isInTime(began, 3000))
    return own
  })
  t.strictSame(
    [...new Set(await Promise.all(waiting))],
    [200],
    'who has waited for the erasure is unsubscribed after it',
  )
})
