import t from 'tap'
import { openDashboard } from './dashboard.ts'

t.test('the first steps follow the account: a key, a test message to the visitor, a domain', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const { accountId } = ada
  const page = `/app/${accountId}/first-steps`
  t.equal((await ada.get('/app')).headers.get('location'), page, 'an account without mail begins here')
  t.match(await (await ada.get(page)).text(), '1 of 6 done')
  await service.core.auth.createKey({ accountId, name: 'shop' })
  await service.giveKey('ship.example')
  await service.core.domains.add({ accountId, name: 'ship.example', state: 'active' })
  t.match(await (await ada.get(page)).text(), '3 of 6 done')
  const sent = await ada.post(`${page}/test`)
  t.equal(sent.status, 303)
  t.match(sent.headers.get('location'), 'said=sent')
  const shown = await (await ada.get(page)).text()
  t.match(shown, '4 of 6 done')
  t.match(shown, 'My first message')
  const { deliveries } = await service.core.messages.list({ accountId, search: {}, limit: 10 })
  t.strictSame(
    deliveries.map(({ recipient, from }) => [recipient, from]),
    [[`ada-${process.pid}@northwind.example`, 'hello@ship.example']],
  )
  t.equal((await ada.get('/app')).headers.get('location'), `/app/${accountId}`)
})

t.test('the last line turns green when a program reads the event feed', async (t) => {
  const { owner, service, url } = await openDashboard(t)
  const ada = await owner()
  const page = `/app/${ada.accountId}/first-steps`
  const { secret } = await service.core.auth.createKey({ accountId: ada.accountId, name: 'shop' })
  const before = await (await ada.get(page)).text()
  t.match(before, '2 of 6 done')
  t.match(before, '/v2/events/feed')
  for (let count = 0; count < 2; count++) {
    t.equal((await fetch(`${url}/v2/events/feed`, { headers: { api_key: secret } })).status, 200)
    const after = await (await ada.get(page)).text()
    t.match(after, '3 of 6 done')
    t.match(after, 'Your program has read the event feed.')
  }
  const other = await service.core.accounts.create('souq')
  t.equal(await service.core.events.isFeedRead(other.id), false)
})

t.test('each example names the service and the sender, and no key', async (t) => {
  const { owner, service, url } = await openDashboard(t)
  const ada = await owner()
  await service.giveKey('ship.example')
  await service.core.domains.add({ accountId: ada.accountId, name: 'ship.example', state: 'active' })
  const { secret } = await service.core.auth.createKey({ accountId: ada.accountId, name: 'shop' })
  for (const name of ['curl', 'Node', 'Python', 'PHP', 'Go', 'SMTP', 'nodemailer', 'SendGrid']) {
    const text = await (await ada.get(`/app/${ada.accountId}/first-steps?with=${name}`)).text()
    t.match(text, 'hello@ship.example', name)
    t.match(text, 'YOUR_KEY', name)
    t.notMatch(text, secret)
  }
  t.ok(url)
})
