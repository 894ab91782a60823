import t from 'tap'
import { countAll } from '../../core/reporting/statistics/happen.ts'
import { openBrowser, skipWithoutBrowser } from '../../helpers/browser.ts'
import { startProcess } from '../../helpers/processes.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { startSink } from '../../helpers/sink.ts'
import { until } from '../../helpers/until.ts'
import { openDashboard, sendingOwner } from '../dashboard.ts'

const ADDRESS = 'complain@harbor.example'
/** Names that a phone has room for: recipients, domains, header fields. */
const NAMES = [
  ADDRESS,
  'harbor.example',
  'Content-Transfer-Encoding',
  'Subject',
  'Message-ID',
  'MIME-Version',
  'Return-Path',
]

/** Words of tables that are broken within a part, each with a bar where a line of it ends. */
const BROKEN = `(() => {
  const broken = []
  const range = document.createRange()
  const texts = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { currentNode: text } = texts
    if (!text.parentElement.closest('table') || !text.parentElement.checkVisibility()) continue
    for (const { 0: word, index } of text.data.matchAll(/\\S+/g)) {
      let [shown, line] = ['', undefined]
      for (let at = 0; at < word.length; at++) {
        range.setStart(text, index + at)
        range.setEnd(text, index + at + 1)
        const { top } = range.getBoundingClientRect()
        if (line !== undefined && Math.abs(top - line) > 3) shown += '|'
        shown += word[at]
        line = top
      }
      broken.push(shown)
    }
  }
  return broken
})()`

/** Tables that are wider than their region, whose buttons are out of sight. */
const WIDE = `[...document.querySelectorAll('#page .scroll')]
  .filter((region) => region.scrollWidth > region.clientWidth)
  .map((region) => region.getAttribute('aria-label') + ' ' + region.scrollWidth + ' > ' + region.clientWidth)`

t.test(
  'on a phone, mail that was sent is shown without scrolling sideways, in German too, and names are not broken within a word',
  skipWithoutBrowser,
  async (t) => {
    const sink = await startSink(t, { rcpt: () => `550 5.1.1 stored as ${'0123456789abcdef'.repeat(4)}` })
    const dashboard = await openDashboard(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const { service, url, member } = dashboard
    const ada = await sendingOwner(dashboard)
    await member(ada.accountId, 'viewer')
    await service.core.auth.createKey({ accountId: ada.accountId, name: 'shop-backend', scopes: ['send'] })
    const { body } = await sendV2(
      url,
      ada.apiKey,
      v2Body(ada, {
        personalizations: [{ recipient: ADDRESS }],
        subject: '0123456789abcdef'.repeat(12),
        tags: ['orders'],
      }),
    )
    await startProcess(t, 'delivery', service.env)
    await until('the message to be refused', async () => {
      const [row] = await service.sql`select count(*)::int as left from delivery_queue`
      return row?.left === 0
    })
    await countAll(service)
    const context = await openBrowser(t)
    const [name, value] = ada.cookie.split('=') as [string, string]
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    const message = `messages/${body.data?.message_id}`
    for (const [language, width] of [
      ['en', 390],
      ['de', 320],
    ] as const) {
      await page.setViewportSize({ width, height: 844 })
      await page.setExtraHTTPHeaders({ 'accept-language': language })
      const seen = new Set<string>()
      for (const path of ['statistics', message, `${message}?tab=header`, 'suppressions', 'team', 'keys']) {
        await page.goto(`${url}/app/${ada.accountId}/${path}`)
        const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        t.equal(over, 0, `${width} pixels: ${path} scrolls sideways`)
        if (width === 390 && (path === 'keys' || path === 'team'))
          t.strictSame(await page.evaluate(WIDE), [], `${width} pixels: ${path}`)
        for (const shown of (await page.evaluate(BROKEN)) as readonly string[]) {
          const whole = shown.replaceAll('|', '')
          if (!NAMES.includes(whole)) continue
          seen.add(whole)
          if (width === 390) t.notMatch(shown, /\w\|\w/, path)
        }
      }
      t.ok(seen.size > 4, [...seen].join(' '))
    }
  },
)

t.test('long tags and German states do not cover what is next to them', skipWithoutBrowser, async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const { url } = dashboard
  await sendV2(url, ada.apiKey, v2Body(ada, { tags: ['a-rather-long-tag-of-a-campaign-in-november'] }))
  const context = await openBrowser(t)
  const [name, value] = ada.cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url }])
  const page = await context.newPage()
  await page.setViewportSize({ width: 1100, height: 844 })
  await page.setExtraHTTPHeaders({ 'accept-language': 'de' })
  for (const [path, parts] of [
    ['messages', '#page .msgs tbody td'],
    ['domains/ship.example', '#page .rec summary > *'],
  ] as const) {
    await page.goto(`${url}/app/${ada.accountId}/${path}`)
    await page.evaluate('for (const one of document.querySelectorAll("#page details")) one.open = false')
    const shown = (await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(parts)})].map((part) => {
      const inner = [part, ...part.querySelectorAll('*')].map((one) => one.getBoundingClientRect().right + one.scrollWidth - one.clientWidth)
      const next = part.nextElementSibling?.getBoundingClientRect().left ?? Infinity
      return { text: part.textContent.trim(), covers: !part.querySelector('.cut') && Math.max(...inner) > next + 1, tag: part.querySelector('.badge')?.getBoundingClientRect().right > next }
    })`)) as readonly { text: string; covers: boolean; tag: boolean }[]
    t.ok(shown.length > 3, path)
    t.strictSame(
      shown.filter(({ covers, tag }) => covers || tag),
      [],
      path,
    )
  }
})
