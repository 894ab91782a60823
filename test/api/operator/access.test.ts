import { OPERATOR_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { until } from '../../helpers/until.ts'
import { ask, makeOperator } from './operator.ts'

const CALLS = OPERATOR_OPERATIONS.map(({ method, path }) => ({
  method,
  path: path.replace(':place', 'google').replace(':id', '1').replace(':account', '1'),
}))

t.test('an unknown key is counted, and a valid one is not affected', async (t) => {
  const { call, url, sender } = await makeOperator(t, { WRONG_KEYS_PER_MINUTE: '5' })
  t.match(await call('/jobs', { key: sender.apiKey }), {
    status: 401,
    body: { error: { code: 'keyInvalid', message: 'Invalid api_key' } },
  })
  t.match(await ask(`${url}/operator/v1/jobs`, {}), { status: 401, body: { error: { code: 'keyMissing' } } })
  const refused = await until('the throttle', async () => {
    const answer = await call('/jobs', { key: 'pr_nonsense' })
    return answer.status === 429 ? answer : undefined
  })
  t.match(refused.body, { error: { code: 'wrongKeysTooMany' } })
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.equal((await call('/jobs')).status, 200)
})

t.test('an operator key is not valid for anything else', async (t) => {
  const { url, apiKey, keyId, sender, service } = await makeOperator(t)
  const sent = await sendV2(url, apiKey, v2Body(sender))
  t.match(sent, { status: 401, body: { error_info: { error_code: 101 } } })
  t.match(await ask(`${url}/v2/account`, { headers: { api_key: apiKey } }), { status: 401 })
  const bearer = { authorization: `Bearer ${apiKey}` }
  const mail = {
    personalizations: [{ to: [{ email: 'a@b.example' }] }],
    from: { email: `a@${sender.domain}` },
    subject: 's',
    content: [{ type: 'text/plain', value: 'x' }],
  }
  t.match(await ask(`${url}/v3/mail/send`, { headers: bearer, body: mail }), { status: 401 })
  t.match(await ask(`${url}/v3/scopes`, { headers: bearer }), { status: 401 })
  await t.rejects(
    service.core.auth.authenticate(apiKey, '127.0.0.1'),
    { message: 'Invalid api_key' },
    'nor over SMTP, which asks the same',
  )
  t.equal(await service.core.auth.principalOf(keyId), null)
  await t.rejects(service.core.auth.updateKey(keyId, { name: 'x' }), { message: 'Invalid key id' })
  await t.rejects(service.core.auth.rotateKey(keyId), { message: 'Invalid key id' })
})

t.test('a client outside OPERATOR_NETWORKS gets the answer of a path that does not exist', async (t) => {
  const { call, url, service } = await makeOperator(t, { OPERATOR_NETWORKS: '192.0.2.0/24,2001:db8::/32' })
  const unknown = await ask(`${url}/operator/v1/nothing/here`, {})
  t.equal(unknown.status, 404)
  const shownBy = ({ headers, status, text }: typeof unknown) => ({
    status,
    text,
    headers: [...headers].filter(([name]) => name !== 'date').sort(),
  })
  const elsewhere = shownBy(await ask(`${url}/nothing/at/all`, {}))
  t.strictSame(shownBy(unknown), elsewhere)
  for (const { method, path } of CALLS) {
    for (const answer of [
      await call(path, { method }),
      await call(path, { method, key: 'pr_nonsense' }),
      await call(path, { method: 'DELETE' }),
      await call(`${path}?by=x`, { method: 'POST', body: '{' }),
    ]) {
      t.strictSame(shownBy(answer), elsewhere, `${method} ${path}`)
    }
  }
  const [used] = await service.core.auth.listOperatorKeys()
  t.equal(used?.lastUsedAt, null)
})

t.test('behind a proxy, the address of the client counts', async (t) => {
  const { call } = await makeOperator(t, { TRUST_PROXY: '127.0.0.1', OPERATOR_NETWORKS: '192.0.2.0/24' })
  const from = (address: string) => call('/jobs', { headers: { 'x-forwarded-for': address } })
  t.equal((await from('192.0.2.7')).status, 200)
  t.equal((await from('198.51.100.7')).status, 404)
  t.equal((await from('192.0.2.7, 198.51.100.7')).status, 404, 'only the last hop is believed')
  t.equal((await from('unknown')).status, 404)
  t.equal((await call('/jobs')).status, 404)
})

t.test('a proxy that is not in TRUST_PROXY does not make its clients local', async (t) => {
  const { call } = await makeOperator(t)
  t.equal((await call('/jobs')).status, 200)
  t.equal((await call('/jobs', { headers: { 'x-forwarded-for': '127.0.0.1' } })).status, 404)
  t.equal((await call('/jobs', { headers: { 'x-forwarded-for': '198.51.100.7' } })).status, 404)
  t.equal((await call('/jobs', { headers: { forwarded: 'for=198.51.100.7' } })).status, 404)
})

t.test('a key can be restricted to networks and to a time, and a revoked one is refused', async (t) => {
  const { call, service } = await makeOperator(t)
  const { auth } = service.core
  const elsewhere = await auth.createOperatorKey({ networks: ['192.0.2.0/24'] })
  t.match(await call('/jobs', { key: elsewhere.secret }), {
    status: 403,
    body: { error: { code: 'addressNotAllowed' } },
  })
  const short = await auth.createOperatorKey({ until: new Date(Date.now() + 3_600_000) })
  t.equal((await call('/jobs', { key: short.secret })).status, 200)
  await moveClock(service.sql, '2 hours')
  await until('the end', async () => (await call('/jobs', { key: short.secret })).status === 401 || undefined, 10_000)
  const { key, secret } = await auth.createOperatorKey({})
  t.equal((await call('/jobs', { key: secret })).status, 200)
  await auth.revokeOperatorKey(key.id)
  await until('the refusal', async () => (await call('/jobs', { key: secret })).status === 401 || undefined, 10_000)
  await until('the last use', async () => (await auth.listOperatorKeys()).at(-1)?.lastUsedAt ?? undefined)
})

t.test('another method of a path is refused with those that it takes', async (t) => {
  const { call } = await makeOperator(t)
  t.match(await call('/jobs', { method: 'DELETE' }), { status: 405, body: { error: { code: 'methodNotAllowed' } } })
  t.equal((await call('/jobs', { method: 'DELETE' })).headers.get('allow'), 'GET, HEAD')
  t.equal((await call('/plans', {})).headers.get('allow'), 'POST')
  t.match(await call('/nothing'), { status: 404, body: { error: { code: 'notFound' } } })
  t.match(await call('/jobs', { method: 'HEAD' }), { status: 200, text: '' })
})

t.test('a key can make 600 calls per minute', async (t) => {
  const { call } = await makeOperator(t)
  const statuses: number[] = []
  for (let at = 0; at < 65; at++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('/jobs/1')))
    statuses.push(...answers.map(({ status }) => status))
  }
  t.ok(statuses.includes(429))
  t.ok(statuses.filter((status) => status === 404).length <= 1200, 'at most two windows')
  t.strictSame(
    [...new Set(statuses)].filter((status) => ![404, 429].includes(status)),
    [],
  )
})

t.test('the OpenAPI document does not mention it', async (t) => {
  const { url } = await makeOperator(t)
  t.notMatch((await ask(`${url}/openapi.json`, {})).text, /\/operator\/|operatorKey/)
})
