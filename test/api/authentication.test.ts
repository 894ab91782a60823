import t from 'tap'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { type CallOptions, call, messageIdOf, refused } from './call.ts'

/** A reverse proxy stands here; the test's other calls come from 127.0.0.1, whom nobody trusts. */
const PROXY = '127.0.0.9'
const service = await makeService(t, { TRUST_PROXY: `${PROXY}, 10.0.0.0/8` })
const base = await service.openApi()
const sender = await service.makeSender()
const { auth, accounts } = service.core
const body = v2Body(sender)

const MISSING = [401, 100, 'api_key not passed in header'] as const
const INVALID = [401, 101, 'Invalid api_key'] as const
const ELSEWHERE = [403, 102, 'Calls from this IP address are not allowed'] as const

const sendWith = (apiKey: string, options: CallOptions = {}) =>
  call(base, { body, ...options, headers: { api_key: apiKey, ...options.headers } })

const KEYLESS: readonly (readonly [what: string, options: CallOptions])[] = [
  ['no header at all', {}],
  ['an empty header', { headers: { api_key: '' } }],
  ['a blank header', { headers: { api_key: '  \t ' } }],
  ['the key in the query', { path: `/v2/sendEmail?api_key=${sender.apiKey}` }],
  ['the key in the body', { body: { ...body, api_key: sender.apiKey } }],
  ['the key as a bearer', { headers: { authorization: `Bearer ${sender.apiKey}` } }],
  ['the key as a password', { headers: { authorization: `Basic ${btoa(`api_key:${sender.apiKey}`)}` } }],
  ['the key in a cookie', { headers: { cookie: `api_key=${sender.apiKey}` } }],
  [
    'the key under other names',
    { headers: { 'api-key': sender.apiKey, apikey: sender.apiKey, x_api_key: sender.apiKey } },
  ],
]
for (const [what, options] of KEYLESS) {
  t.test(`a call with ${what} is refused with 100`, async (t) => {
    refused(t, await call(base, { body, ...options }), MISSING)
  })
}

/** Another character in one place: the form of a key, but not one. */
const altered = (at: number) =>
  `${sender.apiKey.slice(0, at)}${sender.apiKey[at] === 'x' ? 'y' : 'x'}${sender.apiKey.slice(at + 1)}`
const WRONG: readonly (readonly [what: string, apiKey: string | string[]])[] = [
  ['that is none', 'nope'],
  ['of the look the old service had', '5f0c2d9b7a3e41c8b6d1e0f2a4c79b38'],
  ['with one character altered', altered(10)],
  ['with its check altered', altered(sender.apiKey.length - 1)],
  ['that lost its end', sender.apiKey.slice(0, -1)],
  ['with something behind it', `${sender.apiKey}x`],
  ['in other letters', sender.apiKey.toLowerCase()],
  ['as a list shows it', sender.apiKey.slice(0, 9)],
  ['in quotes', `"${sender.apiKey}"`],
  ['with a word before it', `Bearer ${sender.apiKey}`],
  ['given twice', [sender.apiKey, sender.apiKey]],
  ['of 8,000 characters', 'k'.repeat(8000)],
  ['of SQL', "' or 1=1 --"],
  ['beyond ASCII', 'pr_sch\u00fcssel'],
]
for (const [what, apiKey] of WRONG) {
  t.test(`a key ${what} is refused with 101`, async (t) => {
    refused(t, await call(base, { body, headers: { api_key: apiKey } }), INVALID)
  })
}

t.test('a key of another installation is refused with 101, and so is what the database keeps of a key', async (t) => {
  const other = await makeService(t)
  refused(t, await sendWith((await other.makeSender()).apiKey), INVALID)
  const [row] = await service.sql`select * from api_keys where account_id = ${sender.accountId}`
  for (const kept of [row?.hash.toString('hex'), row?.hash.toString('base64'), row?.prefix]) {
    refused(t, await sendWith(kept), INVALID)
  }
  t.notOk(JSON.stringify(row).includes(sender.apiKey), 'the database does not know the key')
})

t.test('the header is found whatever its case, and blanks around the key do not count', async (t) => {
  for (const name of ['api_key', 'API_KEY', 'Api_Key']) {
    t.equal((await call(base, { body, headers: { [name]: ` ${sender.apiKey}\t` } })).status, 200, name)
  }
})

t.test(
  'a revoked key is refused with 101 at once where it was never seen, and within seconds where it was',
  async (t) => {
    const [unseen, seen, kept] = await Promise.all([1, 2, 3].map(() => auth.createKey({ accountId: sender.accountId })))
    for (const known of [seen, kept]) t.equal((await sendWith(known?.secret ?? '')).status, 200)
    for (const revoked of [unseen, seen]) await auth.revokeKey(revoked?.key.id ?? 0)
    refused(t, await sendWith(unseen?.secret ?? ''), INVALID)
    await until('the refusal', async () => (await sendWith(seen?.secret ?? '')).status === 401, 10_000)
    refused(t, await sendWith(seen?.secret ?? ''), INVALID)
    t.equal((await sendWith(kept?.secret ?? '')).status, 200, 'the account’s other keys live on')
  },
)

