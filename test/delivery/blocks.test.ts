import t, { type Test } from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import type { Sink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'

const internet = await startInternet(t, { SITE_CONNECTIONS: '5' })
const { service } = internet
const BLOCKED = '550 5.7.1 Service refuse. Veuillez essayer plus tard. Service refused, please try later. LPN007_510'

interface Offers {
  readonly host: Sink & { readonly name: string }
  readonly domain: string
  /** Of RCPT or DATA that were refused, and messages that were taken. */
  refused: number
}

/** A site with one host that refuses the messages that `answer` has a reply for. */
async function makeSite(t: Test, answer: (message: string) => string | undefined): Promise<Offers> {
  const site = { refused: 0 }
  const host = await internet.host(t, {
    dot: ({ message }) => {
      const reply = answer(message.data?.toString('latin1') ?? '')
      if (reply) site.refused++
      return reply
    },
  })
  return Object.assign(site, { host, domain: internet.domain([host]) })
}

async function sendMany(count: number, domain: string, sender: Sender = internet.sender): Promise<string> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status, body } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`)
  return body.data?.message_id as string
}

async function pausesOf({ host }: Offers) {
  return (await service.core.deliveries.limits.overrides()).filter(
    ({ place, setting }) => place === host.name && setting === 'pause',
  )
}

async function waitingAt({ host }: Offers) {
  return service.sql<{ attempt: number; waiting: string | null; accountId: number }[]>`
    select attempt, waiting_for as waiting, account_id as "accountId" from delivery_queue where place = ${host.name}`
}

const paused = (site: Offers) => until('the pause', async () => (await pausesOf(site)).length > 0 || undefined)
/** All that was sent there is refused, taken or waits. */
const settled = (site: Offers, sent: number) =>
  until('the rest to wait', async () => {
    const waiting = await waitingAt(site)
    return site.refused + site.host.messages.length + waiting.length === sent || undefined
  })

t.test(
  'a site that permanently refuses the mail of two senders loses 25 messages at most; the others wait untried',
  async (t) => {
    const other = await service.makeSender()
    const site = await makeSite(t, () => BLOCKED)
    const [id] = await Promise.all([sendMany(150, site.domain), sendMany(150, site.domain, other)])
    await paused(site)
    await settled(site, 300)
    t.ok(site.refused <= 25, `${site.refused} refused`)
    const waiting = await waitingAt(site)
    t.ok(waiting.every(({ attempt }) => attempt === 0))
    t.match(await pausesOf(site), [
      {
        accountId: null,
        setting: 'pause',
        rule: 'refused',
        reason: /^\d+ of \d+ messages refused within 10 minutes: 550 5\.7\.1 .*LPN007/,
      },
    ])
    const [row] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from suppressions where value like ${`%@${site.domain}`}`
    t.equal(row?.count, 0, 'no address is suppressed')

    const why = await service.core.messages.why({ messageId: id })
    t.match(
      why?.deliveries.find(({ waitingFor }) => waitingFor === 'provider-pause')?.text,
      /refused mail of this service \(rule refused, .*Reason: \d+ of \d+ messages refused within 10 minutes: 550 5\.7\.1 Service refuse/,
    )
    const elsewhere = internet.domain([await internet.host(t)])
    await internet.inState(await internet.send(`a@${elsewhere}`), 'delivered')
  },
)

t.test('of one sending domain 55 are lost at most', async (t) => {
  const site = await makeSite(t, () => '554 5.7.1 Your IP 192.0.2.1 has a poor reputation')
  await sendMany(200, site.domain)
  await paused(site)
  await settled(site, 200)
  t.ok(site.refused <= 55, `${site.refused} refused`)
})

t.test('a refusal for now of the address pauses as well', async (t) => {
  const other = await service.makeSender()
  const site = await makeSite(t, () => '451 4.7.1 Your address is blocked for its reputation')
  await Promise.all([sendMany(60, site.domain), sendMany(60, site.domain, other)])
  await paused(site)
  t.match(await pausesOf(site), [{ accountId: null, rule: 'refused' }])
})

t.test('one message is tried after 5 minutes, then after 10 more; one that is taken ends the pause', async (t) => {
  let refuses = true
  const other = await service.makeSender()
  const site = await makeSite(t, () => (refuses ? BLOCKED : undefined))
  await Promise.all([sendMany(40, site.domain), sendMany(40, site.domain, other)])
  await paused(site)
  await settled(site, 80)
  const first = site.refused
  await internet.advance(6)
  await until('a try', () => site.refused === first + 1 || undefined)
  await internet.advance(6)
  await until('it to be known', async () => (await pausesOf(site))[0]?.stepDue === false || undefined)
  t.equal(site.refused, first + 1, 'not yet')
  refuses = false
  await internet.advance(6)
  await until('all mail', () => site.host.messages.length === 80 - site.refused || undefined, 30_000)
  t.strictSame(await pausesOf(site), [])
})

t.test(
  'where only the mail of one account is refused, only its mail waits, and it is tried from time to time',
  async (t) => {
    const refused = await service.makeSender()
    let refuses = true
    const site = await makeSite(t, (message) =>
      refuses && message.includes(refused.domain) ? '550 5.7.1 Message content rejected as spam' : undefined,
    )
    const others = [internet.sender, await service.makeSender(), await service.makeSender()]
    const taken = Promise.all(others.map((sender) => sendMany(100, site.domain, sender)))
    await sendMany(120, site.domain, refused)
    await taken
    await paused(site)
    await until('the mail of the other', () => site.host.messages.length >= 300 || undefined)
    await settled(site, 420)
    t.match(await pausesOf(site), [{ accountId: refused.accountId, rule: 'refused' }])
    // Theirs goes on meanwhile, so its refusals are counted five at a time.
    t.ok(site.refused <= 65, `${site.refused} refused`)
    t.ok((await waitingAt(site)).every(({ accountId }) => accountId === refused.accountId))
    const first = site.refused
    await internet.advance(6)
    await until('a try', () => site.refused === first + 1 || undefined)
    refuses = false
    await internet.advance(11)
    await until('all mail', () => site.host.messages.length === 420 - site.refused || undefined, 30_000)
  },
)

