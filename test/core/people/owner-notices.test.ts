import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { noteExpiringKeys } from '../../../packages/core/src/accounts/notices/expiring-keys.ts'
import { createColleagueLook } from '../../../packages/core/src/people/notices/colleagues.ts'
import { moveClock } from '../../helpers/database.ts'
import { startDns } from '../../helpers/dns.ts'
import { dueNow, tellOwners } from '../../helpers/owner-notices.ts'
import { answer, onBatches, startReceiver } from '../../helpers/receiver.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { countAll, happen } from '../reporting/statistics/happen.ts'
import { acceptMessage } from '../submission.ts'
import { newPerson } from './people.ts'

const dns = await startDns(t, {})
const service = await makeService(t, {
  SERVICE_DOMAIN: 'post.example',
  WEBHOOK_PRIVATE_NETWORKS: 'allow',
  DNS_SERVERS: dns.address,
  RETURN_PATH_HOST: 'returns.test',
})
const { sql, core } = service
const installation = await core.accounts.create(`service-${process.pid}`)
await service.giveKey('post.example')
await core.domains.add({ accountId: installation.id, name: 'post.example', state: 'active' })

/** The mail about an account that was sent so far, in order. */
async function mailAbout({ accountId }: Pick<Sender, 'accountId'>) {
  const rows = await sql<{ subject: string; to: string; text: string }[]>`
    select m.subject, q.recipient as to, convert_from(b.content, 'utf8') as text
      from messages m join bodies b on b.message_id = m.id and b.part = 0 join delivery_queue q on q.message_id = m.id
     where m.account_id = ${installation.id} and m.subject like ${`%${accountId})%`} order by m.id`
  return [...rows]
}

/** A user who logs in elsewhere. */
async function makeOwner({ accountId }: Sender) {
  const { name, email } = newPerson()
  const userId = await core.people.users.create({ name, email }, OPERATOR)
  await core.people.members.add(accountId, userId, 'owner', OPERATOR)
  return email
}

/** Events of the account that the feed has, of one type. */
async function fed({ accountId }: Sender, type: 'domain_inactive' | 'webhook_disabled' | 'key_expiring') {
  await countAll(service)
  const { signal } = new AbortController()
  return (await core.events.feed({ accountId, after: 0, limit: 1000, types: [type], milliseconds: 0, signal })).events
}

/** A domain whose records are those of this account, and of no other. */
async function prove({ accountId }: Sender, name: string): Promise<void> {
  const claim = await core.domains.add({ accountId, name })
  for (const host of Object.keys(dns.zones)) dns.zones[host] = {}
  for (const { type, host, value } of claim.dns) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
  await core.domains.verify(accountId, name, { keyId: null, address: null })
}

/** Sends an event to the webhooks of the account. */
async function tell(sender: Sender): Promise<void> {
  const { messageId } = await acceptMessage(service, sender)
  await happen(service, sender.accountId, { type: 'sent', messageId })
  await deliver()
}

async function deliver(): Promise<void> {
  await countAll(service)
  await core.webhooks.notice()
  for (let claimed = await core.webhooks.claim(10); claimed; claimed = await core.webhooks.claim(10)) {
    for (const batch of claimed) await core.webhooks.deliver(batch, new AbortController().signal)
  }
}

const HOOK = {
  events: ['sent', 'webhook_disabled'],
  format: 'v2',
  asText: false,
  abuse: false,
  eventIds: false,
  headers: {},
  enabled: true,
  names: null,
  label: '',
  signed: true,
} as const

t.test(
  'a webhook that is disabled is told to the owners and to the other webhooks, without the query of its URL',
  async (t) => {
    const sender = await service.makeSender()
    const owner = await makeOwner(sender)
    const [gone, other] = [await startReceiver(t, onBatches(answer(410))), await startReceiver(t)]
    const { webhook } = await core.webhooks.create(sender.accountId, { ...HOOK, url: `${gone.url}?token=hush` })
    await core.webhooks.create(sender.accountId, { ...HOOK, url: other.url })
    await tell(sender)
    t.match(await core.webhooks.show(sender.accountId, webhook.id), { enabled: false, disabledReason: 'gone' })
    await deliver()
    const told = other.batches().flatMap(({ body }) => JSON.parse(body) as Record<string, unknown>[])
    t.match(told, [
      { EVENT: 'sent' },
      { EVENT: 'webhook.disabled', WEBHOOK: webhook.id, URL: `${gone.url}?…`, REASON: 'received status 410 Gone' },
    ])
    t.equal((await fed(sender, 'webhook_disabled')).length, 1)
    await tellOwners(service)
    const [mail, ...more] = await mailAbout(sender)
    t.strictSame(more, [])
    t.match(mail, { to: owner, subject: /^A webhook was disabled: / })
    for (const part of [
      'received status 410 Gone',
      'resume the webhook',
      `/app/${sender.accountId}/webhooks/${webhook.id}`,
    ])
      t.match(mail?.text, part)
    t.notMatch(mail?.text, 'hush')
  },
)

