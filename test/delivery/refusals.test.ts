import type { PlaceDetails, QueueOverview } from '@postrider/core'
import t from 'tap'
import { ask } from '../api/operator/operator.ts'
import { answered, postrider } from '../cli/postrider.ts'
import { PASSWORD, sessionCookieOf, submit, visitor } from '../dashboard/dashboard.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'

const internet = await startInternet(t, { SITE_CONNECTIONS: '5' })
const { service, sender } = internet
const { core, env, sql } = service
const url = `http://127.0.0.1:${service.config.apiPort}`
const { secret } = await core.auth.createOperatorKey({ name: 'night shift' })
const { token } = await core.people.firstLink.create()
const person = { name: 'Ada Lovelace', email: 'ada@northwind.example', password: PASSWORD }
const ada = visitor(url, sessionCookieOf(await submit(url, '/app/first', { token, ...person })), 1)

const call = (path: string) => ask(`${url}/operator/v1${path}`, { headers: { authorization: `Bearer ${secret}` } })
const page = async (path: string) => (await ada.get(`/app/operator/queue${path}`)).text()

async function sendTo(recipients: readonly string[]): Promise<void> {
  const personalizations = recipients.map((recipient) => ({ recipient }))
  const { status } = await sendV2(url, sender.apiKey, v2Body(sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${status}`)
}
const waiting = async (domain: string) => {
  const [row] = await sql<{ count: number; deferred: number }[]>`
    select count(*)::int as count, count(*) filter (where state = 'deferred')::int as deferred from delivery_queue where recipient_domain = ${domain}`
  return row ?? { count: 0, deferred: 0 }
}
const ended = (domain: string) => until('the end', async () => (await waiting(domain)).count === 0 || undefined)
/** What was refused, of hosts that answer as `rcpt`, once it is counted. */
async function refusedAt(place: string, count: number) {
  return until('it to be counted', async () => {
    const { refused } = await answered<QueueOverview>(env, 'queue')
    const own = refused.places.find((one) => one.place === place)
    return own && own.permanent + own.forNow === count ? own : undefined
  })
}
const several = (count: number, domain: string) => Array.from({ length: count }, (_, at) => `reader${at}@${domain}`)

t.test('what a site permanently refuses is shown for an hour with its reply, though nothing waits there', async (t) => {
  const host = await internet.host(t, {
    dot: ({ message }) =>
      `550 5.7.1 Service refused for <${message.to[0]}>: ask <postmaster@other.example>. LPN007_510 https://other.example/?a=ann%40other.example`,
  })
  const domain = internet.domain([host])
  await sendTo(several(7, domain))
  await ended(domain)
  const shown = await refusedAt(host.name, 7)
  const reply = '550 5.7.1 Service refused for <…>: ask … LPN007_510 …'
  t.match(shown, { permanent: 7, forNow: 0, class: 'policy', reply, at: /^20/ })
  const { groups } = await answered<QueueOverview>(env, 'queue')
  t.notOk(
    groups.some(({ total }) => total.count > 0),
    'nothing waits',
  )

  const { stdout } = await postrider(env, 'queue')
  t.match(stdout, /\n\nrefused within an hour +bounced +for now +mostly +last +reply\n/)
  t.ok(stdout.includes(reply))
  const here = await answered<PlaceDetails>(env, 'queue', 'show', host.name)
  t.match(here, { place: host.name, refused: [{ permanent: 7, forNow: 0, class: 'policy', reply }], parked: [] })
  t.match(
    (await postrider(env, 'queue', 'show', host.name)).stdout,
    /\nrefused within an hour: bounced +for now +class +last +reply\n7 +0 +policy +\d+s +550 5\.7\.1 Service refused/,
  )
  t.match(await call('/queues'), { status: 200, body: { refused: { places: [shown], others: 0, partial: false } } })
  t.match((await call('/queues?by=account')).body.refused, { places: [] })
  t.match(await call(`/queues/${host.name}`), { status: 200, body: { refused: here.refused } })
  for (const text of [await page(''), await page(`/place?name=${host.name}`)]) {
    t.ok(text.includes('Refused within the last hour') && text.includes(reply.replace('<…>', '&lt;…&gt;')))
    t.ok(text.includes(host.name))
    t.notMatch(text, /reader\d|other\.example/, 'no address')
  }

  await internet.advance(66)
  t.strictSame((await answered<QueueOverview>(env, 'queue')).refused.places, [])
  t.notMatch((await postrider(env, 'queue')).stdout, 'refused')
  t.strictSame((await answered<PlaceDetails>(env, 'queue', 'show', host.name)).refused, [])
  await internet.advance(66)
  await core.deliveries.limits.forgetOld()
  t.equal((await sql`select from destination_refusals`).length, 0)
})

