import t from 'tap'
import { proves } from '../api/v3/conformance/proves.ts'
import { until } from '../helpers/until.ts'
import { openSession, mail as rawMail, shown } from './session.ts'
import { makeSmtpApiMail, withoutTo } from './smtpapi-mail.ts'

const { service, sender, sink, send, arrived, read, someone } = await makeSmtpApiMail(t)
const desk = `desk@${sender.domain}`
const recipients = ({ deliveries }: { deliveries: readonly { recipient: string }[] }) =>
  deliveries.map(({ recipient }) => recipient)

t.test('to replaces the RCPT list: each gets a copy that names no other recipient in To', async (t) => {
  const [ada, bob, list] = [someone(), someone(), someone()]
  const story = await send({ to: [ada, bob] }, { to: list })
  t.strictSame(recipients(story), [ada, bob])
  for (const to of [ada, bob]) {
    const { data } = await arrived(to)
    t.strictSame((await read(to)).to?.value, [{ address: to, name: '' }])
    t.notMatch(data.toString(), /x-smtpapi/i)
    t.notOk(data.includes(list))
  }
  t.equal(sink.messages.filter(({ to }) => to.includes(list)).length, 0)
})

t.test('all of a MIME message but its To stays octet for octet, whatever its To looked like', async (t) => {
  const rest = [
    'X-First:  two  blanks\r\n',
    `From: Ship Desk <${desk}>\r\n`,
    'Subject: =?utf-8?Q?=C3=9Cberfahrt?=\r\nX-Odd:a\r\n\tb\r\nMessage-ID: <odd@ship.example>\r\n',
    'Date: Mon, 05 Jan 2026 10:00:00 +0100\r\nContent-Type: text/plain; charset=utf-8\r\n',
  ]
  const body = '\r\nTo: nobody\r\n\r\nReady\t \r\n'
  const tos = [
    '',
    'To: a@harbor.example,\r\n b@harbor.example\r\n',
    'TO : x@harbor.example\r\nTo: x@harbor.example\r\n',
  ]
  for (const [at, to] of tos.entries()) {
    const own = someone()
    const message = `X-SMTPAPI: {"to":["${own}"]}\r\n${rest.slice(0, 3).join('')}${to}${rest[3]}${body}`
    const client = await openSession(t, service, sender)
    await shown(service, await client.submit(desk, 'list@harbor.example', message))
    const copy = await arrived(own)
    t.equal(withoutTo(copy), `${rest.join('')}${body}`, `To number ${at}`)
    t.strictSame((await read(own)).to?.value, [{ address: own, name: '' }])
  }
})

t.test('without to the RCPT recipients stay, and the message is sent octet for octet', async (t) => {
  const own = someone()
  const message = rawMail(sender, 'X-First: 1\r\n')
  const client = await openSession(t, service, sender)
  const reply = await client.submit(desk, own, `X-SMTPAPI: {"category":"berths","to":[]}\r\n${message}`)
  t.match(reply, /^250 2\.0\.0 Ok: queued as [0-9a-f]{32}$/)
  t.strictSame((await shown(service, reply)).tags, ['berths'])
  const text = (await arrived(own)).data.toString()
  t.equal(text.slice(text.indexOf('X-First')), message)
})

t.test('a blank field and an empty object say nothing', async (t) => {
  for (const value of ['', ' ', '{}', '{"to":null,"sub":{}}']) {
    const own = someone()
    const client = await openSession(t, service, sender)
    const message = `X-SMTPAPI: ${value}\r\n${rawMail(sender, 'X-First: 1\r\n')}`
    t.strictSame(recipients(await shown(service, await client.submit(desk, own, message))), [own])
    const text = (await arrived(own)).data.toString()
    t.equal(text.slice(text.indexOf('X-First')), rawMail(sender, 'X-First: 1\r\n'))
  }
})

t.test('categories are tags, in addition to those of X-TAGS', async (t) => {
  t.strictSame((await send({ category: 'receipts' })).tags, ['receipts'])
  t.strictSame((await send({ category: ['a', 'b', 'a'] }, { headers: { 'X-TAGS': 'b, c' } })).tags, ['b', 'c', 'a'])
})

t.test('the first X-SMTPAPI counts, folded or not, and none of them is delivered', async (t) => {
  const own = someone()
  const fields = `X-Smtpapi: {"category":\r\n "one",\r\n\t"to":["${own}"]}\r\nX-SMTPAPI: {"category":"two"}\r\n`
  const client = await openSession(t, service, sender)
  const story = await shown(service, await client.submit(desk, 'list@harbor.example', rawMail(sender, fields)))
  t.strictSame([story.tags, recipients(story)], [['one'], [own]])
  t.notMatch((await arrived(own)).data.toString(), /smtpapi/i)
})

