import { OPERATOR } from '@postrider/core'
import t, { type Test } from 'tap'
import { answered, postrider } from '../cli/postrider.ts'
import { startDns } from '../helpers/dns.ts'
import { tellOwners } from '../helpers/owner-notices.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startOutbox } from './outbox.ts'
import { untilParkedAt } from './parked.ts'

async function start(t: Test, settings: Record<string, string> = {}) {
  const [sink, dns] = [await startSink(t), await startDns(t, {})]
  const outbox = await startOutbox(t, {
    DELIVERY: `smtp://127.0.0.1:${sink.port}`,
    DNS_SERVERS: dns.address,
    RETURN_PATH_HOST: 'returns.relay.test',
    ...settings,
  })
  const { service } = outbox
  const { core, config } = service

  /** Publishes the records of a domain, or those of some purposes only, and checks it. */
  async function publish({ domain, accountId }: Sender, ...purposes: string[]): Promise<void> {
    const { dns: records } = await core.domains.show(domain, accountId)
    for (const { type, host, value, purpose } of records)
      if (purposes.includes(purpose)) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
    await core.domains.verify(accountId, domain, OPERATOR)
  }
  const withLinks = { class: 'bulk', unsubscribe: true }
  return {
    outbox,
    service,
    publish,
    /** Sends a message of the class bulk with added unsubscribe links, unless `extra` has other settings. */
    async send(sender: Sender, extra: object = {}): Promise<string> {
      const body = v2Body(sender, {
        personalizations: [{ recipient: 'lena@harbor.example' }],
        settings: withLinks,
        ...extra,
      })
      const answer = await sendV2(`http://127.0.0.1:${config.apiPort}`, sender.apiKey, body)
      const id = answer.body.data?.message_id
      if (!id) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`)
      return id
    },
    set: (sender: Sender, requirements: 'warn' | 'hold' | null) =>
      core.accounts.settings.change(sender.accountId, { requirements }, OPERATOR),
    why: async (messageId: string) => (await core.messages.why({ messageId }))?.deliveries[0],
  }
}

const { outbox, service, publish, send, set, why } = await start(t)
const { core, env } = service

t.test('without a setting bulk mail of a domain that lacks something is sent', async (t) => {
  const sender = await service.makeSender()
  await publish(sender, 'dkim', 'spf')
  t.match(await core.domains.show(sender.domain), { state: 'active' })
  await outbox.inState(await send(sender, { settings: { class: 'bulk' } }), 'delivered')
})

t.test('bulk mail of a domain that lacks what large receivers demand waits until a check finds it', async (t) => {
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  await publish(sender, 'dkim', 'spf')
  await publish(other, 'dkim', 'spf')
  await answered(env, 'account', 'settings', String(sender.accountId), '--requirements', 'hold')
  const place = `domain:${sender.domain}`
  const first = await untilParkedAt(service, place, (no) => send(sender, { subject: `Sale ${no}` }))
  const second = await send(sender)
  t.match(await why(first), {
    waitingFor: 'account-held',
    text: new RegExp(
      `^Bulk mail of ${sender.domain} is held, because .* of large senders: a DMARC record\\. It is sent once a check`,
    ),
  })
  t.match((await postrider(env, 'queue')).stdout, new RegExp(`^\\(${sender.domain} held\\) `, 'm'))
  await outbox.inState(await send(sender, { settings: { class: 'normal' } }), 'delivered')
  await outbox.inState(await send(other), 'delivered')
  await until('the second to wait', async () => (await why(second))?.waitingFor === 'account-held')
  const holdsOf = async ({ accountId }: Sender) =>
    (await answered<{ holds: object[] }>(env, 'account', 'standing', String(accountId))).holds
  t.strictSame(await holdsOf(other), [])
  t.match(await holdsOf(sender), [{ rule: 'requirements', level: 'held', classes: ['bulk'], figures: { domains: 1 } }])
  t.match(
    (await postrider(env, 'account', 'standing')).stdout,
    new RegExp(`^${sender.accountId} +requirements +held`, 'm'),
  )
  const checked = await postrider(env, 'domain', 'check', sender.domain)
  t.match(checked.stdout, /^warning: bulk mail of the domain is held until it has what is missing$/m)

  await publish(sender, 'dmarc')
  for (const id of [first, second]) await outbox.inState(id, 'delivered')
  t.strictSame(await holdsOf(sender), [])
  t.notMatch((await postrider(env, 'domain', 'check', sender.domain)).stdout, 'bulk mail of the domain is held')
})

t.test(
  'bulk mail without one-click unsubscription waits, and is sent when the account no longer holds it',
  async (t) => {
    const sender = await service.makeSender()
    await publish(sender, 'dkim', 'spf', 'dmarc')
    await set(sender, 'hold')
    const settings = { class: 'bulk' }
    const id = await untilParkedAt(service, 'account:one-click', (no) =>
      send(sender, { settings, subject: `Sale ${no}` }),
    )
    t.match(await why(id), { waitingFor: 'account-held', text: /^Bulk mail without one-click unsubscription/ })
    await outbox.inState(await send(sender), 'delivered')
    const headers = {
      'List-Unsubscribe': '<https://a.example/u>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }
    const own = { settings, personalizations: [{ recipient: 'lena@harbor.example', 'x-headers': headers }] }
    await outbox.inState(await send(sender, own), 'delivered')
    await set(sender, null)
    await outbox.inState(id, 'delivered')
  },
)

t.test('a domain of which nothing is known yet is not held', async () => {
  const sender = await service.makeSender()
  await set(sender, 'hold')
  await untilParkedAt(service, 'account:one-click', (no) =>
    send(sender, { settings: { class: 'bulk' }, subject: `Sale ${no}` }),
  )
  await outbox.inState(await send(sender), 'delivered')
})

t.test('a subaccount that holds such mail does so of a domain of its parent, whose own mail is sent', async () => {
  const parent = await service.makeSender()
  const account = (await core.accounts.list()).find(({ id }) => id === parent.accountId)
  const { secret } = await core.subaccounts.create(account as NonNullable<typeof account>, {
    username: 'pier',
    email: 'pier@ship.example',
    password: undefined,
    creditType: 'unlimited',
  })
  await core.domains.share(parent.accountId, { name: parent.domain, shared: true }, OPERATOR)
  await publish(parent, 'dkim', 'spf')
  const { account: own } = await core.auth.authenticate(secret, '127.0.0.1')
  const sender = { ...parent, accountId: own.id, apiKey: secret }
  await set(sender, 'hold')
  const place = `domain:${parent.domain}`
  const id = await untilParkedAt(service, place, (no) => send(sender, { subject: `Sale ${no}` }))
  await outbox.inState(await send(parent), 'delivered')
  await publish(parent, 'dmarc')
  await outbox.inState(id, 'delivered')
})

t.test('the operator holds such mail of all accounts but those that have set otherwise', async (t) => {
  const held = await start(t, { REQUIREMENTS: 'hold' })
  const [sender, other] = [await held.service.makeSender(), await held.service.makeSender()]
  await held.set(other, 'warn')
  for (const one of [sender, other]) await held.publish(one, 'dkim', 'spf')
  const id = await untilParkedAt(held.service, `domain:${sender.domain}`, (no) =>
    held.send(sender, { subject: `Sale ${no}` }),
  )
  await held.outbox.inState(await held.send(other), 'delivered')
  await held.set(sender, 'warn')
  await held.outbox.inState(id, 'delivered')
})

t.test(
  'when bulk mail of a domain begins to wait, its account is told once, and the feed has when it ends',
  async (t) => {
    const settings = { REQUIREMENTS: 'hold', SERVICE_DOMAIN: 'post.example', OPERATOR_MAIL: 'desk@operator.example' }
    const told = await start(t, settings)
    const { service } = told
    const owner = await service.core.accounts.create(`service-${process.pid}`)
    await service.giveKey('post.example')
    await service.core.domains.add({ accountId: owner.id, name: 'post.example', state: 'active' })
    const [sender, other] = [await service.makeSender(), await service.makeSender()]
    await told.set(other, 'warn')
    await service.sql`update accounts set email = 'owner@fleet.example' where id = ${sender.accountId}`
    await told.publish(other, 'dkim', 'spf')
    await told.publish(sender, 'dkim', 'spf')
    await told.publish(sender)
    await tellOwners(service)
    const mail = await service.sql<{ subject: string; to: string; text: string }[]>`
    select m.subject, f.recipient as to, convert_from(b.content, 'utf8') as text
      from messages m join bodies b on b.message_id = m.id and b.part = 0 join deliveries f on f.message_id = m.id
     where m.account_id = ${owner.id}`
    t.strictSame(mail.map(({ to }) => to).sort(), ['desk@operator.example', 'owner@fleet.example'], 'and the operator')
    t.match(mail[0]?.subject, /\(\d+\) is held$/)
    for (const part of [
      'Bulk mail of the account',
      'Rule: requirements',
      `- ${sender.domain}`,
      'waits until a check finds',
    ])
      t.match(mail[0]?.text, part)
    await told.publish(sender, 'dkim', 'spf', 'dmarc')
    const events = await service.sql<{ detail: object; accountId: number }[]>`
    select account_id as "accountId", detail from events where type = 'account' order by occurred_at`
    const of = { rule: 'requirements', domain: sender.domain }
    t.match(events, [
      {
        accountId: sender.accountId,
        detail: { ...of, before: 'good', after: 'held', classes: ['bulk'], figures: { domains: 1 } },
      },
      { accountId: sender.accountId, detail: { ...of, before: 'held', after: 'good', figures: { domains: 0 } } },
    ])
    t.equal(events.length, 2)
  },
)
