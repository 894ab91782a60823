import t from 'tap'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

t.test('a recipient is exported and erased, and the requests are listed', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { service, member } = dashboard
  const at = `/app/${ada.accountId}/privacy`
  await acceptMessage(service, ada, { envelopes: [envelopeTo('lena@harbor.example')] })
  await service.core.suppressions.addAll({ accountId: ada.accountId, emails: ['lena@harbor.example'] })
  t.match(await (await ada.get(at)).text(), 'No recipient was erased.')
  t.match(await (await ada.get(`/app/${ada.accountId}/suppressions`)).text(), `href="${at}"`)
  const file = await ada.post(`${at}/export`, { email: 'lena@harbor.example' })
  t.match(file.headers.get('content-disposition'), 'attachment')
  t.match(await file.json(), {
    email: 'lena@harbor.example',
    deliveries: [{ recipient: 'lena@harbor.example' }],
    suppressions: [{ reason: 'manual' }],
  })
  t.equal((await ada.post(`${at}/export`, { email: 'nobody' })).status, 400)
  t.equal((await ada.post(`${at}/erase`, { emails: 'x@y.example nobody' })).status, 400)
  t.equal((await service.core.privacy.requests(ada.accountId, { limit: 1, offset: 0 })).total, 0)
  const erased = await ada.post(`${at}/erase`, { emails: 'lena@harbor.example\r\nmina@harbor.example' })
  t.equal(erased.headers.get('location'), `${at}?said=saved`)
  const { requests } = await service.core.privacy.requests(ada.accountId, { limit: 10, offset: 0 })
  t.match(requests, [{ emails: 2 }])
  const page = await (await ada.get(at)).text()
  t.match(page, requests[0]?.id)
  t.match(page, 'Queued')
  await service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
  await service.core.people.sessions.endAll(0)
  t.equal((await ada.post(`${at}/erase`, { emails: 'nobody' })).status, 400, 'what is invalid is said before')
  t.match(await (await ada.post(`${at}/erase`, { emails: 'x@y.example' })).text(), 'Confirm that it is you')
  t.equal((await service.core.privacy.requests(ada.accountId, { limit: 1, offset: 0 })).total, 1)
  const developer = await member(ada.accountId, 'developer')
  t.equal((await developer.get(at)).status, 403)
})
