import t from 'tap'
import type { TestService } from '../helpers/service.ts'
import { openDashboard } from './dashboard.ts'

/** As the last check of the domain would, had it found all records. */
async function foundRecords({ core, sql }: TestService, id: number): Promise<void> {
  const domain = (await core.domains.page((await core.domains.list())[0]?.accountId as number, { limit: 1, offset: 0 }))
    .domains[0]
  const seen = Object.fromEntries((domain?.dns ?? []).map(({ host, type }) => [`${type} ${host}`, { state: 'right' }]))
  await sql`update domains set records = ${JSON.stringify(seen)}::text::jsonb where id = ${id}`
}

t.test('the first steps follow the account: a key, a test message to the visitor, a domain', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const { accountId } = ada
  const page = `/app/${accountId}/first-steps`
  t.equal((await ada.get('/app')).headers.get('location'), page, 'an account without mail begins here')
  t.match(await (await ada.get(page)).text(), '1 of 6 done')
  await service.core.auth.createKey({ accountId, name: 'shop' })
  await service.giveKey('ship.example')
  const { id } = await service.core.domains.add({ accountId, name: 'ship.example', state: 'active' })
  const before = await (await ada.get(page)).text()
  t.match(before, '2 of 6 done', 'the operator activated the domain, but nothing of it is in the DNS')
  t.match(before, /ship\.example is added.*0 of 2 found/s)
  await foundRecords(service, id)
  t.match(await (await ada.get(page)).text(), '3 of 6 done')
  const sent = await ada.post(`${page}/test`)
  t.equal(sent.status, 303)
  t.match(sent.headers.get('location'), 'said=sent')
  const shown = await (await ada.get(page)).text()
  t.match(shown, '4 of 6 done')
  t.match(shown, /The latest one: <a href="[^"]*\/messages\/[0-9a-f-]{32,36}">.*My first message/s)
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

t.test('the key that is shown is the newest one that may send', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const page = `/app/${ada.accountId}/first-steps`
  const { auth } = service.core
  await auth.createKey({ accountId: ada.accountId, name: 'reads', scopes: ['stats', 'send.read'] })
  t.match(await (await ada.get(page)).text(), '1 of 6 done')
  const { key } = await auth.createKey({ accountId: ada.accountId, name: 'shop', scopes: ['send'] })
  await auth.createKey({ accountId: ada.accountId, name: 'reads too', scopes: ['events'] })
  const shown = await (await ada.get(page)).text()
  t.match(shown, '2 of 6 done')
  t.match(shown, `${key.prefix}… was shown once`)
})