t.test('a domain that ceases to be active is told, one that is deleted is not', async (t) => {
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  await makeOwner(sender)
  const name = `${sender.accountName}.lost.example`
  await prove(sender, name)
  await prove(other, name)
  t.match(await fed(sender, 'domain_inactive'), [{ detail: { domain: name, before: 'active', after: 'pending' } }])
  await tellOwners(service)
  t.match(await mailAbout(sender), [{ subject: new RegExp(`^The domain ${name} is no longer active`) }])
  await makeOwner(other)
  await core.domains.remove(other.accountId, other.domain, OPERATOR)
  await tellOwners(service)
  t.strictSame(await mailAbout(other), [])
})

t.test('a key that expires is told once for each expiry; one that is replaced or short-lived is not', async (t) => {
  const sender = await service.makeSender()
  await makeOwner(sender)
  const at = (days: number) => new Date(Date.now() + days * 86_400_000)
  const make = (name: string, days: number) =>
    core.auth.createKey({ accountId: sender.accountId, name, restrictions: { until: at(days) } })
  const { key } = await make('shop', 20)
  await make('week', 7)
  const { key: replaced } = await make('old', 20)
  const { key: successor } = await core.auth.rotateKey(replaced.id, 24)
  await core.auth.revokeKey(successor.id)
  const look = async () => {
    // Another process, since each looks once a minute.
    await noteExpiringKeys(sql)
    return fed(sender, 'key_expiring')
  }
  t.strictSame(await look(), [])
  await moveClock(sql, '7 days')
  t.match(await look(), [{ detail: { key: key.id, keyName: 'shop', expiresAt: String } }])
  t.equal((await look()).length, 1)
  t.match((await core.people.notices.attention(sender.accountId)).keys, [{ id: key.id, name: 'shop' }])
  await tellOwners(service)
  t.match(await mailAbout(sender), [{ subject: /^The API key “shop” expires soon/, text: /Rotate it/ }])
  await moveClock(sql, '0 days')
})

t.test(
  'a member whose address the account suppresses is told to the owners, and what ended an import did',
  async (t) => {
    const sender = await service.makeSender()
    const email = await makeOwner(sender)
    t.equal((await core.people.notices.attention(sender.accountId)).colleagues.length, 0)
    await core.suppressions.add({ accountId: sender.accountId, scope: 'address', value: email, reason: 'manual' })
    t.match((await core.people.notices.attention(sender.accountId)).colleagues, [{ email, reason: 'manual' }])
    const look = createColleagueLook(sql)
    for (let round = 0; round < 3; round++) await look()
    const detail = { from: 'api.sendgrid.example', added: 12, unchanged: 3, rejected: 0, failure: '' }
    await core.people.notices.note({ accountId: sender.accountId, kind: 'import', subject: '', mark: 'now', detail })
    await tellOwners(service)
    const [mail, ...more] = await mailAbout(sender)
    t.strictSame(more, [])
    t.match(mail?.subject, /^2 notices about the account /)
    for (const part of [`A member of the account gets no mail from it: ${email}`, '12 added, 3 unchanged, 0 rejected'])
      t.match(mail?.text, part)
  },
)

t.test('notices that come within a minute are one mail, and there are at most four mails per day', async (t) => {
  const sender = await service.makeSender()
  await makeOwner(sender)
  const note = (subject: string, mark = subject) =>
    core.people.notices.note({
      accountId: sender.accountId,
      kind: 'domain',
      subject,
      mark,
      detail: { after: 'pending' },
    })
  const send = async (after: string) => {
    await moveClock(sql, after)
    while ((await core.people.notices.sendSome()) !== undefined);
    return (await mailAbout(sender)).length
  }
  await note('a.example')
  await note('b.example')
  await note('b.example')
  t.equal(await send('0 minutes'), 0, 'it waits for more')
  t.equal(await send('2 minutes'), 1)
  t.match((await mailAbout(sender))[0]?.text, /a\.example is no longer active.*b\.example is no longer active/s)
  await note('a.example')
  t.equal(await send('6 minutes'), 1, 'the same again')
  await note('a.example', 'later')
  t.equal(await send('5 hours'), 1)
  await note('c.example')
  t.equal(await send('7 hours'), 2, 'both in the next one')
  t.match((await mailAbout(sender))[1]?.subject, /^2 notices/)
  for (let hour = 7; hour < 31; hour++) {
    await note('d.example', String(hour))
    await send(`${hour} hours`)
  }
  t.equal((await mailAbout(sender)).length, 5, 'three more within the rest of the day')
  await moveClock(sql, '0 hours')
})

t.test('a kind that is muted is not sent, others are', async (t) => {
  const sender = await service.makeSender()
  await makeOwner(sender)
  await core.accounts.settings.change(sender.accountId, { mutedNotices: 'domain' }, OPERATOR)
  const note = (kind: 'domain' | 'key') =>
    core.people.notices.note({ accountId: sender.accountId, kind, subject: '1', mark: '1', detail: { name: 'shop' } })
  await note('domain')
  await note('key')
  await dueNow(service)
  await tellOwners(service)
  t.match(await mailAbout(sender), [{ subject: /^The API key “shop” expires soon/ }])
  const states = await sql`select kind, state from owner_notices where account_id = ${sender.accountId} order by kind`
  t.strictSame(
    [...states],
    [
      { kind: 'domain', state: 'off' },
      { kind: 'key', state: 'sent' },
    ],
  )
})
