import t from 'tap'
import { happen } from '../../core/reporting/statistics/happen.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { until } from '../../helpers/until.ts'
import { proves } from './conformance/proves.ts'
import { toLena } from './mail.ts'
import { makeMailArrivals, messageIdOf } from './mail-arrivals.ts'

const { service, sender, send, copies } = await makeMailArrivals(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow' })
const { core, sql } = service
const { accountId } = sender
const receiver = await startReceiver(t)
await core.webhooks.create(accountId, {
  url: receiver.url,
  events: ['processed', 'sent', 'dropped', 'clicked'],
  format: 'v3',
  asText: false,
  abuse: false,
  eventIds: true,
  headers: {},
  enabled: true,
  names: null,
  label: '',
  signed: false,
})

type Told = Readonly<Record<string, unknown>>

/** The events of one message as the receiver got them. */
function toldOf(answer: Awaited<ReturnType<typeof send>>, count: number): Promise<Told[]> {
  const id = String(answer.headers['x-message-id'])
  return until(`${count} events`, () => {
    const all = receiver.batches().flatMap(({ body }) => JSON.parse(body) as Told[])
    const own = all.filter(({ sg_message_id: name }) => String(name).startsWith(id))
    return own.length >= count && own
  })
}

t.test('custom_args are fields of every event; those of a personalization override those of the message', async (t) => {
  proves(t, 'custom_args')
  const answer = await send({
    custom_args: { order: '4711', tenant: 'eu', email: 'spy@quay.example', constructor: 'own', 'smtp-id': 'x' },
    categories: ['receipts'],
    personalizations: [
      { to: [{ email: 'r0@harbor.example' }], custom_args: { order: '1', seat: 'ü <b>' } },
      { to: [{ email: 'r1@harbor.example' }] },
    ],
  })
  await copies(answer, 2)
  const told = await toldOf(answer, 4)
  t.strictSame(told.map(({ event, email, order, tenant, seat }) => [event, email, order, tenant, seat].join()).sort(), [
    'delivered,r0@harbor.example,1,eu,ü <b>',
    'delivered,r1@harbor.example,4711,eu,',
    'processed,r0@harbor.example,1,eu,ü <b>',
    'processed,r1@harbor.example,4711,eu,',
  ])
  for (const one of told) {
    t.match(one['smtp-id'], /@/, 'reserved names win')
    t.equal(Object.getOwnPropertyDescriptor(one, 'constructor')?.value, 'own')
    t.strictSame(one.category, ['receipts'])
    t.equal(one.asm_group_id, undefined)
  }
})

t.test('smtp-id is the Message-ID of the mail, the service’s and the client’s own', async (t) => {
  const own = '<own-1@quay.example>'
  const answer = await send({
    personalizations: [
      { to: [{ email: 'r2@harbor.example' }], cc: [{ email: 'r3@harbor.example' }] },
      { to: [{ email: 'r4@harbor.example' }] },
      { to: [{ email: 'r5@harbor.example' }], headers: { 'Message-ID': own } },
    ],
  })
  const arrived = await copies(answer, 3)
  const told = await toldOf(answer, 8)
  const idOf = (email: unknown) => arrived.find(({ recipient }) => recipient === email)?.mail.messageId ?? own
  for (const { email, 'smtp-id': id } of told) t.equal(id, idOf(email))
  t.ok(told.some((one) => one['smtp-id'] === own))
})

t.test('send_at of processed is each recipient’s own', async (t) => {
  const at = Math.floor(Date.now() / 1000) + 3600
  const answer = await send({
    personalizations: [
      { to: [{ email: 'r6@harbor.example' }], send_at: at },
      { to: [{ email: 'r7@harbor.example' }], send_at: at + 60 },
    ],
  })
  const told = await toldOf(answer, 2)
  t.strictSame(told.map(({ email, send_at: own }) => [email, own]).sort(), [
    ['r6@harbor.example', at],
    ['r7@harbor.example', at + 60],
  ])
})

t.test(
  'events have the pool that the message named, the address of the source, and the index of a clicked link',
  async (t) => {
    proves(t, 'event-fields')
    const answer = await send({ ip_pool_name: 'transactional', ...toLena({}) })
    await copies(answer)
    await core.sources.addPool('transactional', {})
    await core.sources.add({ name: 'north', pool: 'transactional', address: '127.0.0.7', helo: 'north.example.com' })
    const messageId = messageIdOf(answer)
    await happen(
      service,
      accountId,
      {
        type: 'sent',
        messageId,
        detail: { attempt: 1, host: 'mx.harbor.example', source: 'north', code: 250, reply: 'ok' },
      },
      { type: 'clicked', messageId, detail: { url: 'https://quay.example/', link: 2, ip: '192.0.2.1' } },
    )
    const told = await toldOf(answer, 4)
    t.strictSame([...new Set(told.map(({ pool }) => JSON.stringify(pool)))], ['{"name":"transactional"}'])
    t.strictSame(
      told.filter(({ event, ip }) => event === 'delivered' && ip !== undefined).map(({ ip }) => ip),
      ['127.0.0.7'],
    )
    t.match(
      told.find(({ event }) => event === 'click'),
      { url_offset: { index: 2 }, ip: '192.0.2.1' },
    )
  },
)

t.test('v2’s own events say nothing of them', async (t) => {
  const answer = await send({ custom_args: { order: '4712' } })
  await copies(answer)
  await toldOf(answer, 2)
  const [found] = await sql<{ personal: unknown }[]>`
    select personal from finished_deliveries where personal::text like '%4712%'`
  t.match(found?.personal, { customArgs: { order: '4712' } }, 'they are kept with the delivery')
  const { events } = await core.events.read({ accountId, after: 0, limit: 1000 })
  const own = events.filter(({ delivery }) => delivery?.messageId === messageIdOf(answer))
  t.strictSame(
    own.map(({ delivery }) => delivery?.customArgs),
    own.map(() => ({ order: '4712' })),
  )
})

t.test('P19: an unknown template is told as a dropped event, with what it was called for and its group', async (t) => {
  const { id } = await core.groups.create(accountId, { name: 'News', description: 'd', isDefault: false })
  const answer = await send({
    template_id: 'd-5f3b2c1a9e8d4f7ab6c5d4e3f2a1b0c9',
    asm: { group_id: id },
    ...toLena({ custom_args: { order: 'o-9' } }),
  })
  const [event, ...others] = await toldOf(answer, 1)
  t.match(event, {
    event: 'dropped',
    reason: 'Invalid SMTPAPI header',
    email: 'lena@harbor.example',
    order: 'o-9',
    asm_group_id: id,
  })
  t.strictSame(others, [])
})
