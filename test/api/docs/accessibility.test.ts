import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { openBrowser, skipWithoutBrowser } from '../../helpers/browser.ts'
import { makeService } from '../../helpers/service.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** One page of each kind, and the guides with the widest tables and pictures. */
const PAGES = [
  '/docs',
  '/docs/v2',
  '/docs/v2/sendEmail',
  '/docs/v2/createWebhook',
  '/docs/v3/sendMail',
  '/docs/operator/pausePlace',
  '/docs/guides/sending',
  '/docs/guides/contract-v3',
  '/docs/guides/performance',
  '/docs/guides/dashboard',
  '/docs/guides/settings',
  '/docs/search?q=bounce',
  '/docs/nothing',
  '/docs/v3/errors.html',
]

t.test(
  'no page of the documentation violates WCAG 2.2 AA in either scheme, breaks its policy, or scrolls sideways',
  skipWithoutBrowser,
  async (t) => {
    const service = await makeService(t)
    const url = await service.openApi()
    const page = await (await openBrowser(t)).newPage()
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${page.url()}: ${message.text()}`))
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
    page.on('request', (request) => request.url().startsWith(url) || complaints.push(request.url()))
    for (const path of PAGES) {
      for (const [colorScheme, width] of [
        ['light', 1440],
        ['dark', 320],
      ] as const) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.goto(`${url}${path}`)
        const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        t.equal(over, 0, `${path} scrolls sideways at ${width} pixels`)
        // Playwright evaluates outside the page's policy, so the oracle itself needs no exception.
        await page.evaluate(AXE)
        const violations = await page.evaluate(
          `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then((result) => result.violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
        )
        t.strictSame(violations, [], `${path}, ${colorScheme}`)
      }
    }
    t.strictSame(
      complaints.filter((one) => !/nothing: Failed to load resource/.test(one)),
      [],
    )
  },
)

t.test(
  'the language of the examples is chosen once, and search works without a script',
  skipWithoutBrowser,
  async (t) => {
    const service = await makeService(t)
    const url = await service.openApi()
    const context = await openBrowser(t)
    const page = await context.newPage()
    await page.goto(`${url}/docs/v2/sendEmail`)
    t.equal(await page.isVisible('.l-curl'), true)
    await page.check('input[value=python]', { force: true })
    t.equal(await page.isVisible('.l-curl'), false)
    t.equal(await page.isVisible('.l-python'), true)
    await page.goto(`${url}/docs/v3/sendMail`)
    t.equal(await page.isVisible('.l-python'), true, 'the next page keeps it')
    const plain = await (await context.browser()?.newContext({ javaScriptEnabled: false }))?.newPage()
    if (!plain) throw new Error('no browser')
    await plain.goto(`${url}/docs`)
    await plain.fill('#q', 'dkim')
    await plain.press('#q', 'Enter')
    await plain.waitForURL(/search\?q=dkim/)
    t.ok((await plain.locator('.hits li').count()) > 3)
    await plain.goto(`${url}/docs/v2/sendEmail`)
    await plain.check('input[value=go]', { force: true })
    t.equal(await plain.isVisible('.l-go'), true, 'examples change without a script')
  },
)
