import { createCore, createLog, readConfig } from '@postrider/core'
import t from 'tap'
import { makeApiKey } from '../../../packages/core/src/accounts/keys/key-format.ts'
import { refused as refusedName } from '../../core/refused.ts'
import { moveClock, stopClock } from '../../helpers/database.ts'
import { v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { connectRelay, mail, openSession, queueId, stored } from '../../relay/session.ts'
import { type CallAnswer, call, errorText, JSON_TYPE, refused } from '../call.ts'

/** How often an account and a key may call, and what is said of it. */
const service = await makeService(t, { CALLS_PER_MINUTE: '20', WRONG_KEYS_PER_MINUTE: '15' })
const url = await service.openApi()
await service.openRelay()
const { accounts, auth } = service.core

const ask = (apiKey: string, path = '/v2/audit', headers: Record<string, string> = {}, from?: string) =>
  call(url, { path, headers: { ...JSON_TYPE, api_key: apiKey, ...headers }, ...(from ? { from } : {}) })
const send = (sender: Sender) => call(url, { headers: { api_key: sender.apiKey }, body: v2Body(sender) })
const limitsOf = ({ headers }: CallAnswer) =>
  ['limit', 'remaining', 'reset'].map((name) => {
    const value = headers[`x-ratelimit-${name}`]
    return value === undefined ? undefined : Number(value)
  })

t.test('every call but sendEmail says how the account stands, and beyond its limit is refused with 429', async (t) => {
  const at = await stopClock(service.sql)
  const { apiKey } = await service.makeSender()
  const reset = at.getTime() / 1000 + 55
  for (let left = 19; left >= 0; left--) {
    const answer = await ask(apiKey, left % 2 ? '/v2/audit' : '/v2.1/getKeys')
    t.equal(answer.status, 200)
    t.strictSame(limitsOf(answer), [20, left, reset])
  }
  const answer = await ask(apiKey)
  t.match(answer, { status: 429, json: { error_info: { error_code: 429 }, message: 'Error in Audit api call' } })
  t.match(errorText(answer), /^Rate limit of 20 calls per minute exceeded\. Retry after [1-5]?\d s$/)
  t.strictSame(limitsOf(answer), [20, 0, reset])
  t.match(answer.headers['retry-after'], /^[1-5]?\d$/)
  const { apiKey: other } = await service.makeSender()
  t.equal((await ask(other)).status, 200, 'another account goes on')
  await stopClock(service.sql, { seconds: 65 })
  await until('the next minute', async () => (await ask(apiKey)).status === 200)
  await moveClock(service.sql, '0 hours')
})

t.test('sending has no limit, and says so by saying nothing, unless the operator sets one', async (t) => {
  await stopClock(service.sql)
  const sender = await service.makeSender()
  for (let time = 0; time < 30; time++) {
    const answer = await send(sender)
    t.equal(answer.status, 200)
    t.strictSame(limitsOf(answer), [undefined, undefined, undefined])
  }
  await accounts.limit(sender.accountId, { sendsPerMinute: 3 })
  await until('the limit', async () => (await send(sender)).headers['x-ratelimit-limit'] === '3', 5000)
  await send(sender)
  await send(sender)
  const answer = await send(sender)
  refused(t, answer, [429, 429, /^Rate limit of 3 messages per minute for this account exceeded/])
  t.match(answer.headers['retry-after'], /^\d+$/)
  const client = await openSession(t, service, sender)
  const from = `MAIL FROM:<desk@${sender.domain}>`
  t.match(
    await client.command(from),
    /^450 4\.7\.1 Rate limit of 3 messages per minute for this account exceeded\. Retry after [1-5]?\d s$/,
  )
  t.equal((await ask(sender.apiKey)).status, 200, 'other calls are counted apart')
  await accounts.limit(sender.accountId, { sendsPerMinute: null })
  await until('the end of the limit', async () => (await client.command(from)).startsWith('250'), 5000)
  t.match((await service.core.audit.list(sender.accountId, { after: 0, limit: 10 })).slice(-2), [
    { action: 'account.limit', keyId: null, before: { sendsPerMinute: null }, after: { sendsPerMinute: 3 } },
    { action: 'account.limit', before: { sendsPerMinute: 3 }, after: { sendsPerMinute: null, callsPerMinute: null } },
  ])
  await moveClock(service.sql, '0 hours')
})

t.test('messages by SMTP and by HTTP count together', async (t) => {
  await stopClock(service.sql)
  const sender = await service.makeSender()
  await accounts.limit(sender.accountId, { sendsPerMinute: 4 })
  const fresh = await auth.createKey({ accountId: sender.accountId })
  const limited = { ...sender, apiKey: fresh.secret }
  const client = await openSession(t, service, limited)
  for (let time = 0; time < 2; time++)
    queueId(await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender)))
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(limited)))
  t.equal(answers.filter(({ status }) => status === 200).length, 2)
  t.match(await stored(service, sender), { messages: 4 })
  await moveClock(service.sql, '0 hours')
})

