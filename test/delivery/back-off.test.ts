import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import { SILENCE, type SinkAnswer } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'

const CONNECTIONS = 4
const FILE = join(t.testdir(), 'providers.yaml')
/** One provider per test, since what one does to a provider lasts. */
const PROVIDERS = [
  'paused',
  'probed',
  'foreign',
  'rated',
  'tenant',
  'plain',
  'expiring',
  'few',
  'chatty',
  'echo',
  'shared',
]
writeFileSync(
  FILE,
  `providers:\n${PROVIDERS.map(
    (name) => `  - name: ${name}
    mx: [.${name}.example]
    connections: ${CONNECTIONS}
${name === 'rated' ? '    rate: 2/s\n' : ''}${name === 'few' ? '    messagesPerConnection: 3\n' : ''}    rules:
      - { id: ${name}-tss04, reply: '[TSS04]', times: 2, pause: 2h }
      - { id: ${name}-tenant, reply: 'tenant limit reached', pause: 5m, scope: account }
      - { id: ${name}-max, reply: 'max message per connection', times: 3, messagesPerConnection: 2, for: 30m }
      - { id: ${name}-finding, enhanced: [5.7.26], finding: true }
`,
  ).join('')}`,
)
const internet = await startInternet(t, { PROVIDERS_FILE: FILE, SITE_CONNECTIONS: String(CONNECTIONS) })
const { service } = internet
const TSS04 = '421 4.7.0 [TSS04] Messages temporarily deferred due to unexpected volume'

async function sendMany(count: number, domainOf: (at: number) => string, sender: Sender = internet.sender, extra = {}) {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domainOf(at)}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status, body } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations, ...extra }))
  if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`)
  return body.data?.message_id as string
}

/** A provider with a host that answers RCPT as it is told, and five domains there. */
async function makeProvider(t: Test, name: string, answer: (offers: number) => SinkAnswer | undefined) {
  let offers = 0
  const host = await internet.host(t, { rcpt: () => answer(++offers) }, `${name}.example`)
  const other = await internet.host(t, { rcpt: () => answer(++offers) }, `${name}.example`)
  const domains = [host, other, host, other, host].map((one) => internet.domain([one]))
  return {
    host,
    domains,
    domainOf: (at: number): string => domains[at % domains.length] as string,
    offers: () => offers,
    delivered: () => host.messages.length + other.messages.length,
  }
}

async function parkedAt(destination: string) {
  return service.sql<{ waiting: string; attempt: number; state: string }[]>`
    select waiting_for as waiting, attempt, state from delivery_queue where place = ${destination}`
}

async function overridesOf(destination: string) {
  return (await service.core.deliveries.limits.overrides()).filter((one) => one.place === destination)
}

t.test(
  'a provider that refuses by a rule is paused: its mail waits with the reason, and spends no attempts',
  async (t) => {
    const provider = await makeProvider(t, 'paused', () => TSS04)
    await sendMany(200, provider.domainOf)
    await until('the pause', async () => (await overridesOf('paused')).length > 0 || undefined)
    await until(
      'the rest to wait',
      async () => (await parkedAt('paused')).length + provider.offers() === 200 || undefined,
    )
    const offers = provider.offers()
    // Each connection may carry one offer until the first two refusals have been counted.
    t.ok(offers <= 2 * CONNECTIONS, `${offers} offers`)
    t.match(await overridesOf('paused'), [{ setting: 'pause', rule: 'paused-tss04', reason: /TSS04/, stepDue: false }])
    const parked = await parkedAt('paused')
    t.ok(parked.every(({ attempt, state }) => attempt === 0 && state === 'queued'))
    t.ok(parked.some(({ waiting }) => waiting === 'pause'))

    const late = await sendMany(5, provider.domainOf)
    await until(
      'new mail to wait, too',
      async () => (await parkedAt('paused')).length === parked.length + 5 || undefined,
    )
    t.equal(provider.offers(), offers)
    t.match(await internet.story(late), { deliveries: [{ state: 'queued', attempt: 0 }] })
    const elsewhere = internet.domain([await internet.host(t)])
    await internet.inState(await internet.send(`a@${elsewhere}`), 'delivered')
  },
)

t.test(
  'during a long pause one delivery is tried every five minutes, and when it is accepted the pause ends',
  async (t) => {
    let refuses = true
    const provider = await makeProvider(t, 'probed', () => (refuses ? TSS04 : undefined))
    await sendMany(60, provider.domainOf)
    await until('the pause', async () => (await overridesOf('probed')).length > 0 || undefined)
    await until(
      'the rest to wait',
      async () => (await parkedAt('probed')).length + provider.offers() === 60 || undefined,
    )
    const offers = provider.offers()
    // Shorter than the wait for a retry of those that were refused, which would be parked anyway.
    await internet.advance(6)
    await until('a try', async () => provider.offers() > offers || undefined)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    t.equal(provider.offers(), offers + 1)
    t.equal((await overridesOf('probed')).length, 1, 'refused again')
    refuses = false
    await internet.advance(6)
    await until('all mail', async () => provider.delivered() === 60 || undefined, 30_000)
    t.strictSame((await overridesOf('probed')).length, 0)
  },
)

t.test('what others than the hosts of a provider reply does not count against it', async (t) => {
  const provider = await makeProvider(t, 'foreign', () => undefined)
  // A domain of its own host may not use the provider's connections for it.
  const silent = await internet.host(t, { greeting: () => SILENCE })
  const tricks = Array.from({ length: 2 * CONNECTIONS }, () =>
    internet.domain({
      mx: [
        [10, 'absent.foreign.example'],
        [20, silent.name],
      ] as const,
    }),
  )
  for (const trick of tricks) await sendMany(1, () => trick)
  await until('connections to it', () => silent.open > 0 || undefined)
  const own = await internet.host(t, { rcpt: () => TSS04 })
  const mixed = internet.domain({
    mx: [
      [10, own.name],
      [20, provider.host.name],
    ] as const,
  })
  const behind = internet.domain([provider.host, own])
  await sendMany(6, () => mixed)
  await until('tries', async () => own.commands.length > 0 || undefined)
  await internet.inState(await internet.send(`a@${behind}`), 'delivered')
  t.strictSame(await overridesOf('foreign'), [])
  await internet.inState(await internet.send(`a@${provider.domains[0]}`), 'delivered')
})

t.test('an address or a domain that contains the text of a rule does not count when a reply quotes it', async (t) => {
  const host = await internet.host(
    t,
    { rcpt: ({ command }) => `550 5.1.1 <${/<(.*)>/.exec(command)?.[1]}>: Recipient address rejected: user unknown` },
    'echo.example',
  )
  const domain = internet.domain([host])
  const personalizations = ['[tss04]', 'tss04'].flatMap((name) =>
    Array.from({ length: 5 }, (_, at) => ({ recipient: `"${name}-${at}"@${domain}` })),
  )
  const base = `http://127.0.0.1:${service.config.apiPort}`
  await sendV2(base, internet.sender.apiKey, v2Body(internet.sender, { personalizations }))
  await until('the refusals', () => host.commands.filter((line) => /^RCPT/i.test(line)).length >= 5 || undefined)
  await until('them to be bounced', async () => {
    const [row] = await service.sql<{ count: number }[]>`
      select count(*)::int as count from finished_deliveries where recipient_domain = ${domain} and state = 'bounced'`
    return row?.count === 10
  })
  t.strictSame(await overridesOf('echo'), [])
})

