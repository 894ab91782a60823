import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard } from './dashboard.ts'

t.test(
  "the id of a message leads to its page in the visitor's account, and those of others are not found",
  async (t) => {
    const { service, url, owner } = await openDashboard(t)
    const ada = await owner()
    await service.giveKey('ship.example')
    await service.core.domains.add({ accountId: ada.accountId, name: 'ship.example', state: 'active' })
    const { secret: apiKey } = await service.core.auth.createKey({ accountId: ada.accountId, name: 'test' })
    const own = { ...ada, apiKey, domain: 'ship.example', accountName: 'main' }
    const other = await service.makeSender()
    const ids: string[] = []
    for (const from of [own, other]) {
      const { body } = await sendV2(url, from.apiKey, v2Body(from))
      ids.push(body.data?.message_id as string)
    }
    const found = await ada.get(`/app/messages/${ids[0]}`)
    t.equal(found.status, 303)
    t.equal(found.headers.get('location'), `/app/${ada.accountId}/messages/${ids[0]}`)
    t.equal((await ada.get(found.headers.get('location') as string)).status, 200)
    for (const id of [ids[1], '0'.repeat(32), 'x', '%00']) t.equal((await ada.get(`/app/messages/${id}`)).status, 404)
  },
)
