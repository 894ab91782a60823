import { NORMAL } from '@postrider/core'
import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'

const CONNECTIONS = 3
const internet = await startInternet(t, { SITE_CONNECTIONS: String(CONNECTIONS) })
const other = await internet.service.makeSender()

async function sendMany(sender: Sender, count: number, domainOf: (at: number) => string): Promise<void> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domainOf(at)}` }))
  const base = `http://127.0.0.1:${internet.service.config.apiPort}`
  const { status, body } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`)
}

function isFrom({ domain }: Sender): (message: { readonly data: Buffer }) => boolean {
  return ({ data }) => data.includes(`@${domain}`)
}

t.test('at one site, a single message goes before the waiting ones of an account that has many', async (t) => {
  const gate = Promise.withResolvers<undefined>()
  const host = await internet.host(t, { dot: () => gate.promise })
  const domain = internet.domain([host])
  // More than the site's connections carry and its queue in the worker holds, so that most of it stays in the database.
  const many = 200
  await sendMany(internet.sender, many, () => domain)
  await until('the site to be busy', () => host.commands.filter((command) => command === 'DATA').length === CONNECTIONS)
  await sendMany(other, 1, () => domain)
  await until('the single message to be claimed', async () => {
    const claimed = await internet.service.sql`
      select from delivery_queue where account_id <> ${internet.sender.accountId} and worker_id is not null`
    return claimed.length === 1
  })
  gate.resolve(undefined)
  await until('the single message', () => host.messages.some(isFrom(other)))
  const destination = host.messages.findIndex(isFrom(other))
  // Those in progress end first, and it takes a moment until a claimed message is at its site. 24 wait there.
  t.ok(destination <= 4 * CONNECTIONS, `${destination} messages of the other account went first`)
  await until('the rest', () => host.messages.length === many + 1, 60_000)
})

t.test(
  'an account that has more due than a worker holds does not keep the worker from claiming for others',
  async (t) => {
    // Nobody answers there, so what is claimed stays in flight.
    const gate = Promise.withResolvers<undefined>()
    const mute = await internet.host(t, { greeting: () => gate.promise })
    const domain = internet.domain([mute])
    const { sql } = internet.service
    // The other account's site has been looked up before: the socket of the name server here overflows with 2,000 queries at once.
    const quick = await internet.host(t)
    const quickDomain = internet.domain([quick])
    await sendMany(other, 1, () => quickDomain)
    await until('its first message', () => quick.messages.length === 1)
    await sendMany(internet.sender, 1, () => domain)
    await until('a connection', () => mute.open > 0)
    await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, class, state, recipient, recipient_key, recipient_domain, kind,
           next_at, expires_at)
    select message_id, number, account_id, ${NORMAL}, 'queued', 'a@' || number || '.example', 'a@' || number || '.example',
           number || '.example', kind, now(), expires_at
      from delivery_queue, generate_series(1, 20000) number where recipient_domain = ${domain}`
    for (let at = 1; at <= 20_000; at++) internet.dns.zones[`${at}.example`] = { fails: 'silence' }
    await until('the worker to be full', async () => {
      const [row] = await sql<{ held: number }[]>`
      select count(*)::int as held from delivery_queue where worker_id is not null`
      return (row?.held ?? 0) >= 2000
    })
    await sendMany(other, 3, () => quickDomain)
    await until('the other account to have its mail', () => quick.messages.length === 4, 8000)
    t.ok(quick.messages.every(isFrom(other)))
    // Without those that the worker is recording at this moment: each would wait for the other.
    await sql`
      delete from delivery_queue where (message_id, recipient_no) in (
        select message_id, recipient_no from delivery_queue where recipient_no > 0 for update skip locked)`
    gate.resolve(undefined)
  },
)
