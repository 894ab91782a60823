import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { skipWithoutBrowser } from '../helpers/browser.ts'
import { openPicturedAccount } from './pictured-account.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The colours of the other scheme can break only these. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

t.test(
  'no page violates WCAG 2.2 AA in either scheme, breaks its policy, or asks another host',
  skipWithoutBrowser,
  async (t) => {
    const { url, context, pages } = await openPicturedAccount(t)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${page.url()}: ${message.text()}`))
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
    page.on(
      'request',
      (request) => request.url().startsWith(url) || request.url().startsWith('data:') || complaints.push(request.url()),
    )
    for await (const [name, target] of pages(page)) {
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      await page.goto(target)
      // Playwright evaluates outside the page's policy, so the oracle itself needs no exception.
      await page.evaluate(AXE)
      for (const [colorScheme, rules] of [
        ['light', STANDARDS],
        ['dark', OF_COLOURS],
      ] as const) {
        await page.emulateMedia({ colorScheme })
        const violations = (await page.evaluate(
          `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then((result) => result.violations)`,
        )) as readonly Violation[]
        t.strictSame(
          violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
          [],
          `${name}, ${colorScheme}`,
        )
      }
      for (const width of [320, 1440]) {
        await page.setViewportSize({ width, height: 800 })
        const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        t.equal(over, 0, `${name} scrolls sideways at ${width} pixels`)
      }
    }
    // A page that is not there is reported as failed by the browser, which is what was asked for.
    t.strictSame(
      complaints.filter((one) => !/nothing: Failed to load resource/.test(one)),
      [],
    )
  },
)
