import t, { type Test } from 'tap'
import { moveClock, stopClock } from '../../helpers/database.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { call, errorText, JSON_TYPE } from '../call.ts'

/** A key that handles keys never gets beyond its own rights by it. */
const service = await makeService(t)
const url = await service.openApi()
const { auth } = service.core

type Body = Record<string, unknown>
interface Made {
  readonly id: number
  readonly api_key: string
  readonly [name: string]: unknown
}

const ask = (apiKey: string, path: string, body: Body, headers: Record<string, string> = {}) =>
  call(url, { path: `/v2${path}`, headers: { ...JSON_TYPE, api_key: apiKey, ...headers }, body })
const done = async (apiKey: string, path: string, body: Body): Promise<Made> => {
  const { json, text } = await ask(apiKey, path, body)
  if (!json?.data) throw new Error(text)
  return json.data as Made
}
const beyond = async (t: Test, answer: ReturnType<typeof ask>, what: RegExp) => {
  const got = await answer
  t.match(got, { status: 403, json: { error_info: { error_code: 104 } } }, got.text)
  t.match(errorText(got), what)
}

const RIGHTS = {
  scopes: ['keys', 'send'],
  networks: ['127.0.0.0/8', '2001:db8::/32'],
  restrictions: {
    templates: [5, 6],
    sender_domains: ['ship.example', 'quay.example'],
    recipient_domains: ['harbor.example'],
    recipients_per_hour: 100,
    calls_per_minute: 1000,
    until: '2031-01-01T00:00:00.000Z',
  },
}
const bounded = async (sender: Sender) => done(sender.apiKey, '/keys', { name: 'bounded', ...RIGHTS })

/** What is more than the bounded key has, and what the refusal says. */
const MORE: readonly (readonly [what: string, change: Body, said: RegExp])[] = [
  ['another scope', { scopes: ['send', 'domains'] }, /not allowed to manage a key with the scope domains/],
  ['all scopes', { scopes: ['all'] }, /the scope all/],
  ['no networks', { networks: [] }, /other networks/],
  ['any networks', { networks: null }, /other networks/],
  ['a wider network', { networks: ['127.0.0.0/7'] }, /other networks/],
  ['another network', { networks: ['127.0.0.1', '10.0.0.1'] }, /other networks/],
  ['all of IPv6', { networks: ['::/0'] }, /other networks/],
  ['all of IPv4, written as IPv6', { networks: ['::ffff:127.0.0.1/100'] }, /other networks/],
  ['another template', { restrictions: { templates: [5, 7] } }, /other templates/],
  ['any template', { restrictions: { templates: null } }, /other templates/],
  ['another sender domain', { restrictions: { sender_domains: ['pier.example'] } }, /other sender domains/],
  ['a subdomain', { restrictions: { sender_domains: ['a.ship.example'] } }, /other sender domains/],
  ['any recipient domain', { restrictions: { recipient_domains: null } }, /other recipient domains/],
  ['more recipients', { restrictions: { recipients_per_hour: 101 } }, /more recipients per hour/],
  ['any recipients', { restrictions: { recipients_per_hour: null } }, /more recipients per hour/],
  ['more calls', { restrictions: { calls_per_minute: null } }, /more calls per minute/],
  ['a later end', { restrictions: { until: '2031-01-01T00:00:00.001Z' } }, /a later expiry/],
  ['no end', { restrictions: { until: null } }, /a later expiry/],
  ['no restrictions', { restrictions: null }, /other templates/],
]

t.test('a bounded key can neither make a key with more nor give it to one that it made', async (t) => {
  const sender = await service.makeSender()
  const { api_key: apiKey } = await bounded(sender)
  const own = await done(apiKey, '/keys', { name: 'child' })
  for (const [what, change, said] of MORE) {
    await t.test(what, async (t) => {
      await beyond(t, ask(apiKey, '/keys', { name: 'child', ...change }), said)
      await beyond(t, ask(apiKey, '/keys/update', { id: own.id, ...change }), said)
    })
  }
  const keys = await auth.listKeys(sender.accountId)
  t.equal(keys.length, 3, 'nothing was made')
})

