import t from 'tap'
import { numberEvents } from '../helpers/number-events.ts'
import { openDashboard } from './dashboard.ts'

const DAY = 86_400_000
const today = new Date().toISOString().slice(0, 10)

t.test('an export is requested, made, and downloaded', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const at = `/app/${ada.accountId}/exports`
  t.match(await (await ada.get(at)).text(), 'No exports yet')
  const asked = await ada.post(at, { from: today, to: today, format: 'csv', events: 'sent' })
  t.equal(asked.status, 303)
  t.match(asked.headers.get('location'), 'said=exporting')
  t.match(await (await ada.get(at)).text(), '>queued<')
  await numberEvents(service)
  while (await service.core.exports.workSome());
  const page = await (await ada.get(at)).text()
  t.match(page, '>done<')
  const link = new RegExp(`${at}/exp_[0-9a-f]+/file`).exec(page)?.[0] as string
  const file = await ada.get(link)
  t.equal(file.status, 200)
  t.match(file.headers.get('content-disposition'), /attachment; filename="events-.*\.csv"/)
  t.match(await file.text(), 'TRANSID')
})

t.test('a queued export is cancelled, and days that are invalid are refused', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const at = `/app/${ada.accountId}/exports`
  const refused = await ada.post(at, { from: today, to: '2026-02-30' })
  t.equal(refused.status, 400)
  t.match(await refused.text(), 'value="2026-02-30"')
  t.equal((await ada.post(at, { from: today, events: 'everything' })).status, 400)
  await ada.post(at, { from: today })
  const [job] = await service.core.exports.list(ada.accountId, { limit: 1 })
  t.equal((await ada.post(`${at}/${job?.id}/cancel`)).status, 303)
  t.same(await service.core.exports.list(ada.accountId, { limit: 1 }), [])
  t.equal((await ada.post(`${at}/${job?.id}/cancel`)).status, 404)
})

t.test('messages, suppressions and statistics lead to the form, with their filters filled in', async (t) => {
  const { member, owner } = await openDashboard(t)
  const ada = await owner()
  const at = `/app/${ada.accountId}`
  const since = new Date(Date.now() - 9 * DAY).toISOString().slice(0, 10)
  const linkOf = async (path: string) => {
    const page = await (await ada.get(`${at}/${path}`)).text()
    const link = /href="([^"]*\/exports\/new[^"]*)"/.exec(page)?.[1] as string
    return (await ada.get(link.replaceAll('&amp;', '&'))).text()
  }
  const ofMessages = await linkOf(`messages?q=after:${since}&state=bounced`)
  t.match(ofMessages, `name="from" type="date" value="${since}"`)
  t.match(ofMessages, 'value="hardbounce" checked')
  t.notMatch(ofMessages, 'value="sent" checked')
  t.match(await linkOf('suppressions'), 'value="unsubscribed" checked')
  t.match(await linkOf(`statistics?from=${since}&to=${today}`), `value="${since}"`)
  const viewer = await member(ada.accountId, 'viewer')
  t.notMatch(await (await viewer.get(`${at}/statistics`)).text(), 'exports/new')
})

t.test('exports of other accounts are not found', async (t) => {
  const { member, owner, service } = await openDashboard(t)
  const ada = await owner()
  const other = await service.core.accounts.create('other')
  const stranger = await member(other.id, 'owner')
  await ada.post(`/app/${ada.accountId}/exports`, { from: today })
  const [job] = await service.core.exports.list(ada.accountId, { limit: 1 })
  const theirs = `/app/${other.id}/exports`
  t.equal((await stranger.get(`${theirs}/${job?.id}/file`)).status, 404)
  t.equal((await stranger.post(`${theirs}/${job?.id}/cancel`)).status, 404)
  t.notMatch(await (await stranger.get(theirs)).text(), '>queued<')
  t.match(await (await stranger.get(`${theirs}?before=${job?.id}`)).text(), 'role="alert"')
})
