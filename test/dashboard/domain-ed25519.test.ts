import t from 'tap'
import { openDashboard } from './dashboard.ts'

t.test('the page of a domain turns Ed25519 signatures on and off, and shows the record of that key', async (t) => {
  const { owner, service, url } = await openDashboard(t)
  const ada = await owner()
  await service.giveKey('ship.example')
  await service.core.domains.add({ accountId: ada.accountId, name: 'ship.example', state: 'active' })
  const page = `/app/${ada.accountId}/domains/ship.example`
  const shown = async (language = 'en') => {
    const headers = { cookie: ada.cookie, 'accept-language': language }
    return (await fetch(url + page, { headers })).text()
  }
  t.match(await shown(), /Also sign with Ed25519/)
  t.match(await shown('de'), /Auch mit Ed25519 signieren/)
  t.notMatch(await shown(), 'DKIM (Ed25519)')
  t.equal((await ada.post(`${page}/ed25519`, { ed25519: 'on' })).status, 303)
  t.match(await service.core.domains.show('ship.example'), { ed25519: true })
  t.match(await shown(), 'DKIM (Ed25519)')
  t.match(await shown(), /pr1-ed-[a-z0-9]{6}\._domainkey\.ship\.example[\s\S]*k=ed25519; p=/)
  t.match(await shown(), /Stop signing with Ed25519\?/)
  t.match(await shown(), 'but 2 required records are not found', 'that of Ed25519 is not required')
  t.match(await (await ada.get(`${page}/zone`)).text(), /^pr1-ed-.*"v=DKIM1; k=ed25519; p=/m)
  t.equal((await ada.post(`${page}/ed25519`)).status, 303)
  t.match(await service.core.domains.show('ship.example'), { ed25519: false })
  t.notMatch(await shown(), 'DKIM (Ed25519)')
})
