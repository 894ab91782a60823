import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { asForm, call, errorText, FORM, JSON_TYPE } from '../call.ts'

const service = await makeService(t, { EVENT_DAYS: '60', BODY_DAYS: '10' })
const url = await service.openApi()

const show = async (apiKey: string) =>
  (await call(url, { method: 'GET', path: '/v2/account', headers: { api_key: apiKey } })).json?.data
const change = (apiKey: string, body: Record<string, unknown>, method = 'POST') =>
  call(url, { method, path: '/v2/account', headers: { ...JSON_TYPE, api_key: apiKey }, body })

const DEFAULTS = {
  openTracking: true,
  clickTracking: true,
  unsubscribeLink: false,
  mailClass: 'normal',
  footerHtml: null,
  footerText: null,
  unsubscribeHtml: null,
  unsubscribeText: null,
  generateText: true,
  hostsMaySend: false,
  mailReports: false,
  fallbackSender: null,
  privacyMode: false,
  accountNotices: true,
  mutedNotices: '',
  requirements: null,
  timeZone: 'UTC',
  keepContent: true,
  eventDays: null,
  bodyDays: null,
}

t.test('an account starts with tracking, without footer and link, in UTC, kept as the operator keeps it', async (t) => {
  const { apiKey } = await service.makeSender({ tracking: true })
  t.strictSame(await show(apiKey), DEFAULTS)
})

t.test('what is named is changed, what is not stays, and both are answered', async (t) => {
  const { apiKey } = await service.makeSender({ tracking: true })
  const first = await change(apiKey, {
    openTracking: false,
    clickTracking: 0,
    unsubscribeLink: '1',
    mailClass: 'bulk',
    footerHtml: '<p>Ship & Söhne</p>',
    footerText: 'Ship & Söhne',
    unsubscribeHtml: '<i><%Leave%></i>',
    unsubscribeText: '<%%> to leave',
    generateText: '0',
    hostsMaySend: 1,
    mailReports: 1,
    privacyMode: true,
    accountNotices: 0,
    mutedNotices: 'key, Credit',
    requirements: 'hold',
    timeZone: 'america/new_york',
    eventDays: 60,
    bodyDays: 1,
    keepContent: 0,
  })
  const wanted = {
    openTracking: false,
    clickTracking: false,
    unsubscribeLink: true,
    mailClass: 'bulk',
    footerHtml: '<p>Ship & Söhne</p>',
    footerText: 'Ship & Söhne',
    unsubscribeHtml: '<i><%Leave%></i>',
    unsubscribeText: '<%%> to leave',
    generateText: false,
    hostsMaySend: true,
    mailReports: true,
    fallbackSender: null,
    privacyMode: true,
    accountNotices: false,
    mutedNotices: 'credit,key',
    requirements: 'hold',
    timeZone: 'America/New_York',
    eventDays: 60,
    keepContent: false,
    bodyDays: 1,
  }
  t.strictSame(first.json, { data: wanted, message: 'Success', error_info: null })
  const changed = { footerHtml: ' \n', privacyMode: null, requirements: '', eventDays: 0, bodyDays: null }
  const second = await change(apiKey, changed, 'PATCH')
  t.strictSame(second.json?.data, { ...wanted, footerHtml: null, requirements: null, eventDays: null, bodyDays: null })
  t.strictSame(await show(apiKey), second.json?.data)
  const form = await call(url, {
    path: '/v2/account',
    headers: { ...FORM, api_key: apiKey },
    body: asForm({ openTracking: '1', footerText: '', timeZone: 'Asia/Kolkata', eventDays: '7' }),
  })
  t.match(form.json?.data, { openTracking: true, footerText: null, timeZone: 'Asia/Kolkata', eventDays: 7 })
})