t.test('what a bounded key does not name, its keys have as it has it', async (t) => {
  const { api_key: apiKey } = await bounded(await service.makeSender())
  t.match(await done(apiKey, '/keys', { name: 'child' }), RIGHTS)
  const narrow = await done(apiKey, '/keys', {
    name: 'narrow',
    scopes: ['send'],
    networks: ['127.1.0.0/16', '2001:db8:1::/48'],
    restrictions: { templates: [6], recipients_per_hour: 10, until: '2030-01-01' },
  })
  t.match(narrow, { scopes: ['send'], networks: ['127.1.0.0/16', '2001:db8:1::/48'] })
  t.match(narrow.restrictions, { ...RIGHTS.restrictions, templates: [6], recipients_per_hour: 10, until: /^2030/ })
})

t.test('a bounded key cannot change, take over or revoke a wider one', async (t) => {
  const sender = await service.makeSender()
  const { id, api_key: apiKey } = await bounded(sender)
  const wide = await done(sender.apiKey, '/keys', { name: 'wide' })
  await beyond(t, ask(apiKey, '/keys/rotate', { id: wide.id }), /the scope all/)
  await beyond(t, ask(apiKey, '/keys/update', { id: wide.id, name: 'mine' }), /the scope all/)
  await beyond(t, ask(apiKey, '/keys/update', { id: wide.id, ...RIGHTS }), /the scope all/)
  await beyond(t, ask(apiKey, '/keys/revoke', { id: wide.id }), /the scope all/)
  t.match(await done(apiKey, '/keys/rotate', { id }), RIGHTS, 'itself it may rotate')
})

t.test('a limited key, its successors and the keys it made share one allowance', async (t) => {
  const sender = await service.makeSender()
  const restrictions = { calls_per_minute: 9 }
  await stopClock(service.sql)
  const first = await done(sender.apiKey, '/keys', { name: 'first', restrictions })
  const child = await done(first.api_key, '/keys', { name: 'child' })
  const next = await done(first.api_key, '/keys/rotate', { id: first.id })
  const statuses: number[] = []
  for (let time = 0; time < 8; time++) {
    const { api_key: apiKey } = [first, child, next][time % 3] as Made
    statuses.push((await ask(apiKey, '/getKeys', {})).status)
  }
  t.strictSame(statuses, [...Array(7).fill(200), 429], 'the first one made two calls before')
  const apart = await done(sender.apiKey, '/keys', { name: 'apart', restrictions })
  const other = await done(sender.apiKey, '/keys', { name: 'other', restrictions })
  await beyond(t, ask(apart.api_key, '/keys/rotate', { id: other.id }), /a quota of its own/)
  await moveClock(service.sql, '0 hours')
})

t.test('a key narrowed a moment ago is evaluated by what it is now', async (t) => {
  const sender = await service.makeSender()
  const key = await done(sender.apiKey, '/keys', { name: 'key' })
  t.equal((await ask(key.api_key, '/getKeys', {})).status, 200, 'known to the process with all it may do')
  await auth.updateKey(key.id, { scopes: ['keys'] })
  await beyond(t, ask(key.api_key, '/keys', { name: 'child', scopes: ['all'] }), /the scope all/)
  await auth.revokeKey(key.id)
  t.match((await ask(key.api_key, '/keys', { name: 'child' })).status, 401)
})

t.test('a parent makes keys for its subaccount, within its own rights', async (t) => {
  const parent = await service.makeSender()
  const child = await service.makeSender()
  await service.sql`update accounts set parent_id = ${parent.accountId}, username = ${child.accountName} where id = ${child.accountId}`
  const headers = { 'on-behalf-of': child.accountName }
  const { api_key: apiKey } = await bounded(parent)
  const made = (await ask(apiKey, '/keys', { name: 'of the child' }, headers)).json?.data as Made
  t.match(made, RIGHTS)
  t.match((await auth.listKeys(child.accountId)).at(-1), { id: made.id })
  await beyond(t, ask(apiKey, '/keys', { name: 'of the child', scopes: ['all'] }, headers), /the scope all/)
})

t.test('the first key of a subaccount has what the key has that made the subaccount', async (t) => {
  const sender = await service.makeSender()
  const { api_key: apiKey } = await done(sender.apiKey, '/keys', {
    name: 'bounded',
    scopes: ['subaccounts', 'send'],
    restrictions: { templates: [5] },
  })
  const { api_key: first } = await done(apiKey, '/subaccounts/createSubaccount', {
    username: 'dock-key-rights',
    email: 'dock@ship.example',
    setpassword: 0,
  })
  const principal = await auth.authenticate(first, '127.0.0.1')
  t.match(principal, { scopes: ['subaccounts', 'send'], restrictions: { templates: [5] } })
})
