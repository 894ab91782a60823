import type { MessageDetails } from '@postrider/core'
import t from 'tap'
import { proves } from '../api/v3/conformance/proves.ts'
import { addWebhook, LOOPBACK, runLoops } from '../delivery/webhook-worker.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { until } from '../helpers/until.ts'
import { mail, openSession, shown } from './session.ts'
import { makeSmtpApiMail } from './smtpapi-mail.ts'

const { service, sender, sink, send, read, someone } = await makeSmtpApiMail(t, LOOPBACK)
const desk = `desk@${sender.domain}`

/** The states and reasons of a message's deliveries, and what its events say. */
function fates({ deliveries, events }: MessageDetails): unknown[] {
  return [
    ...deliveries.map(({ recipient, state, reason }) => [recipient, state, reason]),
    ...events.map(({ type, detail }) => [type, (detail as { reason?: string } | null)?.reason]),
  ]
}

/** Notices that came to this address so far. */
const notices = (to: string) => sink.messages.filter((message) => message.to.includes(to))

t.test(
  'invalid JSON: the message is accepted and dropped for each recipient, and its sender is notified',
  async (t) => {
    proves(t, 'smtpapi.invalid')
    const [ada, bob] = [someone(), someone()]
    const from = `told1@${sender.domain}`
    const client = await openSession(t, service, sender)
    const message = mail(sender, 'X-SMTPAPI: {"to":["x@harbor.example"\r\n')
    const reply = await client.submit(from, [ada, bob], message)
    t.match(reply, /^250 2\.0\.0 Ok: queued as /)
    const story = await shown(service, reply)
    t.strictSame(fates(story), [
      [ada, 'dropped', 'instructions'],
      [bob, 'dropped', 'instructions'],
      ['dropped', 'instructions'],
      ['dropped', 'instructions'],
    ])
    const [event] = story.events
    t.match(
      event?.detail,
      { reason: 'instructions', problem: /^X-SMTPAPI: must be valid JSON/ },
      'message show tells it',
    )
    const told = await read(from)
    t.strictSame(
      [told.from.value[0]?.address, told.to?.value[0]?.address, told.subject],
      [`postmaster@${sender.domain}`, from, 'Not delivered: Invalid SMTPAPI header'],
    )
    t.match(told.text, /X-SMTPAPI: must be valid JSON/)
    t.match(told.text, new RegExp(story.id))
    t.match(told.text, /Recipients: 2/)
    t.equal(told.headers.get('auto-submitted'), 'auto-generated')
    t.equal(notices(from)[0]?.from, '', 'it wants no bounce')
    t.equal(sink.messages.filter(({ to }) => to.includes(ada) || to.includes(bob)).length, 0)
  },
)

/** What is wrong with a field: its value, and what the sender is told. */
const WRONG: readonly [what: string, api: object | string, told: RegExp][] = [
  ['a list', '[]', /X-SMTPAPI: must be a JSON object/],
  ['no JSON at all', 'none', /must be valid JSON/],
  ['text where a number goes', { asm_group_id: '5' }, /asm_group_id: must be a whole number/],
  ['a group nobody knows', { asm_group_id: 4711 }, /asm_group_id: unsubscribe group does not exist/],
  [
    'a group beyond all numbers',
    { asm_group_id: 9_007_199_254_740_991 },
    /asm_group_id: unsubscribe group does not exist/,
  ],
  ['a batch nobody knows', { batch_id: 'none' }, /batch_id: batch does not exist or is closed/],
  ['send_at with send_each_at', { to: ['a@b.example'], send_at: 1, send_each_at: [1] }, /send_at: cannot be combined/],
  ['send_each_at for other recipients', { send_each_at: [1, 2] }, /send_each_at: must have one/],
  [
    'a dynamic template',
    { filters: { templates: { settings: { enable: 1, template_id: 'd-0123' } } } },
    /dynamic templates cannot be used/,
  ],
  [
    'a template nobody knows',
    { filters: { templates: { settings: { template_id: '11111111-2222-3333-4444-555555555555' } } } },
    /template_id: template does not exist/,
  ],
  [
    'two bypasses, one of them all',
    {
      filters: {
        bypass_list_management: { settings: { enable: 0 } },
        bypass_spam_management: { settings: { enable: 1 } },
      },
    },
    /filters\.bypass_list_management: cannot be combined/,
  ],
  ['unique_args beyond bounds', { unique_args: { a: 'x'.repeat(10_001) } }, /unique_args: must have at most/],
  [
    'unique_args that sub lets grow beyond bounds',
    { to: ['a@b.example'], sub: { '-x-': ['x'.repeat(3000)] }, unique_args: { a: '-x-'.repeat(4) } },
    /unique_args: must have at most .* after substitution/,
  ],
  [
    'more values than anybody could store',
    { to: Array(9000).fill('a@b.example'), sub: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [at, []])) },
    /sub: too large for this number of recipients/,
  ],
]

