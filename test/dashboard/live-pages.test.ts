import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard } from './dashboard.ts'

/** An owner's browser, and mail that arrives while its page is open. */
async function openPage(t: Test) {
  const dashboard = await openDashboard(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  const { service, url } = dashboard
  const ada = await dashboard.owner()
  const domain = 'ship.example'
  const { accountId } = ada
  await service.giveKey(domain)
  await service.core.domains.add({ accountId, name: domain, state: 'active' })
  const { secret: apiKey } = await service.core.auth.createKey({ accountId, name: 'test' })
  const context = await openBrowser(t)
  const [name, value] = ada.cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url }])
  const page = await context.newPage()
  return {
    service,
    accountId,
    page,
    base: `${url}/app/${accountId}`,
    async send(subject: string) {
      await sendV2(url, apiKey, v2Body({ accountId, accountName: 'main', apiKey, domain }, { subject }))
      await numberEvents(service)
    },
  }
}

/** Resolves when the page has fetched itself again. */
function refreshed(page: Page): Promise<unknown> {
  return page.evaluate(
    "new Promise((resolve) => document.addEventListener('postrider:refreshed', resolve, { once: true }))",
  )
}

t.test('what a visitor has opened stays open when the page follows what happens', skipWithoutBrowser, async (t) => {
  const { page, base, send } = await openPage(t)
  await send('one')
  await page.goto(base)
  await page.waitForSelector('.live:not([hidden])')
  await page.click('details.later summary')
  const again = refreshed(page)
  await send('two')
  await again
  t.match(await page.textContent('.tile .v'), '2', 'the numbers are new')
  t.equal(await page.isVisible('details.later table'), true)
})

t.test('a row does not move away under the pointer', skipWithoutBrowser, async (t) => {
  const { page, base, send } = await openPage(t)
  await send('one')
  await page.goto(`${base}/messages`)
  await page.waitForSelector('.live:not([hidden])')
  const under = "document.querySelector('tr:hover')?.innerText ?? ''"
  const { x, y } = (await page.locator('a.go').first().boundingBox()) as { x: number; y: number }
  await page.mouse.move(x + 5, y + 5)
  await send('two')
  for (let step = 0; step < 6; step++) {
    await page.mouse.move(x + 5 + step, y + 5)
    t.match(await page.evaluate(under), 'one', `step ${step}`)
    await page.waitForTimeout(500)
  }
  await page.waitForSelector('text=two')
})

t.test(
  'new rows wait behind a button while the reader is below the beginning of a list',
  skipWithoutBrowser,
  async (t) => {
    const { page, base, send } = await openPage(t)
    for (let n = 0; n < 30; n++) await send(`old ${n}`)
    await page.setViewportSize({ width: 1000, height: 500 })
    await page.goto(`${base}/messages`)
    await page.waitForSelector('.live:not([hidden])')
    const last = page.locator('a.go', { hasText: 'old 0' })
    await last.scrollIntoViewIfNeeded()
    const before = await last.boundingBox()
    const newer = page.locator('.newer')
    t.equal(await newer.isVisible(), false)
    for (const [subject, text] of [
      ['new 1', '1 newer'],
      ['new 2', '2 newer'],
    ] as const) {
      await send(subject)
      await page.waitForSelector(`text=${text}`)
    }
    t.same(await last.boundingBox(), before, 'nothing has moved')
    t.equal(await page.isVisible('text=new 2'), false)
    await newer.click()
    await page.locator('a.go', { hasText: 'new 2' }).waitFor()
    t.equal(await newer.isVisible(), false)
    t.equal(await page.evaluate('scrollY'), 0)
  },
)

t.test('a number that is not sent yet is not replaced', skipWithoutBrowser, async (t) => {
  const { page, base, service, accountId, send } = await openPage(t)
  const receiver = await startReceiver(t)
  const settings = { url: receiver.url, label: '', format: 'v2', events: ['sent'], headers: {}, asText: false } as const
  const rest = { abuse: false, eventIds: true, enabled: true, names: null, signed: true }
  const by = { keyId: null, address: null }
  const { webhook } = await service.core.webhooks.create(accountId, { ...settings, ...rest }, by)
  await page.goto(`${base}/webhooks/${webhook.id}`)
  await page.fill('input[name=from]', '3')
  await page.focus('form[action$="/replay"] button')
  await send('one')
  await send('two')
  await service.sql`update webhooks set position = 2 where id = ${webhook.id}`
  await page.waitForTimeout(10_000)
  t.equal(await page.inputValue('input[name=from]'), '3')
  await page.reload()
  t.equal(await page.inputValue('input[name=from]'), '2', 'the page has another number by itself')
})

t.test('two clicks send one message', skipWithoutBrowser, async (t) => {
  const { page, base, service, accountId } = await openPage(t)
  // The answer to the first click comes after the second one.
  await page.route('**/first-steps/test', async (route) => {
    const response = await route.fetch({ maxRedirects: 0 })
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await route.fulfill({ response }).catch(() => {})
  })
  await page.goto(`${base}/first-steps`)
  await page.evaluate(`{
    const button = document.querySelector('form[action$="/first-steps/test"] button')
    setTimeout(() => button.click())
    setTimeout(() => button.click(), 500)
  }`)
  await page.waitForURL('**/first-steps?said=sent')
  const { deliveries } = await service.core.messages.list({ accountId, search: {}, limit: 10 })
  t.equal(deliveries.length, 1)
})

t.test('an editor shows what is typed, and asks before it is lost', skipWithoutBrowser, async (t) => {
  const { page, base, service, accountId } = await openPage(t)
  const by = { keyId: null, address: null }
  const { id } = await service.core.editableTemplates.create({ accountId, name: 'one', generation: 'dynamic', by })
  await service.core.editableTemplates.addVersion(
    { accountId, id, by },
    { name: 'one', subject: 'S', html: '<p>old</p>' },
  )
  await page.goto(`${base}/templates`)
  await page.click('a.go')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.dismiss()
  })
  await page.fill('textarea[name=html]', '<p>new {{7}}</p>')
  await page.fill('textarea[name=html]', '<p>new</p>')
  await page.frameLocator('iframe[name=preview]').locator('text=new').waitFor()
  await page.click('.side a[data-key=o]')
  await page.waitForTimeout(500)
  t.strictSame(asked, ['beforeunload'])
  t.equal(await page.inputValue('textarea[name=html]'), '<p>new</p>')
  await page.click('button[name=as]')
  await page.waitForURL('**said=saved')
  t.equal(asked.length, 1, 'not when it is saved')
  await page.goBack()
  await page.goBack()
  t.match(page.url(), /\/templates$/, 'previews are no steps on the way back')
})
