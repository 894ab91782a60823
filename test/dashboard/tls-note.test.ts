import t from 'tap'
import { openDashboard } from './dashboard.ts'

t.test(
  'a demand of TLS, by which mail waits, is on the page of the account, for its owner and the operator',
  async (t) => {
    const { service, owner, url } = await openDashboard(t)
    const ada = await owner()
    const { accountId } = ada
    const pages = [`/app/${accountId}/settings`, `/app/operator/accounts/${accountId}`]
    const shown = async () => Promise.all(pages.map(async (path) => (await ada.get(path)).text()))
    for (const page of await shown()) t.notMatch(page, 'demands TLS')
    const { secret } = await service.core.auth.createKey({ accountId })
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ require_tls: true, require_valid_cert: true })
    t.equal((await fetch(`${url}/v3/user/settings/enforced_tls`, { method: 'PATCH', headers, body })).status, 200)
    for (const page of await shown()) t.match(page, 'All mail of this account demands TLS with a valid certificate')
  },
)
