import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const url = await service.openApi()

async function makeCaller() {
  const sender = await service.makeSender({ tracking: true })
  const call = (method: string, path: string, body?: unknown) => ask(url, { method, path, key: sender.apiKey, body })
  const settings = () => service.core.accounts.settings.show(sender.accountId)
  return { ...sender, call, settings }
}

t.test('open tracking, click tracking and unsubscribe links are turned on and off for the account', async (t) => {
  proves(t, 'account-settings', 'operation.viewOpenTracking', 'operation.changeOpenTracking')
  proves(t, 'operation.viewClickTracking', 'operation.changeClickTracking', 'operation.viewSubscriptionTracking')
  proves(t, 'operation.changeSubscriptionTracking', 'operation.listTrackingSettings')
  const { call, settings } = await makeCaller()
  t.same((await call('GET', '/tracking_settings/open')).json, { enabled: true })
  t.same((await call('GET', '/tracking_settings/click')).json, { enabled: true, enable_text: false })
  const off = await call('PATCH', '/tracking_settings/open', { enabled: false })
  t.strictSame([off.status, off.json], [200, { enabled: false }])
  await call('PATCH', '/tracking_settings/click', { enabled: false, enable_text: false })
  const on = await call('PATCH', '/tracking_settings/subscription', { enabled: true })
  t.same(on.json, { enabled: true, html_content: '', landing: '', plain_content: '', replace: '', url: '' })
  const texts = { html_content: '<i>No more? <%Leave%></i>', plain_content: 'No more? <%%>' }
  t.match((await call('PATCH', '/tracking_settings/subscription', texts)).json, { enabled: true, ...texts })
  t.match(await settings(), { unsubscribeHtml: texts.html_content, unsubscribeText: texts.plain_content })
  const long = await call('PATCH', '/tracking_settings/subscription', { plain_content: 'x'.repeat(2049) })
  refusedV3(t, long, [400, 'plain_content: must be at most 2048 bytes', 'plain_content'])
  await call('PATCH', '/tracking_settings/subscription', { html_content: '', plain_content: null })
  t.match(await settings(), { unsubscribeHtml: null, unsubscribeText: null })
  t.match(await settings(), { openTracking: false, clickTracking: false, unsubscribeLink: true })
  t.same((await call('PATCH', '/tracking_settings/open')).json, { enabled: false }, 'nothing named, nothing changed')
  const list = (await call('GET', '/tracking_settings')).json?.result as { name: string; enabled: boolean }[]
  t.strictSame(
    list.map(({ name, enabled }) => [name, enabled]),
    [
      ['click', false],
      ['google_analytics', false],
      ['open', false],
      ['subscription', true],
    ],
  )
  t.strictSame(Object.keys(list[0] ?? {}), ['name', 'title', 'description', 'enabled'])
})

t.test('the footer is on while it has content', async (t) => {
  proves(t, 'account-settings', 'operation.viewFooterSetting', 'operation.changeFooterSetting')
  proves(t, 'operation.listMailSettings')
  const { call, settings, accountId } = await makeCaller()
  const path = '/mail_settings/footer'
  const none = { enabled: false, html_content: '', plain_content: '' }
  t.same((await call('GET', path)).json, none)
  refusedV3(t, await call('PATCH', path, { enabled: true }), [400, /needs html_content/, 'enabled'])
  const both = { enabled: true, html_content: '<b>Ship</b>', plain_content: 'Ship' }
  t.same((await call('PATCH', path, both)).json, both)
  t.same((await call('PATCH', path, { plain_content: 'Ship & Co' })).json, { ...both, plain_content: 'Ship & Co' })
  t.match(await settings(), { footerHtml: '<b>Ship</b>', footerText: 'Ship & Co' })
  const list = (await call('GET', '/mail_settings')).json?.result as { name: string; enabled: boolean }[]
  t.strictSame(
    list.filter(({ enabled }) => enabled).map(({ name }) => name),
    ['footer'],
  )
  refusedV3(t, await call('PATCH', path, { html_content: 'é'.repeat(6000) }), [400, /10240 bytes/, 'html_content'])
  t.same((await call('PATCH', path, { enabled: false, html_content: 'x' })).json, none)
  const changes = await service.sql`
    select 1 from audit_log where account_id = ${accountId} and action = 'account.change'`
  t.equal(changes.length, 3)
})

t.test('unavailable settings are off, and enabling one is rejected', async (t) => {
  proves(t, 'operation.viewGoogleAnalyticsTracking', 'operation.changeGoogleAnalyticsTracking')
  proves(t, 'operation.viewAddressWhitelistSetting', 'operation.changeAddressWhitelistSetting')
  proves(t, 'operation.viewBouncePurgeSetting', 'operation.changeBouncePurgeSetting')
  proves(t, 'operation.viewForwardBounceSetting', 'operation.changeForwardBounceSetting')
  proves(t, 'operation.viewForwardSpamSetting', 'operation.changeForwardSpamSetting')
  proves(t, 'operation.viewTemplateSetting', 'operation.changeTemplateSetting')
  const { call } = await makeCaller()
  const others = ['address_whitelist', 'bounce_purge', 'forward_bounce', 'forward_spam', 'template']
  for (const path of ['/tracking_settings/google_analytics', ...others.map((name) => `/mail_settings/${name}`)]) {
    const shown = await call('GET', path)
    t.match(shown.json, { enabled: false }, path)
    refusedV3(t, await call('PATCH', path, { enabled: true }), [400, 'This setting is not available.', 'enabled'], path)
    t.same((await call('PATCH', path, { ...shown.json, enabled: false, email: 'a@ship.example' })).json, shown.json)
  }
  for (const [path, body, field] of [
    ['click', { enable_text: true }, 'enable_text'],
    ['subscription', { enabled: true, landing: '<p>Bye</p>' }, 'landing'],
  ] as const) {
    refusedV3(t, await call('PATCH', `/tracking_settings/${path}`, body), [400, /not available/, field])
  }
  refusedV3(t, await call('PATCH', '/tracking_settings/open', { enabled: 'yes' }), [400, /boolean/, 'enabled'])
  refusedV3(t, await call('GET', '/tracking_settings/none'), [404, 'resource not found'])
})

