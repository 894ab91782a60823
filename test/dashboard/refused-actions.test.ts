import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner, submit } from './dashboard.ts'

t.test('a message that may not be sent is refused on the page that it was sent from', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const base = `/app/${ada.accountId}`
  const { body } = await sendV2(dashboard.url, ada.apiKey, v2Body(ada))
  const message = `${base}/messages/${body.data?.message_id}`
  await dashboard.service.core.accounts.suspend(ada.accountId)
  for (const [action, title] of [
    [`${base}/first-steps/test`, 'First steps'],
    [`${message}/resend`, 'lena@harbor.example'],
  ] as const) {
    const refused = await ada.post(action)
    t.equal(refused.status, 400, action)
    const text = await refused.text()
    t.match(text, /role="alert">.*suspended/s, action)
    t.match(text, title, action)
  }
})

t.test('a visitor who is logged in keeps the way to all pages when something is not found or refused', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const base = `/app/${ada.accountId}`
  const unknown = '0190000000007000800000000000abcd'
  for (const answered of [
    await ada.get(`${base}/messages/${unknown}`),
    await ada.post(`${base}/messages/${unknown}/cancel`),
    await ada.post(`${base}/domains/nowhere.example/check`),
  ]) {
    t.equal(answered.status, 404)
    t.match(await answered.text(), `href="${base}/messages"`)
  }
  t.notMatch(await (await fetch(`${dashboard.url}${base}/messages/${unknown}`)).text(), `${base}/messages"`)
})

t.test('a page that answers a form does not fetch itself again, because its URL has no page', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const list = `/app/${ada.accountId}/suppressions`
  t.match(await (await ada.get(list)).text(), `data-live="/app/${ada.accountId}/live`)
  const refused = await ada.post(`${list}/remove`, { scope: 'address', value: 'no address' })
  t.equal(refused.status, 400)
  t.match(await refused.text(), 'data-live=""')
})

t.test('the address of a form leads to the page that has the form when it is opened again', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const base = `/app/${ada.accountId}`
  for (const [form, page] of [
    [`${base}/first-steps/test`, `${base}/first-steps`],
    [`${base}/keys/7/rotate`, `${base}/keys`],
    [`${base}/webhooks/7/test`, `${base}/webhooks/7`],
    [`${base}/team/7/role`, `${base}/team`],
    [`${base}/subaccounts/dock2/credit`, `${base}/subaccounts/dock2`],
    ['/app/security/password', '/app/security'],
    ['/app/security/passkeys/new', '/app/security'],
    ['/app/login/code', '/app/login'],
    ['/app/preferences', '/app'],
    ['/app/operator/queue/plans/7/confirm', '/app/operator/queue'],
    ['/app/operator/accounts/7/invite', '/app/operator/accounts/7'],
    ['/app/logout', '/app'],
  ] as const) {
    const answered = await ada.get(form)
    t.equal(answered.status, 303, form)
    t.equal(answered.headers.get('location'), page, form)
    const without = await fetch(`${dashboard.url}${form}`, { redirect: 'manual' })
    t.equal(without.headers.get('location'), page, `${form} without a session`)
  }
  t.equal((await ada.get(`${base}/keys/7/nothing`)).status, 404)
  t.equal((await ada.get(`${base}/nothing`)).status, 404)
})

t.test('a form that is sent after the session has ended leads back to its page by the log-in', async (t) => {
  const dashboard = await openDashboard(t)
  const { accountId } = await sendingOwner(dashboard)
  const form = `/app/${accountId}/keys/7/rotate`
  const asked = await submit(dashboard.url, form, {})
  t.equal(asked.status, 303)
  t.equal(asked.headers.get('location'), `/app/login?to=${encodeURIComponent(form)}`)
})
