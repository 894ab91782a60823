import t from 'tap'
import { openDashboard } from './dashboard.ts'

const FORM = {
  mailClass: 'bulk',
  openTracking: 'on',
  hostsMaySend: 'on',
  mailReports: 'on',
  requirements: 'hold',
  timeZone: 'Europe/Lisbon',
  bodyDays: '7',
  eventDays: '',
  footerHtml: '<b>Ship & Co</b></textarea><script>alert(1)</script>',
  footerText: 'Ship\r\nCo',
}

t.test('settings are shown and changed, and what was entered is kept if it is refused', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  const path = `/app/${ada.accountId}/settings`
  t.equal((await ada.post(path, FORM)).headers.get('location'), `${path}?said=saved`)
  t.match(await service.core.accounts.settings.show(ada.accountId), {
    mailClass: 'bulk',
    openTracking: true,
    clickTracking: false,
    generateText: false,
    hostsMaySend: true,
    mailReports: true,
    fallbackSender: null,
    accountNotices: false,
    requirements: 'hold',
    timeZone: 'Europe/Lisbon',
    bodyDays: 7,
    eventDays: null,
    footerText: 'Ship\nCo',
  })
  const shown = await (await ada.get(path)).text()
  t.notMatch(shown, '<script>alert')
  t.match(shown, '&lt;/textarea&gt;&lt;script&gt;')
  for (const wrong of [
    { timeZone: 'Mars/Base' },
    { bodyDays: '0' },
    { bodyDays: 'x' },
    { mailClass: 'gold' },
    { requirements: 'no' },
  ]) {
    const refused = await ada.post(path, { ...FORM, footerText: 'kept', ...wrong })
    t.equal(refused.status, 400, JSON.stringify(wrong))
    t.match(await refused.text(), 'kept')
  }
})

t.test('an owner changes the name of the account, and a name that another one has is refused', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  const path = `/app/${ada.accountId}/settings`
  const { name: taken } = await service.core.accounts.create('Harbor Lines')
  const refused = await ada.post(`${path}/name`, { name: taken })
  t.equal(refused.status, 400)
  t.match(await refused.text(), `value="${taken}"`, 'what was entered is kept')
  t.equal((await ada.post(`${path}/name`, { name: ' ' })).status, 400)
  t.equal((await ada.post(`${path}/name`, { name: 'Ship & Co' })).headers.get('location'), `${path}?said=saved`)
  t.match(await (await ada.get(path)).text(), '<b class="cut">Ship &amp; Co</b>', 'in the frame at once')
  const log = await service.core.audit.list(ada.accountId, { after: 0, limit: 100 })
  t.match(
    log.filter(({ action }) => action === 'account.rename'),
    [{ userId: 1, after: { name: 'Ship & Co' } }],
  )
})

t.test('the audit log says who changed what, by kind and in pages, and that its chain is whole', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  const path = `/app/${ada.accountId}/audit`
  await service.core.people.users.rename(1, '<i>Ada</i>')
  await ada.post(`/app/${ada.accountId}/settings`, FORM)
  for (let n = 0; n < 55; n++) {
    const by = { keyId: null, userId: 1, address: '192.0.2.7' }
    await service.core.accounts.settings.change(ada.accountId, { bodyDays: (n % 9) + 1 }, by)
  }
  const first = await (await ada.get(path)).text()
  t.match(first, '&lt;i&gt;Ada&lt;/i&gt;')
  t.notMatch(first, '<i>Ada</i>')
  t.match(first, 'account.<wbr>change')
  t.match(first, /<b><bdi>&lt;i&gt;Ada&lt;\/i&gt;<\/bdi><\/b> <bdi>changed the settings of the account<\/bdi>/)
  t.match(first, 'Changed: bodyDays.')
  t.match(first, /<details><summary class="q">Details<\/summary>/)
  t.match(first, '192.0.2.7')
  t.match(first, /bodyDays<\/bdi>: <del><bdi>9<\/bdi><\/del> <bdi>1<\/bdi>/)
  t.match(first, /The chain of hashes is verified to entry 5\d/)
  const before = /before=(\d+)/.exec(first)?.[1]
  const second = await (await ada.get(`${path}?before=${before}`)).text()
  t.match(second, 'Europe/Lisbon')
  t.match(await (await ada.get(`${path}?kind=webhook`)).text(), 'No such change')
  t.match(await (await ada.get(`${path}?kind=account`)).text(), 'account.<wbr>change')
  await service.sql.begin(async (sql) => {
    await sql`alter table audit_log disable trigger audit_log_append_only`
    await sql`update audit_log set after = '{"bodyDays": 30}' where account_id = ${ada.accountId} and number = 20`
    await sql`alter table audit_log enable trigger audit_log_append_only`
  })
  t.match(await (await ada.get(path)).text(), 'Entry 20 was altered')
})
