import t from 'tap'
import { skipWithoutBrowser } from '../../helpers/browser.ts'
import { openPicturedAccount } from '../pictured-account.ts'

/** Buttons, headings and notes whose text is wider than they are and cut off, without the class that says so. */
const CLIPPED = `[...document.querySelectorAll('.btn, h1, h2, .note, .chip, label, th')]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible')
  .filter((one) => !one.closest('.scroll, .cut, .sr'))
  .map((one) => one.outerHTML.slice(0, 120))`

t.test(
  'in German, at 320 pixels (400 % of 1280), dark and in forced colours, no page scrolls sideways or cuts its text',
  skipWithoutBrowser,
  async (t) => {
    const { context, pages } = await openPicturedAccount(t)
    await context.setExtraHTTPHeaders({ 'accept-language': 'de' })
    const page = await context.newPage()
    await page.setViewportSize({ width: 320, height: 640 })
    await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active', reducedMotion: 'reduce' })
    for await (const [name, target] of pages(page)) {
      await page.goto(target)
      t.equal(await page.getAttribute('html', 'lang'), 'de', name)
      const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      t.equal(over, 0, `${name} scrolls sideways`)
      t.strictSame(await page.evaluate(CLIPPED), [], `${name} cuts its text`)
    }
  },
)

t.test(
  'on a phone, the chosen one of a row of choices is in view, and the page is not moved',
  skipWithoutBrowser,
  async (t) => {
    const { context, pages } = await openPicturedAccount(t)
    const page = await context.newPage()
    await page.setViewportSize({ width: 390, height: 844 })
    let wide = 0
    for await (const [name, target] of pages(page)) {
      await page.goto(target)
      const rows = (await page.evaluate(`[...document.querySelectorAll('.tabs, .pick')].map((row) => {
      const [around, chosen] = [row, row.querySelector('[aria-current]')].map((one) => one?.getBoundingClientRect())
      return {
        isWide: row.scrollWidth > row.clientWidth,
        isSeen: !chosen || (chosen.left >= around.left - 1 && chosen.right <= around.right + 1),
      }
    })`)) as readonly { isWide: boolean; isSeen: boolean }[]
      wide += rows.filter(({ isWide }) => isWide).length
      t.ok(
        rows.every(({ isSeen }) => isSeen),
        name,
      )
      t.equal(await page.evaluate('scrollY'), 0, `${name} begins at its top`)
    }
    t.ok(wide > 3, `${wide} rows are wider than the screen`)
  },
)

/** Names of changes, with a bar where a line ends within one of their words. */
const BROKEN_NAMES = `[...document.querySelectorAll("#page td details code")].flatMap((name) => {
  const range = document.createRange()
  let [shown, line] = ['', undefined]
  const texts = document.createTreeWalker(name, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { currentNode } = texts
    for (let at = 0; at < currentNode.length; at++) {
      range.setStart(currentNode, at)
      range.setEnd(currentNode, at + 1)
      const { top } = range.getBoundingClientRect()
      if (line !== undefined && Math.abs(top - line) > 3) shown += '|'
      shown += currentNode.data[at]
      line = top
    }
  }
  return [shown]
})`

t.test(
  'on a phone, the name of a change is broken between its words, and never within one',
  skipWithoutBrowser,
  async (t) => {
    const { context, url, service, accountId } = await openPicturedAccount(t)
    const by = { keyId: null, userId: null, address: '2001:db8:85a3:8d3:1319:8a2e:370:7348' }
    const template = await service.core.editableTemplates.create({ accountId, name: 'x', generation: 'dynamic', by })
    const texts = { subject: 'x', html: 'x', testData: '', generatePlain: true }
    await service.core.editableTemplates.addVersion({ accountId, id: template.id, by }, { name: 'x', ...texts })
    const page = await context.newPage()
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 })
      await page.goto(`${url}/app/${accountId}/audit`)
      await page.evaluate('for (const fold of document.querySelectorAll("#page td details")) fold.open = true')
      const names = (await page.evaluate(BROKEN_NAMES)) as readonly string[]
      t.ok(
        names.some((name) => name.replaceAll('|', '') === 'template.version.create'),
        names.join(' '),
      )
      t.strictSame(
        names.filter((name) => /[a-z]\|[a-z]/.test(name)),
        [],
        `${width} pixels`,
      )
    }
  },
)

t.test('in forced colours, the open page can be read in the menu', skipWithoutBrowser, async (t) => {
  const { context, url, accountId } = await openPicturedAccount(t)
  const page = await context.newPage()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ forcedColors: 'active', colorScheme })
    await page.goto(`${url}/app/${accountId}/messages`)
    const colours = (await page.evaluate(`['.side [aria-current]', '.pick [aria-current]'].map((selector) => {
      const probe = document.createElement('span')
      probe.style.forcedColorAdjust = 'none'
      probe.style.color = 'HighlightText'
      document.body.append(probe)
      return [getComputedStyle(document.querySelector(selector)).color, getComputedStyle(probe).color]
    })`)) as readonly [string, string][]
    for (const [is, wanted] of colours) t.equal(is, wanted, colorScheme)
  }
})
