import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createSecrets, makeTrackingToken } from '@postrider/core'
import t from 'tap'
import { READER_LANGUAGES } from '../../../packages/api/src/tracking/reader-language.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { openBrowser, skipWithoutBrowser } from '../../helpers/browser.ts'
import { makeReaders } from './readers.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

t.test(
  'in all languages and both schemes the pages for recipients meet WCAG 2.2 AA, fit 320 pixels, and work without a script',
  { ...skipWithoutBrowser, timeout: 120_000 },
  async (t) => {
    const { service, sender, base } = await makeReaders(t)
    const { accountId } = sender
    const texts = [
      ['Berth news', 'Once a month, what is new in the harbour'],
      ['عروض خاصة', 'مرة كل أسبوع'],
      [`Offers-${'w'.repeat(23)}`, ''],
    ]
    for (const [name = '', description = ''] of texts)
      await service.core.groups.create(accountId, { name, description, isDefault: false })
    const settings = { group: 1, groupsToDisplay: [1, 2, 3] }
    const { messageId } = await acceptMessage(service, sender, {
      envelopes: [envelopeTo('a@harbor.example')],
      settings,
    })
    const secrets = createSecrets(service.env.SECRET_KEY as string)
    const target = { accountId, messageId, recipientNo: 0, group: 1, link: 0, url: '' }
    const leave = `/t/u/${makeTrackingToken(secrets, { ...target, kind: 'unsubscribe' })}`
    const choose = `/t/p/${makeTrackingToken(secrets, { ...target, kind: 'preferences' })}`
    const context = await openBrowser(t)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (line) => line.type() === 'error' && complaints.push(`${page.url()}: ${line.text()}`))
    const check = async (what: string) => {
      // A picture of each: PICTURES=FOLDER.
      const folder = process.env.PICTURES
      if (folder) await page.screenshot({ path: `${folder}/${what.replaceAll(' ', '-')}.png`, fullPage: true })
      await page.evaluate(AXE)
      const found = (await page.evaluate(
        `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
      )) as string[]
      t.strictSame(found, [], what)
      const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
      t.equal(over, 0, `${what} scrolls sideways`)
    }
    for (const language of READER_LANGUAGES) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width: colorScheme === 'light' ? 1000 : 320, height: 800 })
        for (const [name, path] of Object.entries({ leave, choose })) {
          await page.goto(`${base}${path}?lang=${language}`)
          if (colorScheme === 'light') await page.click('summary')
          await check(`${language} ${name} ${colorScheme}`)
        }
      }
      await page.goto(`${base}${leave}?lang=${language}`)
      await page.click('button')
      await check(`${language} left`)
      await page.click('button')
      await check(`${language} back`)
    }
    await page.goto(`${base}${choose}`)
    await page.uncheck('input[value="2"]')
    await page.click('button.main')
    await check('saved')
    t.equal(await page.isChecked('input[value="2"]'), false)
    t.equal(await page.isChecked('input[value="1"]'), true)
    t.strictSame(complaints, [])
  },
)
