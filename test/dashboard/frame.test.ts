import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

/** An owner's browser. */
async function openPage(t: Test, options = {}) {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const context = await openBrowser(t, options)
  const [name, value] = ada.cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url: dashboard.url }])
  return { ...dashboard, ada, context, page: await context.newPage(), base: `${dashboard.url}/app/${ada.accountId}` }
}

const optionsOf = (page: Page) => page.locator('#palette [role=option]').allTextContents()

t.test('the palette leads to pages, actions and messages by a few letters', skipWithoutBrowser, async (t) => {
  const { ada, page, base, url } = await openPage(t)
  const sent = await sendV2(url, ada.apiKey, v2Body(ada, { subject: 'found by its id' }))
  const id = sent.body.data?.message_id as string
  await page.goto(base)
  await page.keyboard.press('/')
  t.equal(await page.isVisible('#palette'), true, 'a page without a search of its own')
  await page.keyboard.press('Escape')

  await page.keyboard.press('Control+k')
  await page.keyboard.type('webh')
  t.match(await optionsOf(page), ['Webhooks', 'Add a webhook'])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${base}/webhooks/new`)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('exp')
  t.match(await optionsOf(page), ['Exports'], 'a page that the sidebar does not have')
  await page.fill('#palette-q', id)
  t.match(await optionsOf(page), [`Message ${id}`])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${base}/messages/${id}`)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('lena@harbor.example')
  t.match(await optionsOf(page), ['Messages with “lena@harbor.example”'])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${base}/messages?q=lena%40harbor.example`)
  await page.keyboard.press('/')
  t.equal(await page.evaluate('document.activeElement.id'), 'q', 'a page that has a search of its own')
})

t.test('of the sidebar the head and the foot stay, and what is between scrolls', skipWithoutBrowser, async (t) => {
  const { ada, page, base } = await openPage(t)
  await page.setViewportSize({ width: 1440, height: 500 })
  await page.goto(`${base}/audit`)
  t.equal(await page.evaluate("document.querySelector('.side').scrollTop"), 0)
  t.ok(await page.evaluate("document.querySelector('.side .mid').scrollTop > 0"), 'the open page is in view')
  const within = `[...document.querySelectorAll('.side > *')].every((one) => {
    const { top, bottom } = one.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  })`
  t.equal(await page.evaluate(within), true)
  const entries = await page.locator(`.side .mid a[href^="/app/${ada.accountId}"], .side .mid a[href^="http"]`).count()
  t.ok(entries <= 15, `${entries} entries`)
})

t.test('the navigation of an account stays on the pages of no account', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const cookieOf = async (path: string) => (await ada.get(path)).headers.getSetCookie().join()
  t.match(await (await ada.get('/app/security')).text(), `href="/app/${ada.accountId}/messages"`, 'of the only one')
  const { accountId: other } = await dashboard.service.makeSender()
  const member = await dashboard.member(ada.accountId, 'viewer')
  await dashboard.service.core.people.members.add(other, member.userId, 'owner', { keyId: null, address: null })
  t.match(await cookieOf(`/app/${ada.accountId}`), `account=${ada.accountId};`)
  const seen = async (last: number) => {
    const headers = { cookie: `${member.cookie}; account=${last}` }
    return (await fetch(`${dashboard.url}/app/security`, { headers })).text()
  }
  t.match(await seen(other), `href="/app/${other}/keys"`)
  t.notMatch(await seen(ada.accountId), `href="/app/${ada.accountId}/keys"`, 'what a viewer may not see is not there')
  t.notMatch(await seen(other + 1000), 'data-key="m"', 'an account of others is not shown')
})

t.test('a question is a dialog whose first button changes nothing', skipWithoutBrowser, async (t) => {
  const { page, base } = await openPage(t)
  await page.goto(`${base}/keys`)
  await page.click('button:text-is("Revoke")')
  t.equal(await page.evaluate("document.querySelector('dialog[open]').matches(':modal')"), true)
  t.equal(await page.textContent(':focus'), 'Leave as it is')
  await page.keyboard.press('Enter')
  t.equal(await page.locator('dialog[open]').count(), 0)
  t.equal(await page.locator('.state.good').count(), 1, 'the key is active')
  await page.click('button:text-is("Revoke")')
  await page.click('dialog[open] button[type=submit]')
  await page.waitForSelector('.toast')
  t.equal(await page.locator('#page .state.good').count(), 0)
})

t.test('without script, the same question opens, and both its buttons work', skipWithoutBrowser, async (t) => {
  const { page, base } = await openPage(t, { javaScriptEnabled: false })
  await page.goto(`${base}/keys`)
  t.equal(await page.isVisible('.jump'), false)
  await page.click('td button:text-is("Revoke")')
  await page.click('.ask button:text-is("Leave as it is")')
  t.equal(await page.isVisible('.ask'), false)
  await page.click('td button:text-is("Revoke")')
  await page.click('.ask button[type=submit]')
  t.match(await page.textContent('.toast'), 'revoked')
})

t.test('a page that takes longer is marked as busy until it is there', skipWithoutBrowser, async (t) => {
  const { page, base } = await openPage(t)
  await page.goto(base)
  const isBusy = "document.body.hasAttribute('data-busy')"
  t.equal(await page.evaluate(isBusy), false)
  const after = `(() => {
    document.querySelector('.side a[data-key=d]').click()
    return [${isBusy}, getComputedStyle(document.body, '::after').animationDelay]
  })()`
  t.strictSame(await page.evaluate(after), [true, '0.3s, 0s'], 'it is seen after 300 ms')
  await page.waitForURL('**/domains')
  t.equal(await page.evaluate(isBusy), false)
  await page.goBack()
  t.equal(await page.evaluate(isBusy), false, 'nor when coming back')
})

t.test('a visitor reads times in a zone of their own, and counts days in that of the account', async (t) => {
  const { owner, service, url } = await openDashboard(t)
  const ada = await owner()
  const security = await (await ada.get('/app/security')).text()
  t.match(security, '<option value="America/St_Johns">America/St Johns</option>')
  const response = await ada.post('/app/preferences', { to: '/app/security', zone: 'Asia/Kolkata' })
  t.match(response.headers.getSetCookie().join(), 'zone=Asia/Kolkata', 'by its name of today')
  const wrong = await ada.post('/app/preferences', { to: '/app/security', zone: 'Mars/Base' })
  t.notMatch(wrong.headers.getSetCookie().join(), 'Mars')
  await service.core.accounts.settings.change(
    ada.accountId,
    { timeZone: 'Pacific/Kiritimati' },
    { keyId: null, address: null },
  )
  const headers = { cookie: `${ada.cookie}; zone=Asia%2FKolkata` }
  t.match(await (await fetch(`${url}/app/${ada.accountId}/team`, { headers })).text(), /title="[^"]*GMT\+5:30"/)
  const [{ day } = { day: '' }] = await service.sql<{ day: string }[]>`
    select to_char(service_now() at time zone 'Pacific/Kiritimati', 'YYYY-MM-DD') as day`
  t.match(await (await fetch(`${url}/app/${ada.accountId}/statistics`, { headers })).text(), `to=${day}`)
})

t.test('on paper a page has its content and nothing to press', skipWithoutBrowser, async (t) => {
  const { page, base } = await openPage(t)
  await page.goto(`${base}/keys`)
  await page.emulateMedia({ media: 'print' })
  t.equal(await page.isVisible('h1'), true)
  for (const part of ['.side', '.bar', '#page .btn']) t.equal(await page.locator(part).first().isVisible(), false, part)
})
