import t from 'tap'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { openDashboard, sendingOwner } from './dashboard.ts'

t.test('the editor follows what is typed, within the policy of pages', skipWithoutBrowser, async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { accountId } = ada
  const context = await openBrowser(t)
  const [name, value] = ada.cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url: dashboard.url }])
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(`${dashboard.url}/app/${accountId}/templates/new`)
  await page.fill('#f-name', 'order')
  await page.click('main form button[type=submit]')
  const code = page.locator('#f-html')

  await t.test('the HTML has colours and line numbers, and the field keeps its text', async (t) => {
    await page.locator('.hue b').first().waitFor()
    const shown = await page.evaluate(`(() => {
      const texts = (name) => [...document.querySelectorAll('.hue ' + name)].map((one) => one.textContent)
      return { tags: texts('b'), values: texts('em'), lines: document.querySelector('.lines').textContent.trimEnd().split('\\n').length }
    })()`)
    t.match(shown, { lines: (await page.inputValue('#f-html')).split('\n').length })
    t.match((shown as { tags: string[] }).tags.slice(0, 3), ['<h1', '>', '</h1'])
    t.match((shown as { values: string[] }).values, ['{{name}}', '{{#each items}}'])
    t.equal(
      await page.evaluate(
        'document.querySelector(".hue").textContent.trim() === document.querySelector("#f-html").value.trim()',
      ),
      true,
    )
  })

  await t.test('a problem is said with its place, which a click selects; its line stands out', async (t) => {
    await code.fill('<p>\n  {{#if gift}}\n</p>')
    const link = page.locator('#hints a')
    await link.waitFor()
    t.equal(await link.textContent(), 'HTML, line 2, column 3')
    t.equal(await page.locator('.lines b').textContent(), '2\n')
    await link.click()
    t.equal(
      await page.evaluate(
        '(({ value, selectionStart }) => value.slice(selectionStart, selectionStart + 5))(document.activeElement)',
      ),
      '{{#if',
    )
  })

  await t.test('a name that is typed gets a field, which writes into the JSON and the preview', async (t) => {
    await code.fill('<p>{{shop.name}} <a href="{{url}}">go</a></p>')
    const field = page.locator('[name="value.shop.name"]')
    await field.waitFor()
    await field.fill('Harbor')
    t.match(JSON.parse(await page.inputValue('#f-testData')), { name: 'Ada', shop: { name: 'Harbor' } })
    await page.frameLocator('iframe[name=preview]').getByText('Harbor').waitFor()
    await page.locator('#text-shown', { hasText: 'Harbor' }).waitFor({ state: 'attached' })
    t.equal(
      await page.evaluate('document.activeElement.name'),
      'value.shop.name',
      'nothing is taken from under who types',
    )
  })

  await t.test('the preview is wide, as wide as a phone, or the text', async (t) => {
    const width = async () => (await page.locator('iframe[name=preview]').boundingBox())?.width ?? 0
    await page.setViewportSize({ width: 1440, height: 900 })
    t.ok((await width()) > 400, `${await width()}`)
    await page.getByText('Phone', { exact: true }).click()
    t.equal(await width(), 375)
    await page.getByText('Text', { exact: true }).click()
    t.equal(await page.locator('#text-shown').isVisible(), true)
    t.equal(await page.locator('iframe[name=preview]').isVisible(), false)
  })

  await t.test('the buttons that save are in view wherever the page is', async (t) => {
    const save = page.locator('.savebar button').first()
    await page.evaluate('scrollTo(0, 0)')
    const box = await save.boundingBox()
    t.ok(box && box.y + box.height <= 900, JSON.stringify(box))
    await save.click()
    await page.waitForURL(/said=saved/)
    t.match(await page.inputValue('#f-html'), 'shop.name')
  })
  t.strictSame(problems, [])
})
