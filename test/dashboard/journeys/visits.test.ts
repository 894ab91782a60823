import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { openBrowser, skipWithoutBrowser } from '../../helpers/browser.ts'
import { openDashboard, PASSWORD, type TestDashboard } from '../dashboard.ts'

/** The owner's log-in by the form, in a browser of its own. */
async function loggedIn(t: Test, { url, service, owner }: TestDashboard) {
  const { accountId } = await owner()
  const context = await openBrowser(t)
  const page = await context.newPage()
  await page.goto(`${url}/app/login?to=/app/${accountId}/messages`)
  await page.fill('[name=email]', `ada-${process.pid}@northwind.example`)
  await page.fill('[name=password]', PASSWORD)
  await page.click('form[action="/app/login"] button')
  await page.waitForURL(`${url}/app/${accountId}/messages`)
  return { accountId, context, page, url, service }
}

/** A site of another owner with this page. Another port is another origin, but the same site: its requests carry the cookie. */
async function evilSite(t: Test, html: string): Promise<string> {
  const server = createServer((_, response) => void response.setHeader('content-type', 'text/html').end(html))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test(
  'a page of another origin changes nothing by a form, frames no page, and is not led to by a log-in',
  skipWithoutBrowser,
  async (t) => {
    const dashboard = await openDashboard(t)
    const { accountId, context, page, url, service } = await loggedIn(t, dashboard)
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data']) {
      const site = await evilSite(
        t,
        `<form method="post" enctype="${type}" action="${url}/app/${accountId}/keys"><input name="name" value="stolen"><input name="scopes" value="all"><button>Win</button></form>`,
      )
      await page.goto(site)
      const [response] = await Promise.all([page.waitForNavigation(), page.click('button')])
      t.equal(response?.status(), 403, type)
      t.equal(await page.locator('form[action="/app/login"]').count(), 0, 'the session was known')
    }
    t.strictSame(await service.core.auth.listKeys(accountId), [])
    const frames = await evilSite(t, `<iframe src="${url}/app/${accountId}/keys"></iframe>`)
    await page.goto(frames)
    const framed = page.frames().find((one) => one !== page.mainFrame())
    t.notMatch(await framed?.content(), 'API keys', 'no frame shows a page')
    const [cookie] = await context.cookies(url)
    t.match(cookie, { httpOnly: true, sameSite: 'Lax', path: '/' })
    for (const to of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example/',
      'javascript:alert(1)',
      '/app/../\t//evil.example',
    ]) {
      await context.clearCookies()
      await page.goto(`${url}/app/login?to=${encodeURIComponent(to)}`)
      await page.fill('[name=email]', `ada-${process.pid}@northwind.example`)
      await page.fill('[name=password]', PASSWORD)
      await page.click('form[action="/app/login"] button')
      await page.waitForURL((at) => !at.pathname.endsWith('/login'))
      t.equal(new URL(page.url()).origin, url, to)
    }
  },
)

t.test('a session ended in one tab ends in the other by itself', skipWithoutBrowser, async (t) => {
  const { context, page, url, accountId } = await loggedIn(t, await openDashboard(t))
  await page.waitForSelector('.live:not([hidden])')
  const other = await context.newPage()
  await other.goto(`${url}/app/${accountId}`)
  await other.click('[popovertarget=you]')
  await other.click('form[action="/app/logout"] button')
  await other.waitForURL(/\/app\/login/)
  await page.waitForURL(/\/app\/login/, { timeout: 12_000 })
  t.equal(await page.locator('form[action="/app/login"]').count(), 1)
})

t.test('without JavaScript the forms and lists work', skipWithoutBrowser, async (t) => {
  const { accountId, context, url, service } = await loggedIn(t, await openDashboard(t))
  const plain = await context
    .browser()
    ?.newContext({ javaScriptEnabled: false, storageState: await context.storageState() })
  const page = await plain?.newPage()
  if (!page) throw new Error('no browser')
  const base = `${url}/app/${accountId}`
  await page.goto(`${base}/domains/new`)
  await page.fill('[name=domain]', 'ship.example')
  await page.click('#page form button.main')
  await page.waitForURL(/domains\/ship.example/)
  await page.goto(`${base}/suppressions/new`)
  await page.fill('[name=entries]', 'mia@souq.example')
  await page.click('#page form button.main')
  t.equal((await service.core.suppressions.list(accountId, { limit: 1, offset: 0 })).total, 1)
  await page.goto(`${base}/keys/new`)
  await page.fill('[name=name]', 'shop')
  await page.click('#page form button[type=submit]')
  t.match(await page.content(), /pr_\w{20}/)
  await page.goto(`${base}/messages`)
  await page.fill('#q', 'colour:red')
  await page.keyboard.press('Enter')
  await page.waitForURL(/q=colour/)
  t.match(await page.textContent('#page'), 'colour: is not a key')
})

t.test(
  'without JavaScript a page shows no button that does nothing, and texts to copy can be selected',
  skipWithoutBrowser,
  async (t) => {
    const { accountId, context, url, service } = await loggedIn(t, await openDashboard(t))
    await service.giveKey('ship.example')
    await service.core.domains.add({ accountId, name: 'ship.example' })
    const storageState = await context.storageState()
    for (const javaScriptEnabled of [true, false]) {
      const page = await context
        .browser()
        ?.newContext({ javaScriptEnabled, storageState })
        .then((one) => one.newPage())
      if (!page) throw new Error('no browser')
      for (const path of ['first-steps', 'messages', 'domains/ship.example', 'keys', 'suppressions']) {
        await page.goto(`${url}/app/${accountId}/${path}`)
        await page.evaluate('for (const one of document.querySelectorAll("#page details")) one.open = true')
        const visible = page.locator('#page button[type=button]:not([popovertarget]):visible, #page kbd:visible')
        t.equal((await visible.count()) > 0, javaScriptEnabled, `${path}: ${await visible.allInnerTexts()}`)
      }
    }
  },
)
