import type { Page } from 'playwright-core'
import t from 'tap'
import { skipWithoutBrowser } from '../../helpers/browser.ts'
import { isInTime } from '../../helpers/pace.ts'
import { until } from '../../helpers/until.ts'
import { PASSWORD } from '../dashboard.ts'
import { startInstallation } from '../installation.ts'

/** Moves the focus forward until it is on the element. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not reach ${selector}`)
}

async function type(page: Page, selector: string, text: string): Promise<void> {
  await tabTo(page, selector)
  await page.keyboard.type(text)
}

t.test(
  'by keyboard, a new installation has five green lines within a minute; its list shows how mail fares, also after a crash of the API',
  skipWithoutBrowser,
  async (t) => {
    const began = performance.now()
    const { url, link, key, apiPid, page, stop } = await startInstallation()
    t.teardown(stop)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => /Content Security|Refused/.test(message.text()) && complaints.push(message.text()))
    let presses = 0
    const press = async (selector: string) => {
      presses++
      await tabTo(page, selector)
      await page.keyboard.press('Enter')
    }
    await page.goto(link)
    await type(page, '[name=name]', 'Ada Lovelace')
    await type(page, '[name=email]', 'ada@northwind.example')
    await type(page, '[name=password]', PASSWORD)
    await press('button[type=submit]')
    await page.waitForURL(/first-steps/)
    const account = /\/app\/(\d+)/.exec(page.url())?.[1] as string
    await press('form[action$="first-steps/test"] button')
    await page.waitForSelector('text=4 of 6 done', { timeout: 15_000 })
    const delivered = (performance.now() - began) / 1000
    t.ok(isInTime(began, 60_000), `the first message was seen delivered after ${delivered} s`)
    t.equal(presses, 2, 'by two buttons')
    await press('#page a[href$="domains/new"]')
    await page.waitForURL(/domains\/new/)
    await type(page, '[name=domain]', 'ship.example')
    await press('#page form button.main')
    await page.waitForURL(/domains\/ship.example/)
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.waitForURL(/first-steps/)
    // The line that npm start printed, as it is pasted into a terminal.
    t.equal((await fetch(`${url}/v2/events/feed`, { headers: { api_key: key } })).status, 200)
    // The sandbox looks nothing up: the records of the domain stay to be published.
    await page.waitForSelector('text=5 of 6 done', { timeout: 15_000 })
    await page.waitForSelector('text=0 of 2 found')
    t.ok(presses <= 6, `${presses} buttons and links`)
    const all = (performance.now() - began) / 1000
    t.ok(isInTime(began, 60_000), `${all} s`)
    t.comment(
      `figures: delivered after ${delivered.toFixed(1)} s, five green lines after ${all.toFixed(1)} s, ${presses} buttons and links`,
    )

    await page.goto(`${url}/app/${account}/messages`)
    await page.waitForSelector('.live:not([hidden])')
    await page.evaluate("document.body.dataset.mark = 'the same document'")
    const send = async (recipient: string) => {
      const response = await fetch(`${url}/v2/sendEmail`, {
        method: 'POST',
        headers: { api_key: key, 'content-type': 'application/json' },
        body: JSON.stringify({
          personalizations: [{ recipient }],
          from: { fromEmail: 'orders@demo.example' },
          subject: `For ${recipient}`,
          content: '<p>It works.</p>',
        }),
      })
      t.equal(response.status, 200, await response.text())
    }
    const sees = (recipient: string, state: string) => {
      const isThere = `[...document.querySelectorAll('#page .msgs > *, #page tr')]
        .some(({ textContent }) => textContent.includes(${JSON.stringify(recipient)}) && textContent.includes(${JSON.stringify(state)}))`
      return until(`${recipient}: ${state}`, () => page.evaluate(isThere), 15_000)
    }
    await Promise.all(['bounce@harbor.example', 'defer-2@lumen.example', 'slow-3@harbor.example'].map(send))
    await sees('bounce@harbor.example', 'Bounced')
    await sees('defer-2@lumen.example', 'Deferred')
    await sees('slow-3@harbor.example', 'Delivered')
    t.equal(await page.evaluate('document.body.dataset.mark'), 'the same document')

    process.kill(apiPid, 'SIGKILL')
    await page.waitForSelector('.live.stale', { timeout: 15_000 }).catch(() => t.comment('back before it was stale'))
    await until(
      'the API, started again',
      async () => (await fetch(`${url}/health/ready`).catch(() => undefined))?.ok === true,
      20_000,
    )
    await send('after@harbor.example')
    await sees('after@harbor.example', 'Delivered')
    t.equal(await page.evaluate('document.body.dataset.mark'), 'the same document', 'it caught up without a reload')
    t.strictSame(complaints, [])
  },
)
