import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { until } from '../helpers/until.ts'
import { openDashboard, submit } from './dashboard.ts'

t.test('nothing but forms is parsed, and only small ones without a session', async (t) => {
  const { url } = await openDashboard(t)
  const post = (body: string, type: string) =>
    fetch(`${url}/app/login`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, 'sec-fetch-site': 'same-origin' },
    })
  t.equal((await post('{"email":[5]}', 'application/json')).status, 415)
  t.equal((await post('email=a', 'text/plain')).status, 415)
  t.equal((await post(`email=${'a'.repeat(20_000)}`, 'application/x-www-form-urlencoded')).status, 413)
  t.equal((await post('a=&'.repeat(2000), 'application/x-www-form-urlencoded')).status, 413)
  t.equal((await submit(url, '/app/login', { email: 'a/\0', password: 'x' })).status, 401)
})

t.test('no id, and no text with NUL, makes a page fail', async (t) => {
  const { owner } = await openDashboard(t)
  const ada = await owner()
  const base = `/app/${ada.accountId}`
  for (const id of ['0', 'x', '1.5', '2147483648', '%00', '1%0a', '%EF%BB%BF1']) {
    const { status } = await ada.post(`${base}/keys/${id}/revoke`)
    t.ok(status === 404 || status === 400, `${id}: ${status}`)
    t.ok((await ada.post(`/app/operator/accounts/${id}/release`)).status < 500, `account ${id}`)
  }
  for (const q of ['\0', 'after:9999-12-31T23:59-23:59', 'colour:\0', 'x'.repeat(5000)]) {
    t.equal((await ada.get(`${base}/messages?q=${encodeURIComponent(q)}`)).status, 400, q.slice(0, 20))
  }
  t.ok((await ada.post(`${base}/suppressions/remove`, { scope: 'group', value: 'a@x.test', group: 'x' })).status < 500)
  t.ok((await ada.get('/app/operator/accounts?q=%00')).status < 500)
  const before = await ada.post('/app/operator/queue/resume', { place: 'google', account: 'abc' })
  t.ok(before.status < 500)
})

t.test('more suppressions than are taken at a time are refused, not cut', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const entries = Array.from({ length: 10_001 }, (_, n) => `a${n}@harbor.example`).join('\n')
  const refused = await ada.post(`/app/${ada.accountId}/suppressions`, { entries })
  t.equal(refused.status, 400)
  t.match(await refused.text(), 'more than 10000 entries')
  t.equal((await service.core.suppressions.list(ada.accountId, { limit: 1, offset: 0 })).total, 0)
})

t.test('*@domain in the form suppresses the domain', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  t.equal((await ada.post(`/app/${ada.accountId}/suppressions`, { entries: '*@x.example, a@y.example' })).status, 303)
  t.match(await service.core.suppressions.holding(ada.accountId, 'any@x.example'), [
    { scope: 'domain', value: 'x.example' },
  ])
})

t.test('a client that goes away while its stream is opened leaves nothing behind', async (t) => {
  const { owner, url } = await openDashboard(t)
  const ada = await owner()
  for (let n = 0; n < 14; n++) {
    const going = request(`${url}/app/live`, { headers: { cookie: ada.cookie } })
    going.on('error', () => {})
    going.end()
    await sleep(2)
    going.destroy()
  }
  // A visitor has at most twelve streams.
  await until('their streams to be given up', async () => {
    const abort = new AbortController()
    const response = await fetch(`${url}/app/live`, { headers: { cookie: ada.cookie }, signal: abort.signal })
    abort.abort()
    return response.status === 200
  })
  t.not((await fetch(`${url}/app/live`, { method: 'HEAD', headers: { cookie: ada.cookie } })).status, 200)
})