t.test('a suspended account is refused with 115 within seconds, and may send again when it is resumed', async (t) => {
  const { accountId, apiKey, domain } = await service.makeSender()
  const send = () => sendWith(apiKey, { body: { ...body, from: { fromEmail: `desk@${domain}` } } })
  t.equal((await send()).status, 200)
  await accounts.suspend(accountId)
  await until('the refusal', async () => (await send()).status === 403, 10_000)
  refused(t, await send(), [403, 115, 'Account is suspended'])
  await accounts.resume(accountId)
  await until('the return', async () => (await send()).status === 200, 10_000)
})

t.test('a key that does not allow sending is refused with 103; one that allows only sending is enough', async (t) => {
  const none = await auth.createKey({ accountId: sender.accountId, scopes: [] })
  const send = await auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
  refused(t, await sendWith(none.secret), [403, 103, 'This api_key does not have the scope required for this call'])
  t.equal((await sendWith(send.secret)).status, 200)
})

/** What a client may write to be taken for somebody else (V42). */
const SPOOFED = '192.0.2.7'
const CLAIMS: readonly Record<string, string | string[]>[] = [
  { 'x-forwarded-for': SPOOFED },
  { 'X-Forwarded-For': `${SPOOFED}, ${SPOOFED}` },
  { 'x-forwarded-for': [SPOOFED, PROXY] },
  { 'x-forwarded-for': `${SPOOFED}, ${PROXY}, 127.0.0.1` },
  { 'x-real-ip': SPOOFED },
  { forwarded: `for=${SPOOFED}` },
  { forwarded: `for="${SPOOFED}:80";by=${PROXY}` },
  { 'x-client-ip': SPOOFED, 'true-client-ip': SPOOFED, 'cf-connecting-ip': SPOOFED, 'fastly-client-ip': SPOOFED },
  { 'x-cluster-client-ip': SPOOFED, 'x-original-forwarded-for': SPOOFED, 'x-forwarded': SPOOFED, via: SPOOFED },
  { 'x-forwarded-host': SPOOFED, 'x-forwarded-proto': 'https' },
]
const addressOf = async (id: string) =>
  (await service.sql`select host(client_address) as address from messages where id = ${id}`)[0]?.address

t.test('what an untrusted peer claims about itself is ignored: the socket’s address counts', async (t) => {
  const bound = await auth.createKey({ accountId: sender.accountId, networks: [SPOOFED] })
  for (const headers of CLAIMS) {
    t.equal(await addressOf(messageIdOf(await sendWith(sender.apiKey, { headers }))), '127.0.0.1')
    refused(t, await sendWith(bound.secret, { headers }), ELSEWHERE, JSON.stringify(headers))
  }
})

/** What the proxy hands on, and who the client is. */
const VOUCHED: readonly (readonly [forwardedFor: string | string[] | undefined, address: string])[] = [
  [undefined, PROXY],
  ['', PROXY],
  ['192.0.2.7', '192.0.2.7'],
  ['203.0.113.5, 192.0.2.7', '192.0.2.7'],
  [['203.0.113.5', '192.0.2.7'], '192.0.2.7'],
  ['203.0.113.5, 192.0.2.7, 10.1.2.3', '192.0.2.7'],
  [`192.0.2.7, ${PROXY}, 10.1.2.3`, '192.0.2.7'],
  ['127.0.0.1, 192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['[2001:DB8::7]', '2001:db8::7'],
  ['[2001:db8::7]:4711', '2001:db8::7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['192.0.2.7, unknown', '0.0.0.0'],
  ['_hidden', '0.0.0.0'],
  ['300.1.2.3', '0.0.0.0'],
  ['192.0.2.7/8', '0.0.0.0'],
  ["192.0.2.7'; drop table messages; --", '0.0.0.0'],
  ['1'.repeat(5000), '0.0.0.0'],
  [Array(500).fill('10.0.0.1').join(), '10.0.0.1'],
]
for (const [forwardedFor, address] of VOUCHED) {
  t.test(`behind the proxy a client told as ${String(forwardedFor).slice(0, 50)} is ${address}`, async (t) => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    const options: CallOptions = { from: PROXY, headers: { ...headers, 'x-real-ip': '198.51.100.9' } }
    t.equal(await addressOf(messageIdOf(await sendWith(sender.apiKey, options))), address)
  })
}

t.test('a key bound to networks is refused with 102 from everywhere else', async (t) => {
  const networks = ['127.0.0.5', '192.0.2.0/24', '2001:db8::/32']
  const { secret } = await auth.createKey({ accountId: sender.accountId, networks })
  const proxied = (client: string): CallOptions => ({ from: PROXY, headers: { 'x-forwarded-for': client } })
  for (const inside of [
    { from: '127.0.0.5' },
    proxied('192.0.2.255'),
    proxied('9.9.9.9, 192.0.2.1'),
    proxied('2001:db8::1'),
  ])
    t.equal((await sendWith(secret, inside)).status, 200, JSON.stringify(inside))
  for (const outside of [
    {},
    { from: '127.0.0.6' },
    { from: PROXY },
    proxied('192.0.3.1'),
    proxied('192.0.2.1, 9.9.9.9'),
    proxied('2001:db9::1'),
    proxied('unknown'),
    proxied('192.0.2.1, unknown'),
    proxied('192.0.2.1.example'),
  ]) {
    refused(t, await sendWith(secret, outside), ELSEWHERE, JSON.stringify(outside))
  }
})