t.test('a subaccount draws on the limit of the account it is under as well', async (t) => {
  await stopClock(service.sql)
  const parent = await service.makeSender()
  const child = await service.makeSender()
  await service.sql`update accounts set parent_id = ${parent.accountId}, username = 'dock' where id = ${child.accountId}`
  await accounts.limit(parent.accountId, { sendsPerMinute: 2 })
  t.equal((await send(child)).status, 200)
  const headers = { api_key: parent.apiKey, 'on-behalf-of': 'dock' }
  t.equal((await call(url, { headers, body: v2Body(child) })).status, 200)
  t.match(errorText(await send(child)), /^Rate limit of 2 messages per minute for the parent account exceeded/)
  t.match(errorText(await send(parent)), /^Rate limit of 2 messages per minute for this account exceeded/)
  await moveClock(service.sql, '0 hours')
})

t.test("a key's own limit counts all its calls, and the account's limit applies as well", async (t) => {
  await stopClock(service.sql)
  const sender = await service.makeSender()
  const { secret } = await auth.createKey({ accountId: sender.accountId, restrictions: { callsPerMinute: 3 } })
  t.strictSame(limitsOf(await ask(secret)).slice(0, 2), [3, 2], 'the tighter of the two is told')
  t.equal((await send({ ...sender, apiKey: secret })).status, 200)
  t.equal((await ask(secret)).status, 200)
  const answer = await ask(secret)
  t.match(errorText(answer), /^Rate limit of 3 calls per minute for this api_key exceeded/)
  t.equal((await send({ ...sender, apiKey: secret })).status, 429)
  t.strictSame(limitsOf(await ask(sender.apiKey)).slice(0, 2), [20, 17], 'a refused call takes nothing')
  await moveClock(service.sql, '0 hours')
})

t.test('the operator gives an account another limit of calls', async (t) => {
  await stopClock(service.sql)
  const { accountId, apiKey } = await service.makeSender()
  await accounts.limit(accountId, { callsPerMinute: 2 })
  const statuses: number[] = []
  for (let time = 0; time < 4; time++) statuses.push((await ask(apiKey)).status)
  t.strictSame(statuses, [200, 200, 429, 429])
  await moveClock(service.sql, '0 hours')
})

const wrongKey = (number: number) => `pr_wrong${number}`

t.test(
  'an address that shows many invalid keys has to wait; a key in use goes on from it, and so do others',
  async (t) => {
    const { apiKey, accountId } = await service.makeSender()
    const unseen = await auth.createKey({ accountId })
    const from = '127.0.0.21'
    t.equal((await ask(apiKey, '/v2/audit', {}, from)).status, 200)
    for (let time = 0; time < 15; time++) t.equal((await ask(wrongKey(time), '/v2/audit', {}, from)).status, 401)
    const answer = await ask(wrongKey(15), '/v2/audit', {}, from)
    t.match(answer, {
      status: 429,
      headers: { 'retry-after': /^[1-6]?\d$/ },
      json: { error_info: { error_code: 429 } },
    })
    t.match(errorText(answer), /^Too many invalid api_keys from this IP address\. Retry after \d+ s$/)
    t.equal((await ask(apiKey, '/v2/audit', {}, from)).status, 200, 'a key that is known to be good')
    t.equal((await ask(unseen.secret, '/v2/audit', {}, from)).status, 200, 'and one that comes new, now and then')
    t.equal((await ask(wrongKey(1), '/v2/audit', {}, '127.0.0.22')).status, 401, 'another address')
    t.equal((await ask('', '/v2/audit', {}, from)).status, 401, 'no key is 100 as ever')
  },
)