t.test('nothing is written for what is accepted, greylisted, or refused for one recipient', async (t) => {
  const replies: Readonly<Record<string, string>> = {
    unknown: '550 5.1.1 no such user',
    full: '552 5.2.2 mailbox full',
    grey: '450 4.7.1 Greylisted, try again in 5 minutes',
  }
  const host = await internet.host(t, {
    rcpt: ({ command }) => replies[/<(\w+)@/.exec(command)?.[1] ?? ''],
  })
  const domain = internet.domain([host])
  await sendTo(['unknown', 'full', 'grey', 'taken'].map((name) => `${name}@${domain}`))
  await until('all', async () => {
    const { count, deferred } = await waiting(domain)
    return (count === 1 && deferred === 1) || undefined
  })
  const other = await internet.host(t, { rcpt: () => '550 5.7.1 relaying denied' })
  await sendTo([`a@${internet.domain([other])}`])
  await refusedAt(other.name, 1)
  t.strictSame(
    (await sql<{ place: string }[]>`select distinct place from destination_refusals`).map(({ place }) => place),
    [other.name],
  )
})

t.test('mail that waits for its retry is counted where it was tried, and the oldest of it has its age', async (t) => {
  await sql`delete from delivery_queue`
  const host = await internet.host(t, { rcpt: () => '451 4.7.1 Your address is blocked for its reputation' })
  const away = await internet.host(t)
  await away.close()
  const domains = [internet.domain([host]), internet.domain([away])] as const
  await sendTo([...several(3, domains[0]), ...several(2, domains[1])])
  for (const [at, count] of [3, 2].entries())
    await until(
      'all to be deferred',
      async () => (await waiting(domains[at] as string)).deferred === count || undefined,
    )
  t.match(await refusedAt(host.name, 3), { permanent: 0, forNow: 3, reply: /^451 4\.7\.1 Your address/ })
  const { groups } = await answered<QueueOverview>(env, 'queue')
  t.match(
    groups
      .filter(({ total }) => total.count > 0)
      .map(({ name, later, due, oldest }) => [name, later.count, due.count, typeof oldest]),
    [
      [host.name, 3, 0, 'string'],
      [away.name, 2, 0, 'string'],
    ],
  )
  t.match(await call('/queues'), { body: { groups } })
  for (const [name, count] of [
    [host.name, 3],
    [away.name, 2],
  ] as const) {
    t.match(await call(`/queues/${name}`), { status: 200, body: { later: { count, more: false }, due: { count: 0 } } })
    t.match(
      (await postrider(env, 'queue', 'show', name)).stdout,
      new RegExp(`\ntried there last: due +later\n0 +${count}`),
    )
    t.match(await page(`/place?name=${name}`), `Besides, tried here last: ${count} for later, 0 due now.`)
  }
  // Pages share what was read within eight seconds.
  const text = await until('the page', async () => {
    const read = await page('')
    return read.includes(away.name) ? read : undefined
  })
  t.match(text, new RegExp(`>Oldest</span><span class="v">[\\d.]+ s</span><small>at (?:${host.name}|${away.name})<`))
  t.match(text, '“<bdi>451 4.7.1 Your address is blocked for its reputation</bdi>”</span><small>3 for later')
  t.match(text, '<span>2 for later: retries and scheduled mail</span>')
  t.notMatch(text, 'Not assigned yet')
})
