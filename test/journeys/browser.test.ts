import { createServer } from 'node:http'
import { createSecrets, type Event, makeTrackingToken, type TrackingTarget } from '@postrider/core'
import t, { type Test } from 'tap'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { moveClock } from '../helpers/database.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

const PERSON = 'lena@harbor.example'

interface Journey {
  readonly service: TestService
  readonly sender: Sender
  readonly base: string
  readonly inbox: string
  /** The page its mail leads to. */
  readonly shop: string
  /** Sends, waits until it stands in the inbox, and lets a minute go by. Answers where it stands, and its id. */
  deliver(extra: Record<string, unknown>): Promise<{ readonly inboxId: string; readonly messageId: string }>
  /** What the account is told of a message, once there is so much. */
  told(messageId: string, count: number): Promise<Event[]>
}

async function makeJourney(t: Test): Promise<Journey> {
  const service = await makeService(t, { DELIVERY: 'sandbox' })
  const sender = await service.makeSender()
  for (const name of ['sandbox', 'api', 'delivery'] as const) await startProcess(t, name, service.env)
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const inbox = `http://127.0.0.1:${service.config.sandboxHttpPort}`
  const shop = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<title>The shop</title><p id="referrer">${request.headers.referer ?? 'none'}</p>`)
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  t.teardown(() => shop.close())
  let minutes = 0
  return {
    ...{ service, sender, base, inbox },
    shop: `http://127.0.0.1:${(shop.address() as { port: number }).port}/`,
    async deliver(extra) {
      const before = new Set((await listed(inbox)).map(({ id }) => id))
      const { body } = await sendV2(base, sender.apiKey, v2Body(sender, extra))
      const messageId = body.data?.message_id as string
      const arrived = await until('the message', async () => (await listed(inbox)).find(({ id }) => !before.has(id)))
      await until('its delivery', async () => {
        return (await service.core.messages.show(messageId))?.deliveries[0]?.state === 'delivered'
      })
      await moveClock(service.sql, `${++minutes} minutes`)
      return { inboxId: arrived.id, messageId }
    },
    told: (messageId, count) =>
      until(`${count} events of what its reader did`, async () => {
        const found: Event[] = []
        for (let after = 0; ; ) {
          const page = await service.core.events.read({ accountId: sender.accountId, after, limit: 100 })
          found.push(...page.events)
          if (page.next === after) break
          after = page.next
        }
        const own = found.filter(
          ({ type, delivery }) =>
            delivery?.messageId === messageId && ['opened', 'clicked', 'unsubscribed'].includes(type),
        )
        return own.length >= count && own
      }),
  }
}

async function listed(inbox: string): Promise<{ id: string }[]> {
  return (await (await fetch(`${inbox}/messages`)).json()) as { id: string }[]
}

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
    if (!line.text().includes('"img-src data:"')) violations.push(line.text())
  })
  // Where no script may run the driver loses sight of the page it came to by a link.
  await page.goto(new URL((await page.getAttribute('text=as its reader sees it', 'href')) ?? '', inbox).href)
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
  'a browser opens mail of links made by hand: its pixel, link and unsubscribe page work, and are told',
  { ...skipWithoutBrowser, timeout: 90_000 },
  async (t) => {
    const journey = await makeJourney(t)
    const { service, sender, base, shop, deliver } = journey
    // The message that is tracked, and one that carries its links.
    const { messageId } = await deliver({})
    const secrets = createSecrets(service.env.SECRET_KEY as string)
    const token = (kind: TrackingTarget['kind'], url = ''): string =>
      makeTrackingToken(secrets, {
        ...{ kind, accountId: sender.accountId, messageId, recipientNo: 0, group: 0, link: 0, url },
      })
    const content =
      `<p>Your berth is ready. <a href="${base}/t/c/${token('click', `${shop}berth?id=4`)}">See it</a></p>` +
      `<p><a href="${base}/t/u/${token('unsubscribe')}">Unsubscribe</a></p>` +
      `<img src="${base}/t/o/${token('open')}.gif" alt="" width="1" height="1">`
    const settings = { opentrack: 0, clicktrack: 0, unsubscribe: 0, footer: 0 }
    const { inboxId } = await deliver({ content, settings })
    await readAndLeave(t, journey, inboxId, messageId)
  },
)

t.test(
  'nothing in a hostile message runs in a browser, in the inbox or on its own',
  { ...skipWithoutBrowser, timeout: 90_000 },
  async (t) => {
    const journey = await makeJourney(t)
    const context = await openBrowser(t)
    const page = await context.newPage()
    const ran: string[] = []
    page.on('dialog', async (dialog) => {
      ran.push(dialog.message())
      await dialog.dismiss()
    })
    await page.exposeFunction('canary', (what: string) => ran.push(what))
    const run = (what: number): string => `(window.canary||top.canary||alert)('${what}')`
    const evil = [
      `<script>${run(1)}</script>`,
      `<img src="x" onerror="${run(2)}">`,
      `<svg onload="${run(3)}"><script>${run(4)}</script></svg>`,
      `<iframe srcdoc="<script>${run(5)}</script>"></iframe>`,
      `<iframe src="javascript:${run(6)}"></iframe>`,
      `<body onload="${run(7)}">`,
      `<details open ontoggle="${run(8)}"><summary>x</summary></details>`,
      `<object data="data:text/html,<script>${run(9)}</script>"></object>`,
      `<embed src="data:text/html,<script>${run(10)}</script>">`,
      `<meta http-equiv="refresh" content="0;url=javascript:${run(11)}">`,
      `<meta http-equiv="refresh" content="0;url=${journey.shop}">`,
      `<form id="f" action="${journey.shop}"></form><button form="f" id="send">send</button>`,
      `<input autofocus onfocus="${run(12)}">`,
      `<style>@import '${journey.shop}'; p { background: url("javascript:${run(13)}") }</style>`,
      `<base href="${journey.shop}"><a id="script" href="javascript:${run(14)}">x</a>`,
      `<math><mtext></mtext><mglyph><style><!--</style><img title="--><img src=x onerror=${run(15)}>">`,
      `</iframe></textarea></title><script>${run(16)}</script>`,
    ].join('\n')
    const subject = `"><img src=x onerror="${run(17)}"><script>${run(18)}</script>`
    const settings = { opentrack: 0, clicktrack: 0, unsubscribe: 0, footer: 0 }
    const { inboxId } = await journey.deliver({ content: evil, subject, settings })
    for (const path of [
      '/',
      `/view/${inboxId}`,
      `/messages/${inboxId}/html`,
      `/messages/${inboxId}`,
      `/messages/${inboxId}/raw`,
    ]) {
      await page.goto(`${journey.inbox}${path}`, { waitUntil: 'networkidle' }).catch((error: Error) => {
        // The raw message is not shown but kept as a file.
        if (!/Download is starting|ERR_ABORTED/.test(error.message)) throw error
      })
      if (path.endsWith('/html')) {
        await page.click('#script')
        await page.click('#send')
        t.equal(page.url(), `${journey.inbox}${path}`, 'it leads nowhere by itself')
      }
      t.strictSame(ran, [], path)
    }
    // The canary sings where a script may run.
    await page.goto('about:blank')
    await page.setContent(`<script>${run(19)}</script>`)
    t.strictSame(ran, ['19'])
  },
)
