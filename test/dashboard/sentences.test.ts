import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

t.test('a message that is sent again is not called a test message', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { body } = await sendV2(dashboard.url, ada.apiKey, v2Body(ada))
  const again = await ada.post(`/app/${ada.accountId}/messages/${body.data?.message_id}/resend`)
  const shown = await (await ada.get(again.headers.get('location') as string)).text()
  t.match(shown, 'The message is accepted once more. This is the new one.')
  t.notMatch(shown, 'The test message')
})

t.test('a message that was dropped says why in words, in both languages', async (t) => {
  const dashboard = await openDashboard(t)
  const { service, url } = dashboard
  const ada = await sendingOwner(dashboard)
  await service.core.suppressions.addAll({ accountId: ada.accountId, emails: ['lena@harbor.example'] })
  const { body } = await sendV2(url, ada.apiKey, v2Body(ada))
  const shown = async (language: string) => {
    const headers = { cookie: ada.cookie, 'accept-language': language }
    const text = await (
      await fetch(`${url}/app/${ada.accountId}/messages/${body.data?.message_id}`, { headers })
    ).text()
    return /<p class="sentence">(.*?)<\/p>/s.exec(text)?.[1]?.replace(/<[^>]+>/g, '')
  }
  t.match(await shown('en'), /^Dropped at [^.]*\. Not sent: suppressed by hand\./)
  t.match(await shown('de'), /^Verworfen um [^.]*\. Nicht gesendet: von Hand gesperrt\./)
})

t.test('an active domain whose records were not found is not said to become active', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  await service.giveKey('ship.example')
  await service.core.domains.add({ accountId: ada.accountId, name: 'ship.example', state: 'active' })
  const shown = await (await ada.get(`/app/${ada.accountId}/domains/ship.example`)).text()
  t.match(shown, 'Mail is accepted, because the operator activated the domain, but 2 required records are not found.')
  t.notMatch(shown, 'becomes active by itself')
})

t.test('a hold is explained by its rule in words, with the page that says what to do', async (t) => {
  const { owner, service, url } = await openDashboard(t)
  const ada = await owner()
  await service.sql`
    insert into account_holds (account_id, rule, level, classes, figures, since, check_at)
    values (${ada.accountId}, 'complaints', 'slowed', '{}', '{}', service_now(), 'infinity')`
  const shown = await (await ada.get(`/app/${ada.accountId}`)).text()
  t.match(shown, 'Many complaints')
  const guide = /href="(\/docs\/guides\/reputation)"/.exec(shown)?.[1] ?? ''
  t.equal((await fetch(`${url}${guide}`)).status, 200)
})
