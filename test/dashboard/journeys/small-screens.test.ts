import t from 'tap'
import { openBrowser, skipWithoutBrowser } from '../../helpers/browser.ts'
import { makeBusyQueue } from '../busy-queue.ts'
import { openDashboard } from '../dashboard.ts'
import { PICTURED } from '../pictured.ts'

/** Buttons, headings and notes whose text is wider than they are and cut off, without the class that says so. */
const CLIPPED = `[...document.querySelectorAll('.btn, h1, h2, .note, .chip, label, th')]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible')
  .filter((one) => !one.closest('.scroll, .cut, .sr'))
  .map((one) => one.outerHTML.slice(0, 120))`

t.test(
  'in German, at 320 pixels (400 % of 1280), dark and in forced colours, no page scrolls sideways or cuts its text',
  skipWithoutBrowser,
  async (t) => {
    const { service, url, owner } = await openDashboard(t)
    const ada = await owner()
    await service.core.domains.add({ accountId: ada.accountId, name: 'ship.example' })
    await service.core.suppressions.addAll({ accountId: ada.accountId, emails: ['x@harbor.example'] })
    await makeBusyQueue(service, ada.accountId)
    const context = await openBrowser(t)
    const [name, value] = ada.cookie.split('=') as [string, string]
    await context.addCookies([{ name, value, url }])
    await context.setExtraHTTPHeaders({ 'accept-language': 'de' })
    const page = await context.newPage()
    await page.setViewportSize({ width: 320, height: 640 })
    await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active', reducedMotion: 'reduce' })
    for (const [name, path] of PICTURED) {
      const target =
        typeof path === 'string'
          ? path.replace(':account', String(ada.accountId))
          : await path(page, `${url}/app/${ada.accountId}`)
      if (target === undefined) continue
      await page.goto(`${url}${target}`)
      t.equal(await page.getAttribute('html', 'lang'), 'de', name)
      const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      t.equal(over, 0, `${name} scrolls sideways`)
      t.strictSame(await page.evaluate(CLIPPED), [], `${name} cuts its text`)
    }
  },
)
