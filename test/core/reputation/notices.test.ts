import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { addWebhook, runLoops } from '../../delivery/webhook-worker.ts'
import { moveClock } from '../../helpers/database.ts'
import { dueNow, tellOwners } from '../../helpers/owner-notices.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { countAll } from '../reporting/statistics/happen.ts'

const service = await makeService(t, {
  REPUTATION_RULES: 'standard',
  OPERATOR_MAIL: 'desk@operator.example',
  SERVICE_DOMAIN: 'post.example',
  WEBHOOK_PRIVATE_NETWORKS: 'allow',
})
const { sql, core } = service
const owner = await core.accounts.create(`service-${process.pid}`)
await service.giveKey('post.example')
await core.domains.add({ accountId: owner.id, name: 'post.example', state: 'active' })

interface Mail {
  readonly subject: string
  readonly to: string
  readonly text: string
}

/** Outcomes of an account's mail, counted and evaluated. */
async function happened({ accountId }: Sender, { sent, bounced }: { sent: number; bounced: number }) {
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, case when n <= ${sent}::int then 'sent' else 'bounced' end, gen_random_uuid(), 0,
           '{"attempt":1,"class":"bad-mailbox"}'
      from generate_series(1, ${sent + bounced}::int) n`
  await countAll(service)
  while ((await core.reputation.evaluateSome()).more);
}

/** The mail about an account, in order. */
async function mailAbout({ accountId }: Sender): Promise<Mail[]> {
  await tellOwners(service)
  const rows = await sql<Mail[]>`
    select m.subject, q.recipient as to, convert_from(b.content, 'utf8') as text
      from messages m join bodies b on b.message_id = m.id and b.part = 0 join delivery_queue q on q.message_id = m.id
     where m.account_id = ${owner.id} and m.subject like ${`%(${accountId})%`} order by m.id`
  return [...rows]
}

const statesOf = async ({ accountId }: Sender) =>
  (
    await sql<{ state: string }[]>`select state from owner_notices where account_id = ${accountId} order by subject`
  ).map(({ state }) => state)

t.test(
  'the operator is notified of a warned account without an address, with the figures and what to do, once',
  async (t) => {
    const sender = await service.makeSender()
    await happened(sender, { sent: 1000, bounced: 48 })
    const mail = await mailAbout(sender)
    t.match(mail, [
      { subject: `Mail of the account ${sender.accountName} (${sender.accountId}) may soon be slowed or held` },
    ])
    t.equal(mail[0]?.to, 'desk@operator.example')
    for (const part of ['Rule: bounces', 'hard bounces: 48', 'share: 4.58 %', 'Send only to people who want'])
      t.match(mail[0]?.text, part)
    await sql`update owner_notices set state = 'waiting' where account_id = ${sender.accountId}`
    await sql`update owner_notice_mails set tries = 1, due_at = service_now() where account_id = ${sender.accountId}`
    t.equal((await mailAbout(sender)).length, 1, 'also if the process died before it noted that')
  },
)

t.test('the owner of a held subaccount is told at its own address, once per rule and day', async (t) => {
  const sender = await service.makeSender()
  await sql`update accounts set email = 'owner@fleet.example' where id = ${sender.accountId}`
  await happened(sender, { sent: 300, bounced: 60 })
  const mail = await mailAbout(sender)
  t.match(mail, [
    { to: 'owner@fleet.example', subject: `2 notices about the account ${sender.accountName} (${sender.accountId})` },
  ])
  t.match([...(mail[0]?.text ?? '').matchAll(/Rule: ([\w-]*)/g)].map(([, rule]) => rule).sort(), [
    'bounces',
    'unknown-recipients',
  ])
  t.match(mail[0]?.text, 'Bulk mail of the account')
  await core.reputation.release(sender.accountId)
  await happened(sender, { sent: 300, bounced: 60 })
  t.equal((await mailAbout(sender)).length, 1, 'a second hold of the same day')
  await core.reputation.release(sender.accountId)
  await moveClock(sql, '25 hours')
  await happened(sender, { sent: 300, bounced: 60 })
  t.equal((await mailAbout(sender)).length, 2, 'and one of the next day')
})

t.test('two processes that send notices at once send each once', async (t) => {
  const senders = await Promise.all([1, 2, 3, 4].map(() => service.makeSender()))
  for (const { accountId } of senders) await core.reputation.hold({ accountId, reason: 'a question' })
  await Promise.all([1, 2, 3].map(() => tellOwners(service)))
  for (const sender of senders) t.equal((await mailAbout(sender)).length, 1)
})

t.test('the account setting switches notices off, and a release needs none', async (t) => {
  const sender = await service.makeSender()
  const settings = await core.accounts.settings.change(sender.accountId, { accountNotices: false }, OPERATOR)
  t.equal(settings.accountNotices, false)
  await core.reputation.hold({ accountId: sender.accountId, reason: 'a question' })
  t.strictSame(await mailAbout(sender), [])
  t.strictSame(await statesOf(sender), ['off'])
  const other = await service.makeSender()
  await core.reputation.hold({ accountId: other.accountId, reason: 'a question' })
  t.match(await mailAbout(other), [{ subject: /is held$/, text: /the operator of this service holds it/ }])
  await core.reputation.release(other.accountId)
  t.equal((await mailAbout(other)).length, 1)
})

t.test('a notice that cannot be accepted is tried again, and given up after 20 hours', async (t) => {
  const sender = await service.makeSender()
  await core.accounts.suspend(owner.id)
  await core.reputation.hold({ accountId: sender.accountId, reason: 'a question' })
  await dueNow(service)
  const round = await until('a round', () => core.people.notices.sendSome())
  t.match(round, { accountId: sender.accountId, problem: /suspended/i })
  t.strictSame(await statesOf(sender), ['waiting'])
  await moveClock(sql, '47 hours')
  await core.accounts.resume(owner.id)
  t.strictSame(await mailAbout(sender), [])
  t.strictSame(await statesOf(sender), ['failed'])
})

t.test('webhooks that name the event get it in both formats, those for all events do not', async (t) => {
  const sender = await service.makeSender()
  runLoops(t, service)
  const [v2, v3, texts, all] = await Promise.all([1, 2, 3, 4].map(() => startReceiver(t)))
  if (!v2 || !v3 || !texts || !all) return
  const url = await service.openApi()
  const create = (body: object) =>
    fetch(`${url}/v2/webhooks`, {
      method: 'POST',
      headers: { api_key: sender.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  t.equal((await create({ url: v2.url, events: 'account', eventIds: 1 })).status, 200)
  t.equal((await create({ url: v3.url, events: 'account', format: 'v3' })).status, 200)
  t.equal((await create({ url: all.url, events: 'all' })).status, 200)
  await addWebhook(service, sender, texts.url, { events: ['account'], asText: true, eventIds: false })
  await core.reputation.hold({ accountId: sender.accountId, reason: 'a question', classes: [2] })
  await until('the requests', () => [v2, v3, texts].every((one) => one.batches().length > 0))
  const bodyOf = (one: typeof v2) => JSON.parse(one.batches()[0]?.body ?? '[]') as Record<string, unknown>[]
  const [first] = bodyOf(v2)
  t.match(first, {
    EVENT: 'account',
    RULE: 'operator',
    BEFORE: 'good',
    AFTER: 'held',
    CLASSES: 'bulk',
    FIGURES: {},
    EVENTID: /^evt_/,
  })
  t.type(first?.TIMESTAMP, 'number')
  t.match(bodyOf(v3), [
    {
      event: 'account',
      sg_event_id: /^evt_/,
      rule: 'operator',
      before: 'good',
      after: 'held',
      classes: ['bulk'],
      figures: {},
    },
  ])
  t.match(bodyOf(texts), [{ EVENT: 'account', TIMESTAMP: /^\d+$/, FIGURES: '{}' }])
  t.strictSame(all.batches(), [])
})

t.test('without SERVICE_DOMAIN no notice is sent, and none is left over', async (t) => {
  const other = await makeService(t)
  const { accountId } = await other.makeSender()
  await other.core.reputation.hold({ accountId, reason: 'a question' })
  t.equal(await other.core.people.notices.sendSome(), undefined)
  await moveClock(other.sql, '367 days')
  await other.core.people.forgetOld()
  t.strictSame([...(await other.sql`select 1 from owner_notices`)], [])
})
