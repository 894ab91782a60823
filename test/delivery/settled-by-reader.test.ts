import { simpleParser } from 'mailparser'
import t from 'tap'
import { BROWSER } from '../api/tracking/readers.ts'
import { HANG_UP, type SinkAnswer, startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startOutbox } from './outbox.ts'

/** What the server answers to the message for each recipient, after it has all of it. */
const answers = new Map<string, SinkAnswer>()
const received: { readonly to: string; readonly data: Buffer }[] = []
const sink = await startSink(t, {
  dot({ message: { data, to } }) {
    received.push({ to: to[0] ?? '', data: Buffer.from(data ?? '') })
    return answers.get(to[0] ?? '')
  },
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` }, { tracking: true })
const { service } = outbox
let names = 0

/** A message that the server has, but whose first attempt ended like this; and what its reader finds in it. */
async function makeCopy(answer: SinkAnswer) {
  const to = `lena${++names}@harbor.example`
  answers.set(to, answer)
  const content = '<p>Your berth: <a href="https://quay.example/berth">4</a></p>'
  const id = await outbox.send(to, { content, subject: 'Berth 4', settings: { unsubscribe: 1 } })
  const first = await outbox.attempted(id, 1)
  const data = received.find((one) => one.to === to)?.data
  const { html, headerLines } = await simpleParser(data as Buffer)
  const links = `${html} ${headerLines.find(({ key }) => key === 'list-unsubscribe')?.line}`
  const path = (letter: string) => new RegExp(`/t/${letter}/[\\w-]{40,}`).exec(links)?.[0] ?? ''
  return { to, id, first, opens: path('o'), clicks: path('c'), leaves: path('u') }
}

const ask = (path: string, options: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${service.config.apiPort}${path}`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
    ...options,
  })
const leave = (path: string) =>
  ask(path, {
    method: 'POST',
    headers: { 'user-agent': BROWSER, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  })
const copiesFor = (to: string) => received.filter((one) => one.to === to).length
const typesOf = async (id: string) => (await outbox.story(id)).events.map(({ type }) => type)

for (const [what, act, reply] of [
  ['opens it', ({ opens }: { opens: string }) => ask(opens), /the recipient has opened the message/],
  ['follows a link', ({ clicks }: { clicks: string }) => ask(clicks), /the recipient has followed a link/],
  ['unsubscribes', ({ leaves }: { leaves: string }) => leave(leaves), /the recipient has unsubscribed/],
] as const) {
  t.test(`mail whose reply was lost is delivered when its recipient ${what}, and no second copy is sent`, async (t) => {
    const copy = await makeCopy(HANG_UP)
    t.match(copy.first, { state: 'deferred', attempts: [{ indeterminate: true }] })
    await outbox.advance(1)
    t.ok([200, 302].includes((await act(copy as never)).status))
    const settled = await outbox.inState(copy.id, 'delivered')
    t.ok(Date.now() - (settled.finishedAt?.getTime() ?? 0) < 60_000, 'since the attempt that the server has it of')
    t.equal(settled.attempts.length, 1)
    const { events } = await outbox.story(copy.id)
    t.match(
      events.find(({ type }) => type === 'sent'),
      { detail: { attempt: 1, indeterminate: true, host: String, reply } },
    )
    answers.delete(copy.to)
    await outbox.advance(10)
    await outbox.inState(await outbox.send('other@harbor.example'), 'delivered')
    t.equal(copiesFor(copy.to), 1)
  })
}

t.test('what proves nothing leaves it to the next attempt', async (t) => {
  const scanned = await makeCopy(HANG_UP)
  // Not tried again before the clock is moved past that.
  const refused = await makeCopy('451 4.3.0 later, try again in 5 minutes')
  const soon = await makeCopy(HANG_UP)
  // A server that follows links while it receives the message does so at once.
  await ask(soon.clicks)
  await until('the click', async () => (await typesOf(soon.id)).includes('clicked'))
  t.match((await outbox.story(soon.id)).deliveries, [{ state: 'deferred' }], 'within ten seconds')
  await outbox.advance(0.5)
  await ask(scanned.opens, { headers: { 'user-agent': 'Mozilla/5.0' } })
  await ask(refused.opens)
  for (const { id } of [scanned, refused]) await until('the open', async () => (await typesOf(id)).includes('opened'))
  for (const { id } of [scanned, refused]) t.match((await outbox.story(id)).deliveries, [{ state: 'deferred' }])
  answers.clear()
  await outbox.advance(10)
  for (const { id, to } of [scanned, soon, refused]) {
    t.equal((await outbox.inState(id, 'delivered')).attempts.length, 2)
    t.equal(copiesFor(to), 2)
  }
})
