import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { openDashboard } from './dashboard.ts'

const LONG_HINT = 'strings of at most 255 characters'

t.test(
  'the page of a domain says where its DNS is, what is not final, and what mistake was made, in both languages',
  async (t) => {
    const dns = await startDns(t, { 'ship.example': { ns: ['kate.ns.cloudflare.com'] } })
    const dashboard = await openDashboard(t, { DNS_SERVERS: dns.address, HELO_NAME: 'vm' })
    const ada = await dashboard.owner()
    const { domains } = dashboard.service.core
    const { accountId } = ada
    const { dns: records } = await domains.add({ accountId, name: 'ship.example' })
    const [dkim] = records
    const at = `/app/${accountId}/domains/ship.example`
    const before = await (await ada.get(at)).text()
    t.match(before, 'The host name “vm” is not final')
    t.match(before, LONG_HINT)
    t.notMatch(before, 'Cloudflare', 'not looked up yet')
    if (dkim) dns.zones[`${dkim.host}.ship.example`] = { txt: [dkim.value] }
    t.equal((await ada.post(`${at}/check`)).status, 303)
    const after = await (await ada.get(at)).text()
    t.match(after, 'The DNS of this domain is at Cloudflare')
    t.match(after, 'If the form appends ship.example to a host by itself')
    t.match(after, 'The domain was appended twice.')
    const headers = { cookie: ada.cookie, 'accept-language': 'de' }
    const german = await (await fetch(new URL(at, dashboard.url), { headers })).text()
    t.match(german, 'Das DNS dieser Domain liegt bei Cloudflare')
    t.match(german, 'Die Domain wurde zweimal angehängt.')
    t.match(german, 'Der Hostname „vm“ ist nicht endgültig')
  },
)

t.test('a domain that the operator activated has one state, on its page and in the list', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  const { accountId } = ada
  await service.giveKey('ship.example')
  await service.core.domains.add({ accountId, name: 'ship.example', state: 'active' })
  for (const path of ['domains', 'domains/ship.example']) {
    const text = await (await ada.get(`/app/${accountId}/${path}`)).text()
    t.match(text, 'Active, without records', path)
    t.notMatch(text, 'only from domains whose')
  }
  t.match(
    await (await ada.get(`/app/${accountId}/domains/ship.example`)).text(),
    'because the operator activated the domain',
  )
})