t.test('an unknown setting is rejected by its name, and nothing is changed', async (t) => {
  const { apiKey } = await service.makeSender({ tracking: true })
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ timeZone: 'Mars/Olympus' }, /\[timeZone\]/],
    [{ timeZone: '+05:30' }, /\[timeZone\]/],
    [{ timeZone: 'localtime' }, /\[timeZone\]/],
    [{ timeZone: 'posix/UTC' }, /\[timeZone\]/],
    [{ timeZone: '' }, /\[timeZone\]/],
    [{ openTracking: 'perhaps' }, /\[openTracking\]/],
    [{ requirements: 'refuse' }, /\[requirements\].*warn or hold/],
    [{ footerHtml: 'é'.repeat(5121) }, /\[footerHtml\].*10240 bytes/],
    [{ footerText: 'a\0b' }, /\[footerText\].*NUL/],
    [{ unsubscribeText: 'x'.repeat(2049) }, /\[unsubscribeText\].*2048 bytes/],
    [{ footerText: '\ud800' }, /\[footerText\].*Unicode/],
    [{ eventDays: 61 }, /\[eventDays\].*from 1 to 60/],
    [{ eventDays: -1 }, /\[eventDays\]/],
    [{ bodyDays: 11 }, /\[bodyDays\].*from 1 to 10/],
    [{ bodyDays: 1.5 }, /\[bodyDays\]/],
  ]
  for (const [body, said] of wrong) {
    const answer = await change(apiKey, { clickTracking: false, ...body })
    t.match(answer, { status: 400, json: { error_info: { error_code: 113 }, message: 'Error in Account api call' } })
    t.match(errorText(answer), said)
  }
  t.match(await change(apiKey, {}), { status: 400, json: { error_info: { error_code: 110 } } })
  t.strictSame(await show(apiKey), DEFAULTS)
  const { secret } = await service.core.auth.createKey({ accountId: 1, scopes: ['stats'] })
  t.match(await change(secret, { openTracking: false }), { status: 403, json: { error_info: { error_code: 103 } } })
})

t.test('the audit log shows what changed and never the words of a footer', async (t) => {
  const { apiKey, accountId } = await service.makeSender({ tracking: true })
  await change(apiKey, { footerText: 'call Lena', clickTracking: false, openTracking: true })
  await change(apiKey, { clickTracking: false })
  const entries = await service.core.audit.list(accountId, { after: 0, limit: 100 })
  const changes = entries.filter(({ action }) => action === 'account.change')
  t.equal(changes.length, 1, 'what changes nothing is not told')
  t.strictSame(changes[0]?.before, { footerText: null, clickTracking: true })
  t.strictSame(changes[0]?.after, { footerText: '9 octets', clickTracking: false })
})

t.test('a subaccount starts with the settings of its parent and then has its own', async (t) => {
  const parent = await service.makeSender({ tracking: true })
  const wanted = {
    footerText: 'of the parent',
    timeZone: 'Asia/Tokyo',
    eventDays: 30,
    requirements: 'hold',
    openTracking: false,
  }
  await change(parent.apiKey, wanted)
  const made = await call(url, {
    path: '/v2/subaccounts/createSubaccount',
    headers: { ...JSON_TYPE, api_key: parent.apiKey },
    body: { username: 'pier', email: 'pier@ship.example', setpassword: '0' },
  })
  t.equal(made.status, 200, made.text)
  const act = (method: string, body?: Record<string, unknown>) =>
    call(url, {
      method,
      path: '/v2/account',
      ...(body ? { body } : {}),
      headers: { ...JSON_TYPE, api_key: parent.apiKey, 'on-behalf-of': 'pier' },
    })
  t.strictSame((await act('GET')).json?.data, { ...DEFAULTS, ...wanted })
  await act('PATCH', { footerText: 'its own' })
  await change(parent.apiKey, { timeZone: 'UTC' })
  t.strictSame((await act('GET')).json?.data, { ...DEFAULTS, ...wanted, footerText: 'its own' })
  t.match(await show(parent.apiKey), { footerText: 'of the parent', timeZone: 'UTC' })
})

t.test('changes at the same time all count', async (t) => {
  const { apiKey } = await service.makeSender({ tracking: true })
  const changes = [{ openTracking: false }, { clickTracking: false }, { unsubscribeLink: true }, { privacyMode: true }]
  await Promise.all(changes.map((one) => change(apiKey, one)))
  t.strictSame(await show(apiKey), Object.assign({}, DEFAULTS, ...changes))
})