t.test('neither a limit nor the log contains the recipient that a reply quotes', async (t) => {
  const host = await internet.host(
    t,
    { rcpt: ({ command }) => `421 4.7.0 <${/<(.*)>/.exec(command)?.[1]?.toUpperCase()}>: [TSS04] Try Later` },
    'shared.example',
  )
  const domain = internet.domain([host])
  const personalizations = [1, 2, 3].map((at) => ({ recipient: `quotedrecipient${at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  await sendV2(base, internet.sender.apiKey, v2Body(internet.sender, { personalizations }))
  await until('the pause', async () => (await overridesOf('shared')).length > 0 || undefined)
  t.match(await overridesOf('shared'), [{ reason: /^[^@]*: \[TSS04\] Try Later$/ }])
  t.notMatch(JSON.stringify(await overridesOf('shared')), /quotedrecipient/i)
  t.notMatch(JSON.stringify(internet.worker.log), /quotedrecipient/i)
})

t.test('a rate holds for all the domains of a provider, and what is beyond it waits', async (t) => {
  const provider = await makeProvider(t, 'rated', () => undefined)
  const began = performance.now()
  await sendMany(50, provider.domainOf)
  // Why it waits is what kept it last: perhaps the connections, before the rate was used up.
  await until(
    'mail to wait',
    async () => (provider.delivered() > 0 && (await parkedAt('rated')).length > 0) || undefined,
  )
  t.ok(provider.delivered() <= 40, `${provider.delivered()} in two windows of ten seconds at most`)
  await until('all mail', async () => provider.delivered() === 50 || undefined, 40_000)
  t.ok(performance.now() - began > 5000, 'it took until another window')
})

t.test('a refusal that is about one account pauses only its mail', async (t) => {
  const limited = await service.makeSender()
  const from = `@${limited.domain}`
  const host = await internet.host(
    t,
    {
      dot: ({ message }) =>
        message.data?.toString('latin1').includes(from) ? '451 4.7.0 tenant limit reached' : undefined,
    },
    'tenant.example',
  )
  const domain = internet.domain([host])
  await sendMany(30, () => domain, limited)
  await until('the pause', async () => (await overridesOf('tenant')).length > 0 || undefined)
  t.match(await overridesOf('tenant'), [{ accountId: limited.accountId, rule: 'tenant-tenant' }])
  await until('its mail to wait', async () => (await parkedAt('tenant')).length >= 30 - CONNECTIONS || undefined)
  const id = await sendMany(10, () => domain)
  await until('the mail of another account', async () => {
    const { deliveries } = await internet.story(id)
    return deliveries.every(({ state }) => state === 'delivered') || undefined
  })
})

t.test('a refusal of the sending domain slows nothing, and becomes a finding of that domain', async (t) => {
  const provider = await makeProvider(t, 'plain', () => '550 5.7.26 Unauthenticated email is not accepted')
  await sendMany(10, provider.domainOf)
  await until('all refusals', async () => provider.offers() === 10 || undefined)
  t.strictSame(await overridesOf('plain'), [])
  const [row] = await service.sql`select id from domains where name = ${internet.sender.domain}`
  const findings = await until('the findings', async () => {
    const found = await service.core.domains.findings(row?.id as number)
    return found[0]?.count === 10 ? found : undefined
  })
  t.match(findings, [{ place: 'plain', code: '5.7.26', reply: /Unauthenticated/ }])
})

t.test('mail whose lifetime ends during a pause expires, and says why', async (t) => {
  const provider = await makeProvider(t, 'expiring', () => TSS04)
  await sendMany(10, provider.domainOf)
  await until('a worker that knows the pause', async () => {
    await sendMany(1, provider.domainOf)
    return (await parkedAt('expiring')).length > 0
  })
  const id = await sendMany(1, provider.domainOf, internet.sender, { settings: { deadline: 60 } })
  await until(
    'it to wait',
    async () =>
      (
        await service.sql`
    select 1 from delivery_queue where place = 'expiring' and message_id = ${id}::uuid`
      ).length > 0 || undefined,
  )
  await internet.advance(2)
  const expired = await internet.inState(id, 'expired')
  t.match(expired.attempts.at(-1)?.reply, /delivery to the provider was paused until the message expired/)
})

t.test('a session carries no more messages than the provider allows', async (t) => {
  const provider = await makeProvider(t, 'few', () => undefined)
  await sendMany(24, () => provider.domains[0] as string)
  await until('all mail', async () => provider.delivered() === 24 || undefined)
  t.ok(provider.host.sessions >= 8, `${provider.host.sessions} sessions`)
})

t.test('the reply by which a server ends a session between two messages counts, and costs no attempt', async (t) => {
  const perSession = new Map<number, number>()
  const host = await internet.host(
    t,
    {
      mail: ({ session }) => {
        const count = (perSession.get(session) ?? 0) + 1
        perSession.set(session, count)
        return count > 3 ? '421 4.7.0 Max message per connection reached, closing transmission channel' : undefined
      },
    },
    'chatty.example',
  )
  const domain = internet.domain([host])
  const id = await sendMany(60, () => domain)
  await until('all mail', async () => host.messages.length === 60 || undefined)
  t.match(await overridesOf('chatty'), [{ setting: 'messagesPerConnection', value: 2, rule: 'chatty-max' }])
  const { deliveries } = await internet.story(id)
  t.ok(deliveries.every(({ attempt }) => attempt === 1))
})

t.test('a host that no rule knows and that refuses most mail for now is slowed down', async (t) => {
  const host = await internet.host(t, { rcpt: () => '451 4.7.1 Rate limit exceeded' })
  const domain = internet.domain([host])
  await sendMany(60, () => domain)
  const [slowed] = await until('the limit', async () => {
    const found = await overridesOf(host.name)
    return found.length > 0 ? found : undefined
  })
  t.match(slowed, { setting: 'rate', rule: 'adaptive', seconds: 60, reason: /Rate limit exceeded/ })
  t.ok((slowed?.value as number) <= 30, `${slowed?.value} per minute`)

  const greylister = await internet.host(t, { rcpt: () => '451 4.7.1 Greylisted, please try again later' })
  const patient = internet.domain([greylister])
  await sendMany(40, () => patient)
  await until(
    'all first tries',
    async () => greylister.commands.filter((line) => /^RCPT/i.test(line)).length >= 40 || undefined,
  )
  t.strictSame(await overridesOf(greylister.name), [], 'a greylister is not')
})
