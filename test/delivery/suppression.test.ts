import t from 'tap'
import type { SinkStep } from '../helpers/sink.ts'
import { startInternet } from './outbox.ts'

const internet = await startInternet(t)
const { service, sender } = internet

let moved = 0

/** A moment this far ahead of the service's clock, wherever that stands. */
function ahead(minutes: number): string {
  return new Date(Date.now() + (moved + minutes) * 60_000).toISOString()
}

async function advance(minutes: number): Promise<void> {
  moved += minutes
  await internet.advance(minutes)
}

const SUPPRESSED: readonly {
  readonly what: string
  readonly scope: 'address' | 'domain'
  readonly recipient: (domain: string) => string
  readonly value: (domain: string) => string
}[] = [
  {
    what: 'an address',
    scope: 'address',
    recipient: (domain) => `lena@${domain}`,
    value: (domain) => `lena@${domain}`,
  },
  {
    what: 'an address in another case',
    scope: 'address',
    recipient: (domain) => `Lena.Moss@${domain.toUpperCase()}`,
    value: (domain) => `lena.moss@${domain}`,
  },
  { what: 'a domain', scope: 'domain', recipient: (domain) => `anybody@${domain}`, value: (domain) => domain },
]

for (const { what, scope, recipient, value } of SUPPRESSED) {
  t.test(`${what} suppressed between accept and delivery is dropped, and nothing is on the wire`, async (t) => {
    const host = await internet.host(t)
    const domain = internet.domain([host])
    const id = await internet.send(recipient(domain), { schedule: ahead(30) })
    t.equal((await internet.story(id)).deliveries[0]?.state, 'scheduled')
    await service.core.suppressions.add({
      accountId: sender.accountId,
      scope,
      value: value(domain),
      reason: 'unsubscribe',
    })
    await advance(31)
    const dropped = await internet.inState(id, 'dropped')
    t.match(dropped, { reason: 'unsubscribe', attempt: 0, nextAt: null, finishedAt: Date })
    t.strictSame(dropped.attempts, [], 'nothing was tried')
    const { events } = await internet.story(id)
    t.match(
      events.map(({ type, detail }) => [type, detail]),
      [
        ['processed', null],
        ['dropped', { reason: 'unsubscribe' }],
      ],
    )
    t.equal(host.sessions, 0)
  })
}

t.test('a deferred delivery whose recipient was suppressed meanwhile is dropped at its next turn', async (t) => {
  const host = await internet.host(t, { rcpt: () => '451 4.7.1 greylisted' })
  const id = await internet.send(`mina@${internet.domain([host])}`)
  const { recipient } = await internet.inState(id, 'deferred')
  await service.core.suppressions.add({
    accountId: sender.accountId,
    scope: 'address',
    value: recipient,
    reason: 'abuse',
  })
  await advance(10)
  const dropped = await internet.inState(id, 'dropped')
  t.match(dropped, { reason: 'abuse', attempt: 1 })
  t.match(dropped.attempts, [{ attempt: 1, outcome: 'deferred' }], 'the attempt that was made is kept')
  t.equal(host.commands.filter((line) => line.startsWith('RCPT')).length, 1)
  t.strictSame(
    (await internet.story(id)).events.map(({ type }) => type),
    ['processed', 'deferred', 'dropped'],
  )
})

t.test('one suppressed recipient of a message leaves the others theirs', async (t) => {
  const before = ({ before }: SinkStep): string | undefined => (before === 0 ? '451 4.7.1 greylisted' : undefined)
  const host = await internet.host(t, { rcpt: before })
  const domain = internet.domain([host])
  const relay = await internet.openRelay(t)
  const from = `desk@${sender.domain}`
  const id = await relay.submit(
    from,
    [`one@${domain}`, `two@${domain}`],
    `From: ${from}\r\nSubject: Berth 4\r\n\r\nReady.\r\n`,
  )
  for (const recipientNo of [0, 1]) await internet.inState(id, 'deferred', recipientNo)
  await service.core.suppressions.add({
    accountId: sender.accountId,
    scope: 'address',
    value: `one@${domain}`,
    reason: 'manual',
  })
  await advance(10)
  await internet.inState(id, 'dropped', 0)
  await internet.inState(id, 'delivered', 1)
  t.strictSame(
    host.messages.map(({ to }) => to),
    [[`two@${domain}`]],
  )
})

t.test("another account's suppression changes nothing", async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain([host])
  const other = await service.makeSender()
  const id = await internet.send(`nora@${domain}`, { schedule: ahead(30) })
  for (const [scope, value] of [
    ['address', `nora@${domain}`],
    ['domain', domain],
  ] as const)
    await service.core.suppressions.add({ accountId: other.accountId, scope, value, reason: 'abuse' })
  await advance(31)
  await internet.inState(id, 'delivered')
  t.equal(host.messages.length, 1)
})