t.test(
  'where the authentication of one account is missing, its mail waits, and the domain has a finding',
  async (t) => {
    const site = await makeSite(t, () => '550 5.7.26 This mail has been blocked because the sender is unauthenticated')
    await sendMany(120, site.domain)
    await paused(site)
    t.match(await pausesOf(site), [{ accountId: internet.sender.accountId }])
    const [row] = await service.sql`select id from domains where name = ${internet.sender.domain}`
    const findings = await until('the finding', async () => {
      const found = await service.core.domains.findings(row?.id as number)
      return found.find(({ place }) => place === site.host.name)
    })
    t.match(findings, { code: '5.7.26', reply: /unauthenticated/ })
  },
)

t.test('where two domains lack authentication, 25 messages are lost at most, and mail of both waits', async (t) => {
  const other = await service.makeSender()
  const site = await makeSite(t, () => '550 5.7.1 SPF check failed')
  await Promise.all([sendMany(100, site.domain), sendMany(100, site.domain, other)])
  await until('both pauses', async () => (await pausesOf(site)).length === 2 || undefined)
  await settled(site, 200)
  t.ok(site.refused <= 25, `${site.refused} refused`)
  t.notOk((await pausesOf(site)).some(({ accountId }) => accountId === null))
})

t.test('one recipient whose server refuses everything, and unknown users, pause nothing', async (t) => {
  const own = await makeSite(t, () => BLOCKED)
  for (let round = 0; round < 3; round++) {
    const personalizations = Array.from({ length: 20 }, () => ({ recipient: `one@${own.domain}` }))
    const base = `http://127.0.0.1:${service.config.apiPort}`
    await sendV2(base, internet.sender.apiKey, v2Body(internet.sender, { personalizations }))
  }
  await until('all refusals', () => own.refused === 60 || undefined)
  t.strictSame(await pausesOf(own), [])

  const unknown = await makeSite(t, () => '550 5.1.1 User unknown')
  await sendMany(100, unknown.domain)
  await until('all refusals', () => unknown.refused === 100 || undefined)
  t.strictSame(await pausesOf(unknown), [])
})

t.test('a try during a pause that is refused for another reason, or for now, does not end it', async (t) => {
  const other = await service.makeSender()
  let says: string | undefined = BLOCKED
  const site = await makeSite(t, () => says)
  await Promise.all([sendMany(40, site.domain), sendMany(40, site.domain, other)])
  await paused(site)
  await settled(site, 80)
  for (const [answer, minutes] of [
    ['451 4.7.1 Greylisted, try again later', 6],
    ['550 5.1.1 User unknown', 11],
    ['421 4.3.2 shutting down', 23],
  ] as const) {
    const before = site.refused
    says = answer
    await internet.advance(minutes)
    await until('a try', () => site.refused === before + 1 || undefined)
    // The next mail goes elsewhere once what the try has led to is known.
    const elsewhere = internet.domain([await internet.host(t)])
    await internet.inState(await internet.send(`a@${elsewhere}`), 'delivered')
    t.match(await pausesOf(site), [{ rule: 'refused' }], answer)
    t.equal(site.refused, before + 1, answer)
  }
  says = undefined
  await internet.advance(31)
  await until('all mail', async () => (await waitingAt(site)).length === 0 || undefined, 30_000)
  t.strictSame(await pausesOf(site), [])
})

t.test('a greylister whose words are those of a policy pauses nothing', async (t) => {
  const site = await makeSite(t, () => '451 4.7.1 Temporary policy rejection, please try again later')
  const other = await service.makeSender()
  await Promise.all([sendMany(20, site.domain), sendMany(20, site.domain, other)])
  await until('refusals', () => site.refused > 20 || undefined)
  const elsewhere = internet.domain([await internet.host(t)])
  await internet.inState(await internet.send(`a@${elsewhere}`), 'delivered')
  t.strictSame(await pausesOf(site), [])
})

t.test('the pause of an account has a reply to its own mail, and so has the finding', async (t) => {
  const [refused, passing] = [await service.makeSender(), await service.makeSender()]
  let takes = false
  const site = await makeSite(t, (message) => {
    if (takes) return undefined
    const isOwn = message.includes(refused.domain)
    return isOwn ? `550 5.7.26 ${refused.domain} is unauthenticated` : '550 5.7.1 Message content rejected as spam'
  })
  const taken = (count: number) => until('them', () => site.host.messages.length === count || undefined)
  await sendMany(49, site.domain, refused)
  await until('refusals', () => site.refused === 49 || undefined)
  takes = true
  await sendMany(1, site.domain, refused)
  await taken(1)
  await sendMany(6, site.domain, passing)
  await taken(7)
  takes = false
  await sendMany(1, site.domain, passing)
  await until('it to be refused', () => site.refused === 50 || undefined)
  await sendMany(1, site.domain, refused)
  await paused(site)
  t.match(await pausesOf(site), [{ accountId: refused.accountId, reason: `${refused.domain} is unauthenticated` }])
  const [row] = await service.sql`select id from domains where name = ${refused.domain}`
  await until('the finding', async () => (await service.core.domains.findings(row?.id as number))[0])
})
