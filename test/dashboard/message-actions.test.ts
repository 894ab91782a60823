import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

async function makePage(t: Parameters<typeof openDashboard>[0], extra: Record<string, unknown> = {}) {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { body } = await sendV2(dashboard.url, ada.apiKey, v2Body(ada, extra))
  const id = body.data?.message_id as string
  const at = `/app/${ada.accountId}/messages/${id}`
  const { core, sql } = dashboard.service
  const page = async (path = at, language = 'en') =>
    (
      await (
        await fetch(`${dashboard.url}${path}`, { headers: { cookie: ada.cookie, 'accept-language': language } })
      ).text()
    ).replace(/\s+/g, ' ')
  const states = async () => (await core.messages.show(id))?.deliveries.map(({ state }) => state)
  return { ...dashboard, ada, id, at, core, sql, page, states }
}

const TWO = { personalizations: [{ recipient: 'lena@habror.example' }, { recipient: 'mia@souq.example' }] }

t.test('a copy is sent again to a corrected address, and the two name each other', async (t) => {
  const { ada, at, id, page } = await makePage(t, TWO)
  const shown = await page(`${at}?to=1`)
  t.match(shown, new RegExp(`<a class="go any" href="${at}\\?to=0">`))
  t.match(shown, /name="to"[^>]* value="mia@souq\.example"/)
  t.match(await page(`${at}?to=0`, 'de'), 'Diese Kopie erneut senden?')
  const wrong = await ada.post(`${at}/resend`, { recipient: '0', to: 'lena at harbor' })
  t.equal(wrong.status, 400)
  t.match(await wrong.text(), /role="alert">.*To: must be an email address/s)
  const again = await ada.post(`${at}/resend`, { recipient: '0', to: 'lena@harbor.example' })
  t.equal(again.status, 303)
  const copy = again.headers.get('location')?.split('?')[0] as string
  const text = await page(copy)
  t.match(text, 'lena@harbor.example')
  t.notMatch(text, 'mia@souq.example')
  t.match(text, `Copy of <a href="${at}">`)
  t.match(await page(), `Sent again as <a href="${copy}">`)
  t.equal((await ada.post(`${at}/resend`, { recipient: 'all' })).status, 404, 'what is no number does not mean all')
  t.equal(id.length, 32)
})

t.test('the delivery of one recipient is cancelled', async (t) => {
  const { ada, at, states, page } = await makePage(t, TWO)
  t.equal((await ada.post(`${at}/cancel`, { recipient: 'x' })).status, 404)
  t.strictSame(await states(), ['queued', 'queued'])
  const done = await ada.post(`${at}/cancel`, { recipient: '1' })
  t.equal(done.headers.get('location'), `${at}?to=1&said=cancelled`)
  t.strictSame(await states(), ['queued', 'dropped'])
  t.notMatch(await page(`${at}?to=1`), 'Cancel this delivery?')
  t.match(await page(`${at}?to=0`), 'Cancel this delivery?')
})

t.test('a recipient is suppressed and receives mail again, from the page of a message', async (t) => {
  const { ada, at, core, page, member, service } = await makePage(t)
  t.match(await page(), 'Send nothing more to lena@harbor.example?')
  t.equal((await ada.post(`${at}/suppress`, { recipient: '0' })).status, 303)
  const held = () => core.suppressions.holding(ada.accountId, 'lena@harbor.example')
  t.match(await held(), [{ reason: 'manual' }])
  t.match(await page(), /Suppressed by hand\..*Remove the suppression of lena@harbor\.example\?/)
  t.match(await page(at, 'de'), 'Von Hand gesperrt.')
  t.equal((await ada.post(`${at}/unsuppress`, { recipient: '0' })).status, 303)
  t.strictSame(await held(), [])
  await core.suppressions.add({ accountId: 0, scope: 'address', value: 'lena@harbor.example', reason: 'global' })
  const operators = await page()
  t.match(operators, 'Suppressed by the operator')
  t.notMatch(operators, 'Remove the suppression')
  const sam = await member(ada.accountId, 'viewer')
  t.equal((await sam.post(`${at}/suppress`, { recipient: '0' })).status, 403)
  t.equal((await ada.post(`${at}/suppress`, {})).status, 404)
  t.ok(service)
})

t.test('a scheduled message is given another time, in the time zone of the account', async (t) => {
  const later = Math.floor(Date.now() / 60_000) * 60_000 + 3_600_000
  const { ada, at, id, core, page } = await makePage(t, { schedule: later / 1000 })
  await core.accounts.settings.change(ada.accountId, { timeZone: 'Asia/Kolkata' }, { keyId: null, address: null })
  const local = (time: number) => new Date(time + 5.5 * 3_600_000).toISOString().slice(0, 16)
  t.match(await page(), `name="schedule" type="text" value="${local(later)}"`)
  const moved = await ada.post(`${at}/reschedule`, { schedule: local(later + 7_200_000) })
  t.equal(moved.status, 303)
  t.equal((await core.messages.show(id))?.scheduledAt?.getTime(), later + 7_200_000)
  const wrong = await ada.post(`${at}/reschedule`, { schedule: 'tomorrow' })
  t.equal(wrong.status, 400)
  t.match(await wrong.text(), /Time: must be a time like/)
  await ada.post(`${at}/cancel`, {})
  t.notMatch(await page(), 'name="schedule"')
  t.equal((await ada.post(`${at}/reschedule`, { schedule: local(later) })).status, 400)
})