t.test('@sendgrid/client reads and changes settings and reads the user name', async (t) => {
  proves(t, 'operation.viewUsername')
  const { apiKey, accountId, accountName } = await makeCaller()
  const request = sendgridClient(url, apiKey)
  const open = { method: 'PATCH', url: '/v3/tracking_settings/open', body: { enabled: false } } as const
  t.same(await request(open), [200, { enabled: false }])
  t.match(await request({ method: 'GET', url: '/v3/mail_settings' }), [200, { result: [{ enabled: false }] }])
  const who = [200, { username: accountName, user_id: accountId }]
  t.same(await request({ method: 'GET', url: '/v3/user/username' }), who)
})

t.test('the calls that integrations test their connection with answer', async (t) => {
  proves(t, 'operation.viewProfile', 'operation.viewAccount', 'operation.viewEmail', 'operation.viewCredits')
  const { call, accountId, accountName } = await makeCaller()
  const { core, sql } = service
  const bodyOf = async (path: string) => (await call('GET', path)).json
  t.match(await bodyOf('/user/profile'), { company: accountName, first_name: '', last_name: '', city: '', zip: '' })
  t.strictSame(await bodyOf('/user/account'), { type: 'paid', reputation: 100 })
  await sql`
    insert into account_counts (account_id, hour, accepted, delivered, hard, soft, complained)
    values (${accountId}, date_trunc('hour', service_now()), 200, 190, 10, 0, 1)`
  t.strictSame(await bodyOf('/user/account'), { type: 'paid', reputation: 94.5 })
  t.strictSame(await bodyOf('/user/email'), { email: '' })
  await sql`update accounts set email = 'desk@ship.example' where id = ${accountId}`
  t.strictSame(await bodyOf('/user/email'), { email: 'desk@ship.example' })
  t.match(await bodyOf('/user/credits'), { remain: 1_000_000_000, used: 0, overage: 0, reset_frequency: 'monthly' })
  await core.credits.limit(accountId, 500)
  await sql`insert into credit_usage (account_id, day, slot, used) values (${accountId}, (service_now() at time zone 'UTC')::date, 0, 7)`
  t.match(await bodyOf('/user/credits'), {
    remain: 500,
    used: 7,
    total: 507,
    last_reset: /^\d{4}-\d\d-01$/,
    next_reset: /^\d{4}-\d\d-01$/,
  })
})

t.test('an account demands TLS, or valid certificates, of the recipients of its mail', async (t) => {
  proves(t, 'operation.viewEnforcedTls', 'operation.changeEnforcedTls')
  const { call, accountId } = await makeCaller()
  const path = '/user/settings/enforced_tls'
  const shown = (tls: boolean, certificate: boolean, version = 1.2) => ({
    require_tls: tls,
    require_valid_cert: certificate,
    version,
  })
  t.strictSame((await call('GET', path)).json, shown(false, false))
  for (const [body, after] of [
    [{ require_tls: true }, shown(true, false)],
    [{}, shown(true, false)],
    [{ require_valid_cert: true }, shown(true, true)],
    [{ require_tls: true }, shown(true, true)],
    [{ require_valid_cert: false }, shown(true, false)],
    [{ require_tls: true, require_valid_cert: true, version: 1.1 }, shown(true, true, 1.1)],
    [{ require_tls: true }, shown(true, true, 1.1)],
    [{ version: 1.2 }, shown(true, true)],
    [{ require_tls: false }, shown(false, false)],
    [{ require_valid_cert: true }, shown(true, true)],
    [shown(false, false), shown(false, false)],
  ] as const) {
    const answer = await call('PATCH', path, body)
    t.strictSame([answer.status, answer.json], [200, after], JSON.stringify(body))
    t.strictSame((await call('GET', path)).json, after)
  }
  refusedV3(t, await call('PATCH', path, { require_tls: false, require_valid_cert: true }), [
    400,
    /require_tls must be true/,
    'require_tls',
  ])
  refusedV3(t, await call('PATCH', path, { require_tls: true, version: 1.3 }), [400, /1\.1 or 1\.2/, 'version'])
  t.match(await call('PATCH', path, { require_tls: 'yes' }), { status: 400 })
  t.strictSame((await call('GET', path)).json, shown(false, false), 'nothing was changed by these')
  const entries = await service.core.audit.list(accountId, { after: 0, limit: 100 })
  t.match(entries.filter(({ action }) => action === 'tls.set').at(0), { object: 'tls', after: { level: 'required' } })
})