t.test(
  'a recipient suppressed in the middle of the conversation gets nothing: the final dot is not written',
  async (t) => {
    // What the service does behind the script's back, when the server says that it will take the message.
    const host = await internet.host(t, {
      async data() {
        await service.core.suppressions.addAll({
          accountId: sender.accountId,
          emails: [`last@${domain}`],
          reason: 'unsubscribe',
        })
        return undefined
      },
    })
    const domain = internet.domain([host])
    const id = await internet.send(`Last@${domain}`)
    const dropped = await internet.inState(id, 'dropped')
    t.match(dropped, { reason: 'unsubscribe', attempt: 0, nextAt: null, finishedAt: Date })
    t.ok(host.commands.includes('DATA'), 'it was that late')
    t.strictSame(host.messages, [])
    t.match((await internet.story(id)).events.at(-1), { type: 'dropped', detail: { reason: 'unsubscribe' } })
    const next = await internet.send(`next@${domain}`)
    await internet.inState(next, 'delivered')
    t.strictSame(
      host.messages.map(({ to }) => to),
      [[`next@${domain}`]],
      'the site goes on with the others',
    )
  },
)

t.test("the operator's suppression of a domain holds every account's mail", async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain([host])
  const id = await internet.send(`nora@${domain}`, { schedule: ahead(30) })
  await service.core.suppressions.addAll({ accountId: 0, domains: [domain], reason: 'global' })
  const atAccept = await internet.send(`mina@${domain}`)
  t.match(await internet.inState(atAccept, 'dropped'), { reason: 'global' })
  await advance(31)
  t.match(await internet.inState(id, 'dropped'), { reason: 'global' })
  t.equal(host.sessions, 0)
})

t.test(
  'an address without a mailbox is suppressed by the bounce itself, and the next message to it dropped',
  async (t) => {
    const host = await internet.host(t, { rcpt: () => '550 5.1.1 no such user here' })
    const recipient = `Gone@${internet.domain([host])}`
    await internet.inState(await internet.send(recipient), 'bounced')
    t.match(await service.core.suppressions.holding(sender.accountId, recipient), [
      { scope: 'address', value: recipient.toLowerCase(), reason: 'hardbounce', global: false },
    ])
    t.match(await internet.inState(await internet.send(recipient), 'dropped'), { reason: 'hardbounce', attempt: 0 })
    t.equal(host.commands.filter((line) => line.startsWith('RCPT')).length, 1)
  },
)

for (const [what, script] of [
  ['a full mailbox', { rcpt: () => '552 5.2.2 mailbox full' }],
  ['a message that is refused as spam', { dot: () => '550 5.7.1 looks like spam' }],
  ['a sender the server does not know', { mail: () => '550 5.1.1 no such user' }],
  ['"unknown user" that is said of the message', { dot: () => '550 User unknown' }],
  ['a mailbox that is disabled', { rcpt: () => '550 5.2.1 mailbox disabled' }],
  ['a domain that accepts no mail', { rcpt: () => '550 5.7.27 Host does not accept mail' }],
] as const) {
  t.test(`${what} suppresses no one`, async (t) => {
    const host = await internet.host(t, script)
    const recipient = `kept@${internet.domain([host])}`
    await internet.inState(await internet.send(recipient), 'bounced')
    t.equal((await service.core.suppressions.holding(sender.accountId, recipient)).length, 0)
  })
}

for (const [what, script] of [
  ['has moved', { rcpt: () => '551 5.1.6 has moved' }],
  ['does not exist, as is said after the message with the code for it', { dot: () => '550 5.1.1 no such user' }],
] as const) {
  t.test(`an address that ${what}, is suppressed`, async (t) => {
    const host = await internet.host(t, script)
    const recipient = `gone@${internet.domain([host])}`
    await internet.inState(await internet.send(recipient), 'bounced')
    t.match(await service.core.suppressions.holding(sender.accountId, recipient), [{ reason: 'hardbounce' }])
  })
}

t.test('a return path the server does not know suppresses no one, though the reply is to the recipient', async (t) => {
  const host = await internet.host(t, {
    rcpt: () =>
      `550 5.1.1 <${/<(.*?)>/.exec(host.commands.findLast((line) => line.startsWith('MAIL')) ?? '')?.[1]}>: User unknown`,
  })
  const recipient = `kept@${internet.domain([host])}`
  const bounced = await internet.inState(await internet.send(recipient), 'bounced')
  t.match(bounced.attempts[0], { stage: 'rcpt', reply: /^<b-.*@.*>: User unknown$/ })
  t.equal((await service.core.suppressions.holding(sender.accountId, recipient)).length, 0)
})