t.test('asm_group_id sets the group of the message; recipients who unsubscribed from it get nothing', async (t) => {
  proves(t, 'smtpapi.asm')
  const { accountId } = sender
  const { id } = await service.core.groups.create(accountId, { name: 'News', description: 'news', isDefault: false })
  const [gone, there] = [someone(), someone()]
  await service.sql`
    insert into suppressions (account_id, scope, value, group_id, reason, since)
    values (${accountId}, 'group', ${gone}, ${id}, 'unsubscribe', now())`
  const { deliveries, settings } = await send({ to: [gone, there], asm_group_id: id, asm_groups_to_display: [id] })
  t.match(settings, { group: id })
  t.strictSame(
    deliveries.map(({ reason }) => reason),
    ['unsubscribe', null],
  )
  const text = (await arrived(there)).data.toString()
  t.match(text, /^List-Unsubscribe: <http[^>]+>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n/m)
  t.match(text, /Unsubscribe From This List \( http\S+ \) \| Manage Email Preferences \( http\S+ \)/)
})

t.test('filters are the settings of this message, over X-SETTINGS', async (t) => {
  const on = await service.makeSender({ tracking: true })
  const filter = (enable: unknown) => ({ settings: { enable } })
  const off = { clicktrack: filter(0), opentrack: filter('0') }
  t.strictSame(Object.keys((await send({ filters: off }, {}, on)).settings as object), ['messageId'])
  const wanted = { clicktrack: filter(1), opentrack: filter('1'), subscriptiontrack: filter(1) }
  const headers = { 'X-SETTINGS': '{"clicktrack":0,"unsubscribe":0}' }
  const { settings } = await send({ filters: wanted }, { headers })
  t.match(settings, { openTracking: true, clickTracking: true, unsubscribe: true })
})

t.test('send_at keeps the message back; what has passed is now', async (t) => {
  const at = Math.floor(Date.now() / 1000) + 3600
  const later = await send({ send_at: at })
  t.strictSame([later.scheduledAt, later.deliveries[0]?.state], [new Date(at * 1000), 'scheduled'])
  const own = someone()
  t.equal((await send({ to: [own], send_at: at - 7200 })).scheduledAt, null)
  await arrived(own)
})

t.test('ip_pool names a pool of source addresses; any name as long as there are no pools', async (t) => {
  proves(t, 'smtpapi.ip_pool')
  const { sources } = service.core
  const own = someone()
  const before = await send({ to: [own], ip_pool: 'main' })
  t.strictSame(recipients(before), [own])
  await arrived(own)
  await sources.addPool('main', {})
  t.teardown(() => sources.removePool('main'))
  await until('the relay to know the pool', async () => {
    const wrong = await send({ to: [someone()], ip_pool: 'other' })
    return wrong.deliveries[0]?.state === 'dropped'
  })
  t.match((await send({ to: [someone()], ip_pool: 'main' })).settings, { pool: 'main' })
})

t.test('retired filters and unknown keys are accepted and have no effect', async (t) => {
  proves(t, 'smtpapi.retired')
  const [own, spy] = [someone(), someone()]
  const filters = {
    bcc: { settings: { enable: 1, email: spy } },
    spamcheck: { settings: { enable: 1, maxscore: 5 } },
    dkim: { settings: { domain: 'quay.example', use_from: true } },
    template: { settings: { enable: 1, 'text/html': '<b><% body %></b>' } },
    gravatar: { settings: { enable: 1 } },
  }
  t.strictSame(recipients(await send({ to: [own], filters, later: true })), [own])
  t.match((await read(own)).text, /^Ready\./)
})

t.test('more recipients than a transaction may have are one message', async (t) => {
  const to = Array.from({ length: 1200 }, (_, at) => `many${at}@harbor.example`)
  t.equal((await send({ to, send_at: Math.floor(Date.now() / 1000) + 3600 })).deliveries.length, 1200)
})

t.test('an invalid address in to is recorded as such, and the others get theirs', async (t) => {
  const own = someone()
  const { deliveries } = await send({ to: ['nobody', own] })
  t.strictSame(
    deliveries.map(({ state, reason }) => [state, reason]),
    [
      ['dropped', 'invalid'],
      [deliveries[1]?.state, null],
    ],
  )
  await arrived(own)
})

t.test('a key that may send to some domains is asked about to', async (t) => {
  const { secret } = await service.core.auth.createKey({
    accountId: sender.accountId,
    restrictions: { recipientDomains: ['harbor.example'] },
  })
  await t.rejects(send({ to: ['lena@quay.example'] }, {}, { ...sender, apiKey: secret }), { message: /550/ })
})

t.test('X-SETTINGS.bcc gets one copy, that of the first', async (t) => {
  const [ada, bob, books] = [someone(), someone(), someone()]
  const story = await send({ to: [ada, bob] }, { headers: { 'X-SETTINGS': JSON.stringify({ bcc: books }) } })
  t.strictSame(recipients(story), [ada, books, bob])
  t.strictSame((await read(books)).to?.value, [{ address: ada, name: '' }])
})

t.test('under one Idempotency-Key the same field is one message, and another one a conflict', async (t) => {
  const headers = { 'Idempotency-Key': 'steered-1' }
  const [ada, bob] = [someone(), someone()]
  const first = await send({ to: [ada] }, { headers })
  t.equal((await send({ to: [ada] }, { headers })).id, first.id)
  await t.rejects(send({ to: [bob] }, { headers }), { message: /554/ })
  await until('one copy', () => sink.messages.filter(({ to }) => to.includes(ada)).length === 1)
})