t.test('invalid keys are counted by all processes together, and each knows when an address has to wait', async (t) => {
  await stopClock(service.sql)
  const { apiKey } = await service.makeSender()
  const from = '127.0.0.41'
  const other = createCore({ sql: service.sql, config: readConfig(service.env), log: createLog('test', 'silent') })
  t.teardown(() => other.readiness.close())
  for (let time = 0; time < 15; time++) {
    t.equal(await refusedName(other.auth.authenticate(wrongKey(time), from)), 'keyInvalid')
  }
  const answer = await ask(wrongKey(15), '/v2/audit', {}, from)
  t.match(answer, { status: 429, headers: { 'retry-after': /^[1-6]?\d$/ } })
  t.equal((await ask(wrongKey(16), '/v2/audit', {}, from)).status, 429)
  t.equal((await ask(apiKey, '/v2/audit', {}, from)).status, 200, 'a key that comes new is looked up')
  t.equal((await ask(wrongKey(17), '/v2/audit', {}, '127.0.0.42')).status, 401, 'another address')
  await moveClock(service.sql, '0 hours')
})

t.test('an address that goes on guessing does not keep out others behind it that come with a new key', async (t) => {
  await stopClock(service.sql)
  const { accountId } = await service.makeSender()
  const from = '127.0.0.51'
  for (let time = 0; time < 15; time++) await ask(wrongKey(time), '/v2/audit', {}, from)
  for (let round = 0; round < 3; round++) {
    const { secret } = await auth.createKey({ accountId })
    const guesses = Array.from({ length: 60 }, () => ask(makeApiKey(), '/v2/audit', {}, from))
    t.equal((await ask(secret, '/v2/audit', {}, from)).status, 200)
    for (const guess of await Promise.all(guesses)) t.equal(guess.status, 429)
  }
  await moveClock(service.sql, '0 hours')
})

t.test('keys of the right form share one look a second at the database once an address is braked', async (t) => {
  const { accountId } = await service.makeSender()
  const from = '127.0.0.31'
  for (let time = 0; time < 15; time++) await ask(wrongKey(time), '/v2/audit', {}, from)
  const good = await Promise.all(Array.from({ length: 10 }, () => auth.createKey({ accountId })))
  const began = performance.now()
  const first = await Promise.all(good.slice(0, 2).map(({ secret }) => ask(secret, '/v2/audit', {}, from)))
  t.strictSame(
    first.map(({ status }) => status),
    [200, 200],
  )
  const second = await Promise.all(good.slice(2).map(({ secret }) => ask(secret, '/v2/audit', {}, from)))
  t.strictSame(
    second.map(({ status }) => status),
    Array(8).fill(200),
  )
  t.ok(performance.now() - began > 900, 'the second look is a second after the first')
})

t.test('at the relay an address that is braked is told 454, as for any trouble that passes', async (t) => {
  const session = async () => {
    const client = await connectRelay(t, service, { tls: true })
    await client.command('EHLO client.test')
    return client
  }
  const wrong = Buffer.from('\0apikey\0nope').toString('base64')
  const replies: string[] = []
  for (let time = 0; time < 3; time++) {
    const client = await session()
    for (let attempt = 0; attempt < 6; attempt++)
      replies.push((await client.command(`AUTH PLAIN ${wrong}`)).slice(0, 3))
  }
  t.strictSame(replies, [...Array(15).fill('535'), ...Array(3).fill('454')])
})

t.test('a key that tries names of subaccounts is braked too', async (t) => {
  await stopClock(service.sql)
  const { accountId, apiKey } = await service.makeSender()
  await accounts.limit(accountId, { callsPerMinute: 1000 })
  const child = await service.makeSender()
  await service.sql`update accounts set parent_id = ${accountId}, username = 'quay' where id = ${child.accountId}`
  const known = async () => (await ask(apiKey, '/v2/audit', { 'on-behalf-of': 'quay' })).status
  t.equal(await known(), 200)
  const codes: unknown[] = []
  for (let time = 0; time < 20; time++) {
    const { json } = await ask(apiKey, '/v2/audit', { 'on-behalf-of': `nobody${time}` })
    codes.push((json?.error_info as { error_code?: number } | undefined)?.error_code)
  }
  t.strictSame([codes[0], codes[14], codes.at(-1)], [172, 172, 429])
  t.equal((await ask(apiKey)).status, 200, 'in its own name it goes on')
  t.strictSame([await known(), await known()], [200, 200], 'and for those it knows')
  const fresh = await service.makeSender()
  await service.sql`update accounts set parent_id = ${accountId}, username = 'pier' where id = ${fresh.accountId}`
  const others = Array.from({ length: 30 }, (_, at) => ask(apiKey, '/v2/audit', { 'on-behalf-of': `no one ${at}` }))
  t.equal((await ask(apiKey, '/v2/audit', { 'on-behalf-of': 'Pier' })).status, 200, 'and for one that comes new')
  await Promise.all(others)
  await moveClock(service.sql, '0 hours')
})
