import t from 'tap'
import { addEvents, LOOPBACK, runLoops } from '../../delivery/webhook-worker.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { call } from '../call.ts'
import { ask } from './ask.ts'

const ALL = '/user/webhooks/event/settings'
const SECRET = 'p@ss:wörd'
const BASIC = `Basic ${Buffer.from(`anymail:${SECRET}`).toString('base64')}`

const service = await makeService(t, LOOPBACK)
const url = await service.openApi()
runLoops(t, service)

const withUser = (address: string, user = `anymail:${encodeURIComponent(SECRET)}`) =>
  address.replace('://', `://${user}@`)

t.test('the name and password of a URL are the Basic authorization of its requests, and are not shown', async (t) => {
  const sender = await service.makeSender()
  const { apiKey, accountId } = sender
  const receiver = await startReceiver(t)
  const v3 = (method: string, path: string, body?: object) => ask(url, { method, path, key: apiKey, body })
  const made = await v3('POST', ALL, { url: withUser(receiver.url), enabled: true, delivered: true })
  t.match(made, { status: 201, json: { url: receiver.url } }, made.text)
  const id = String(made.json?.id)
  await addEvents(service, sender, 1)
  await until('the event', () => receiver.requests.find(({ headers }) => headers.authorization === BASIC))

  // What was shown is sent back: the authorization stays.
  t.match(await v3('PATCH', `${ALL}/${id}`, { ...made.json }), { status: 200, json: { url: receiver.url } })
  t.equal((await v3('POST', '/user/webhooks/event/test', { url: receiver.url, id })).status, 204)
  t.equal(receiver.requests.at(-1)?.headers.authorization, BASIC)

  const shown = await call(url, { method: 'GET', path: `/v2/webhooks/${id}`, headers: { api_key: apiKey } })
  t.match(shown.json, { data: { url: receiver.url, headers: { Authorization: '***' } } })
  const audited = JSON.stringify(await service.core.audit.list(accountId, { after: 0, limit: 100 }))
  for (const secret of [SECRET, encodeURIComponent(SECRET), BASIC])
    for (const text of [made.text, shown.text, audited]) t.notOk(text.includes(secret))

  // Another name and password replace it.
  await v3('PATCH', `${ALL}/${id}`, { url: withUser(receiver.url, 'b') })
  await v3('POST', '/user/webhooks/event/test', { url: receiver.url, id })
  t.equal(receiver.requests.at(-1)?.headers.authorization, `Basic ${Buffer.from('b:').toString('base64')}`)
})

t.test('a URL that is tested has its own name and password', async (t) => {
  const { apiKey } = await service.makeSender()
  const receiver = await startReceiver(t)
  const body = { url: withUser(receiver.url) }
  t.equal((await ask(url, { path: '/user/webhooks/event/test', key: apiKey, body })).status, 204)
  t.equal(receiver.requests.at(-1)?.headers.authorization, BASIC)
})
