import t, { type Test } from 'tap'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { type Journey, makeJourney } from './mailbox.ts'

const PERSON = 'lena@harbor.example'

/**
 * A person opens the message in the inbox, follows its first link, and unsubscribes by the one called so: what the account is
 * told of `messageId`.
 */
async function readAndLeave(t: Test, journey: Journey, inboxId: string, messageId: string): Promise<void> {
  const { service, sender, base, inbox, shop } = journey
  const context = await openBrowser(t)
  const page = await context.newPage()
  const pixel = page.waitForResponse((response) => new URL(response.url()).pathname.startsWith('/t/o/'))

  await page.goto(`${inbox}/`)
  await page.click(`a[href="/view/${inboxId}"]`)
  const violations: string[] = []
  page.on('console', (line) => {
    // The inbox's own page shows a message's HTML without loading anything for it.
    if (!line.text().includes('"img-src \'self\' data:"')) violations.push(line.text())
  })
  // Where no script may run the driver loses sight of the page it came to by a link.
  await page.goto(new URL((await page.getAttribute('text=HTML view', 'href')) ?? '', inbox).href)
  t.equal((await pixel).status(), 200)
  t.equal((await pixel).headers()['content-type'], 'image/gif')
  await page.click('a >> nth=0')
  await page.waitForURL(`${shop}berth?id=4`)
  t.equal(await page.title(), 'The shop')
  t.equal(await page.textContent('#referrer'), 'none', 'and is not told where he comes from')

  await page.goto(`${inbox}/messages/${inboxId}/html`)
  await page.click('a:has-text("Unsubscribe")')
  t.match(new URL(page.url()).pathname, /^\/t\/u\//)
  t.match(await page.textContent('body'), sender.domain)
  t.strictSame(await service.core.suppressions.holding(sender.accountId, PERSON), [], 'nothing happened by that')
  await page.click('button')
  await page.waitForSelector('text=You are unsubscribed')
  t.strictSame(await context.cookies(), [])
  t.strictSame(violations, [], 'nothing that a policy had to stop')

  // The pixel is loaded each time the message is shown.
  const events = await journey.told(messageId, 4)
  const of = (type: string) => events.filter((event) => event.type === type)
  t.strictSame(
    of('opened').map(({ detail }) => [detail.first, detail.machine]),
    [
      [true, undefined],
      [undefined, undefined],
    ],
  )
  t.match(of('clicked'), [{ detail: { url: `${shop}berth?id=4`, first: true, ip: '127.0.0.1', userAgent: /Chrome/ } }])
  t.equal(of('unsubscribed').length, 1)
  t.match(await service.core.suppressions.holding(sender.accountId, PERSON), [{ reason: 'unsubscribe' }])
  const { body } = await sendV2(base, sender.apiKey, v2Body(sender))
  const later = await service.core.messages.show(body.data?.message_id as string)
  t.match(later?.deliveries[0], { state: 'dropped', reason: 'unsubscribe' })
}

t.test(
  'a browser opens mail as the service made it: its pixel, link and unsubscribe page work, and are told',
  { ...skipWithoutBrowser, timeout: 90_000 },
  async (t) => {
    const journey = await makeJourney(t)
    const { base, sender } = journey
    const headers = { api_key: sender.apiKey, 'content-type': 'application/json' }
    const receiver = await startReceiver(t)
    const saved = await fetch(`${base}/v2/webhooks`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ url: receiver.url, events: 'sent,opened,clicked,unsubscribed' }),
    })
    t.equal(saved.status, 200)
    const content = `<p>Your berth is ready. <a href="${journey.shop}berth?id=4">See it</a></p>`
    const settings = { opentrack: 1, clicktrack: 1, unsubscribe: 1 }
    const { inboxId, messageId } = await journey.deliver({ content, settings })
    await readAndLeave(t, journey, inboxId, messageId)

    const stats = async () => {
      const asked = await fetch(`${base}/v2/stats?startdate=${new Date().toISOString().slice(0, 10)}`, { headers })
      const { data } = (await asked.json()) as { data: { stats: { metrics: Record<string, number> }[] }[] }
      return data.flatMap(({ stats }) => stats.map(({ metrics }) => metrics)).find(({ unsub }) => unsub === 1)
    }
    const metrics = await until('the statistics', stats)
    t.match(metrics, { sent: 1, open: 2, unique_open: 1, click: 1, unsub: 1 })
    const told = await until('the webhook', () => {
      const events = receiver.batches().flatMap(({ body }) => JSON.parse(body) as { EVENT: string; URL?: string }[])
      // Batches are on their way in parallel: the last event may arrive before an earlier one.
      return events.length >= 5 && events
    })
    t.same(told.map(({ EVENT }) => EVENT).sort(), ['clicked', 'opened', 'opened', 'sent', 'unsubscribed'])
    t.equal(told.find(({ EVENT }) => EVENT === 'clicked')?.URL, `${journey.shop}berth?id=4`)
  },
)