for (const [at, [what, api, told]] of WRONG.entries()) {
  t.test(`${what}: nothing is sent, and the sender is told by its path`, async (t) => {
    const from = `wrong${at}@${sender.domain}`
    const to = someone()
    const story = await send(api, { to, envelope: { from, to } })
    t.strictSame(fates(story), [
      [to, 'dropped', 'instructions'],
      ['dropped', 'instructions'],
    ])
    // Without the client's own keys, which may be anybody's address.
    t.match(story.events[0]?.detail, { problem: /^[\w-]+(\[\d+\])*: \S/ })
    t.match((await read(from)).text, told)
  })
}

t.test('another account’s group, batch and template are as if they never were', async (t) => {
  const { accountId } = await service.makeSender()
  const { core } = service
  const [{ id: group }, batch, { id: template }] = await Promise.all([
    core.groups.create(accountId, { name: 'Theirs', description: '', isDefault: false }),
    core.batches.create(accountId),
    core.editableTemplates.create({ accountId, name: 'Theirs', generation: 'legacy' }),
  ])
  await core.editableTemplates.addVersion({ accountId, id: template }, { name: 'v', subject: 's', html: '<%body%>' })
  const filters = { templates: { settings: { enable: 1, template_id: template } } }
  for (const api of [{ asm_group_id: group }, { batch_id: batch }, { filters }]) {
    const to = someone()
    const story = await send(api, { to, envelope: { from: '', to } })
    t.strictSame(fates(story).at(0), [to, 'dropped', 'instructions'])
  }
})

t.test('no credit is taken for what is dropped', async (t) => {
  const own = await service.makeSender()
  await service.core.credits.limit(own.accountId, 5)
  const to = someone()
  await send('{', { to, envelope: { from: '', to } }, own)
  t.equal((await service.core.credits.show(own.accountId)).available, 5)
})

t.test('MAIL FROM:<> is told nothing', async (t) => {
  const to = someone()
  const before = sink.messages.length
  const client = await openSession(t, service, sender)
  const story = await shown(service, await client.submit('', to, mail(sender, 'X-SMTPAPI: {\r\n')))
  t.strictSame(fates(story).at(0), [to, 'dropped', 'instructions'])
  const [{ count } = { count: -1 }] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from messages where id > ${story.id}::uuid`
  t.strictSame([count, sink.messages.length], [0, before])
})

t.test('one message is reported once, however often it is offered under one Idempotency-Key', async (t) => {
  const from = `once@${sender.domain}`
  const to = someone()
  const mailOf = { to, envelope: { from, to }, headers: { 'Idempotency-Key': 'wrong-1' } }
  const first = await send('{', mailOf)
  t.equal((await send('{', mailOf)).id, first.id)
  await read(from)
  const later = `later@${sender.domain}`
  await send('{', { to, envelope: { from: later, to } })
  await read(later)
  t.equal(notices(from).length, 1)
})

t.test('a notice that fails to be accepted does not keep the message from being', async (t) => {
  const own = await service.makeSender()
  await service.core.credits.limit(own.accountId, 0)
  const from = `desk@${own.domain}`
  const to = someone()
  t.strictSame(fates(await send('{', { to, envelope: { from, to } }, own)).at(0), [to, 'dropped', 'instructions'])
})

t.test('a sender on no domain of the account is refused as ever', async (t) => {
  await t.rejects(send('{', { from: 'desk@quay.example', envelope: { from: desk, to: someone() } }), { message: /550/ })
})

t.test('webhooks are told in the words of the mirrored service, and in ours', async (t) => {
  const own = await service.makeSender()
  const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
  const [v3, v2] = receivers.map(({ url }) => url) as [string, string]
  await addWebhook(service, own, v3, { format: 'v3', events: ['dropped'] })
  await addWebhook(service, own, v2, { format: 'v2', events: ['dropped'] })
  const loops = runLoops(t, service)
  const to = someone()
  await send('{', { to, envelope: { from: '', to } }, own)
  const bodies = await until('both', () => {
    const found = receivers.map((receiver) => receiver.batches()[0]?.body)
    return found.every((body) => body !== undefined) && found
  })
  const [first, second] = (bodies as string[]).map((body) => JSON.parse(body))
  t.match(first, [{ event: 'dropped', email: to, reason: 'Invalid SMTPAPI header' }])
  t.match(second, [{ EVENT: 'dropped', EMAIL: to, RESPONSE: 'Email dropped: Invalid X-SMTPAPI directives' }])
  await loops.stop()
})
