import t from 'tap'
import { DEFERRED } from '../core/delivery/queue-of.ts'
import { countAll } from '../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../core/submission.ts'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { claimDue, parkedAt } from '../helpers/claim.ts'
import { registerWorker } from '../helpers/lease.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { isInTime } from '../helpers/pace.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, sendingOwner, type TestSender } from './dashboard.ts'

const HOSTILE = `<img src=x onerror=alert(1)> "quoted" & 'single' \u202egnp.exe`

async function send(url: string, from: TestSender, extra: Record<string, unknown> = {}) {
  const { body } = await sendV2(url, from.apiKey, v2Body(from, extra))
  return body.data?.message_id as string
}

t.test('the list shows what was accepted, finds by the search language, and says which part is wrong', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const base = `/app/${ada.accountId}/messages`
  t.match(await (await ada.get(base)).text(), 'No mail yet')
  await send(dashboard.url, ada, { subject: HOSTILE })
  await send(dashboard.url, ada, { subject: 'Berth 5', personalizations: [{ recipient: 'mia@souq.example' }] })
  const all = await (await ada.get(base)).text()
  t.notMatch(all, '<img src=x')
  t.match(all, '&lt;img src=x onerror=alert(1)&gt;')
  t.match(all, '<span class="ctl">U+202E</span>')
  const found = await (await ada.get(`${base}?q=${encodeURIComponent('to:@souq.example state:waiting')}`)).text()
  t.match(found, 'Berth 5')
  t.notMatch(found, '&lt;img')
  const none = await (await ada.get(`${base}?state=bounced`)).text()
  t.match(none, 'Nothing matches')
  const wrong = await ada.get(`${base}?q=${encodeURIComponent('colour:red')}`)
  t.equal(wrong.status, 400)
  t.match(await wrong.text(), 'colour: is not a key')
})

t.test('the call that answers with the list has its state, too', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const base = `/app/${ada.accountId}/messages`
  const calls = async (query: string) => {
    const page = await (await ada.get(`${base}?${query}`)).text()
    const found = /data-copy="curl -s &#39;([^ ]+)&#39;/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
    return found.slice(dashboard.url.length)
  }
  t.equal(await calls(''), '/v2/messages')
  const one = await calls('state=bounced')
  t.equal(one, '/v2/messages?state=bounced')
  t.equal(await calls('state=bounced&q=to:@a.example'), '/v2/messages?search=to%3A%40a.example&state=bounced')
  const quoted = encodeURIComponent('subject:"state: open"')
  t.equal(await calls(`state=bounced&q=${quoted}`), `/v2/messages?search=${quoted}&state=bounced`, 'a text is no state')
  t.equal((await fetch(`${dashboard.url}${one}`, { headers: { api_key: ada.apiKey } })).status, 200)
})

t.test(
  "the times of a message's events are those of the account's time zone, like all others of the page",
  async (t) => {
    const dashboard = await openDashboard(t)
    const ada = await sendingOwner(dashboard)
    const { core } = dashboard.service
    const timeZone = 'Asia/Kolkata'
    await core.accounts.settings.change(ada.accountId, { timeZone }, { keyId: null, address: null })
    const id = await send(dashboard.url, ada)
    const [event] = (await core.messages.show(id))?.events ?? []
    const at = event?.occurredAt as Date
    const local = at.toLocaleTimeString('en-GB', { timeZone, hour12: false, fractionalSecondDigits: 3 } as never)
    const page = await (await ada.get(`/app/${ada.accountId}/messages/${id}`)).text()
    t.match(/<ol class="line">.*?<\/ol>/s.exec(page)?.[0], local.slice(0, 8))
    t.notMatch(page, `>${at.toISOString().slice(11, 19)}`)
  },
)

t.test('a message says for each recipient what it waits for, and can be cancelled and sent again', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const id = await send(dashboard.url, ada, { subject: HOSTILE })
  const page = `/app/${ada.accountId}/messages/${id}`
  const shown = await (await ada.get(page)).text()
  t.match(shown, 'lena@harbor.example')
  t.match(shown, 'Waiting.')
  t.notMatch(shown, '<img src=x')
  t.equal((await ada.post(`${page}/cancel`)).status, 303)
  t.match(await (await ada.get(page)).text(), 'Dropped')
  const again = await ada.post(`${page}/resend`)
  t.equal(again.status, 303)
  const other = again.headers.get('location') ?? ''
  t.notMatch(other, id)
  t.match(await (await ada.get(other)).text(), 'Waiting.')
})

t.test(
  "a message's HTML is a document without origin and scripts, and loads images only when they are requested",
  async (t) => {
    const dashboard = await openDashboard(t)
    const ada = await sendingOwner(dashboard)
    const id = await send(dashboard.url, ada, { content: '<script>alert(1)</script><p>Hello</p>' })
    const at = `/app/${ada.accountId}/messages/${id}`
    const html = await ada.get(`${at}/html`)
    const policy = html.headers.get('content-security-policy') ?? ''
    t.match(policy, /^sandbox; default-src 'none'; img-src data:;/)
    t.match(await html.text(), '<p>Hello</p>')
    t.match((await ada.get(`${at}/html?images=1`)).headers.get('content-security-policy'), 'img-src https: http: data:')
    t.match(await (await ada.get(at)).text(), '<iframe class="frame" sandbox ')
    const source = await ada.get(`${at}/source`)
    t.match(source.headers.get('content-disposition'), `filename="${id}.eml"`)
    t.match(await source.text(), 'Subject: Berth 4')
  },
)

t.test('a body that is damaged is told from one that is no longer stored', async (t) => {
  const dashboard = await openDashboard(t)
  const { sql } = dashboard.service
  const ada = await sendingOwner(dashboard)
  const at = `/app/${ada.accountId}/messages/${await send(dashboard.url, ada)}`
  await sql`update bodies set content = '{}' where part = 0`
  const damaged = await (await ada.get(at)).text()
  t.match(damaged, 'The body cannot be shown')
  t.notMatch(damaged, 'no longer stored')
  await sql`delete from bodies`
  t.match(await (await ada.get(at)).text(), 'The body is no longer stored')
})

t.test('a body whose parts take too much to read is not shown, and its source can be downloaded', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  // Hundreds of thousands of references to files, each with an escape that is none.
  const references = Array.from({ length: 700_000 }, (_, at) => `cid:${at} %4"`).join('')
  const html = `Content-Type: text/html\r\n\r\n${references}`
  const image = 'Content-Type: image/gif\r\nContent-ID: <a>\r\n\r\nx'
  const head = 'Subject: Costly\r\nContent-Type: multipart/related; boundary=b'
  const { messageId } = await acceptMessage(dashboard.service, ada, {
    content: {
      kind: 'mime',
      lacksDate: false,
      lacksMessageId: false,
      nullReturnPath: false,
      trace: { helo: 'desk.ship.example', address: '192.0.2.1', protocol: 'ESMTP' },
      pieces: [Buffer.from(`${head}\r\n\r\n--b\r\n${html}\r\n--b\r\n${image}\r\n--b--\r\n`)],
    },
  })
  const at = `/app/${ada.accountId}/messages/${messageId}`
  const page = await ada.get(at)
  t.equal(page.status, 200)
  const shown = await page.text()
  t.match(shown, 'reading its parts takes too much time or memory')
  const source = /href="([^"]+\/source\?to=0)"/.exec(shown)?.[1] ?? ''
  t.match(await (await ada.get(source)).text(), 'Subject: Costly')
})

t.test(
  'a delivery at a paused provider is shown as paused, and one that only waits there without a time',
  async (t) => {
    const dashboard = await openDashboard(t)
    const { core } = dashboard.service
    const ada = await sendingOwner(dashboard)
    const list = async () => (await ada.get(`/app/${ada.accountId}/messages`)).text()
    await send(dashboard.url, ada)
    const { workerId } = await registerWorker(t, core)
    const [claimed] = await claimDue(core, { workerId, limit: 10 })
    if (!claimed) throw new Error('not claimed')
    await core.deliveries.record([{ ...claimed, workerId, outcome: DEFERRED }])
    t.match(await list(), 'next attempt ')
    await dashboard.service.sql`update delivery_queue set next_at = service_now()`
    const again = parkedAt(await claimDue(core, { workerId, limit: 10 }), { place: 'google', waitingFor: 'pause' })
    await core.deliveries.park(workerId, again)
    t.notMatch(await list(), 'next attempt ')
    await core.queue.pause({ place: 'google', accountId: null, seconds: 7200, reason: 'they asked for it' })
    t.match(await list(), 'greylisted</bdi>; paused until ')
  },
)

t.test('the message of another account is not there, whatever is asked of it', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const other = await dashboard.service.makeSender()
  const { body } = await sendV2(dashboard.url, other.apiKey, v2Body(other))
  const id = body.data?.message_id as string
  const base = `/app/${ada.accountId}/messages/${id}`
  for (const path of ['', '/html', '/source', '/files/0']) t.equal((await ada.get(`${base}${path}`)).status, 404, path)
  for (const act of ['try-now', 'cancel', 'resend']) t.equal((await ada.post(`${base}/${act}`)).status, 404, act)
  const states = await dashboard.service.sql`select state from deliveries where message_id = ${id}::uuid`
  t.strictSame([...states], [{ state: 'queued' }])
})

t.test('support sees what became of a message, and nothing of what it says', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const id = await send(dashboard.url, ada, { content: '<p>a secret sentence</p>' })
  const sam = await dashboard.member(ada.accountId, 'support')
  const base = `/app/${ada.accountId}/messages/${id}`
  const seen = await sam.get(base)
  t.equal(seen.status, 200)
  const text = await seen.text()
  t.match(text, 'lena@harbor.example')
  t.notMatch(text, 'secret sentence')
  for (const path of ['?tab=html', '?tab=text', '?tab=source'])
    t.notMatch(await (await sam.get(`${base}${path}`)).text(), 'secret sentence')
  for (const path of ['/html', '/source', '/files/0']) t.equal((await sam.get(`${base}${path}`)).status, 403, path)
  t.equal((await sam.post(`${base}/cancel`)).status, 403)
})

t.test(
  'an open page shows a new message within two seconds, without being loaded again',
  skipWithoutBrowser,
  async (t) => {
    const dashboard = await openDashboard(t)
    const ada = await sendingOwner(dashboard)
    const context = await openBrowser(t)
    const [name, value] = ada.cookie.split('=') as [string, string]
    await context.addCookies([{ name, value, url: dashboard.url }])
    const page = await context.newPage()
    await page.goto(`${dashboard.url}/app/${ada.accountId}/messages`)
    await page.waitForSelector('.live:not([hidden])')
    await page.evaluate("document.body.dataset.mark = 'the same document'")
    await send(dashboard.url, ada, { subject: 'It is live' })
    const numbered = performance.now()
    await numberEvents(dashboard.service)
    await page.waitForSelector('text=It is live', { timeout: 10_000 })
    t.ok(isInTime(numbered, 2000))
    t.equal(await page.evaluate('document.body.dataset.mark'), 'the same document')
  },
)

t.test('an open page is live again after its stream was refused for a while', skipWithoutBrowser, async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const context = await openBrowser(t)
  const [name, value] = ada.cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url: dashboard.url }])
  let refused = 0
  // A proxy, or a process that ends, answers with no stream.
  await context.route('**/live?*', (route) => (++refused <= 2 ? route.fulfill({ status: 503 }) : route.continue()))
  const page = await context.newPage()
  await page.goto(`${dashboard.url}/app/${ada.accountId}/messages`)
  await send(dashboard.url, ada, { subject: 'It is live again' })
  await numberEvents(dashboard.service)
  await page.waitForSelector('text=It is live again', { timeout: 40_000 })
  t.equal(refused, 3)
})

t.test('a page whose stream opens after a change gets what happened since it was built', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  const page = await (await ada.get(`/app/${ada.accountId}/messages`)).text()
  const stream = /data-live="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') as string
  await send(dashboard.url, ada)
  await countAll(dashboard.service)
  const headers = { cookie: ada.cookie }
  const { body } = await fetch(`${dashboard.url}${stream}`, { headers, signal: AbortSignal.timeout(10_000) })
  let told = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    told += Buffer.from(chunk).toString()
    if (told.includes('event: changed')) break
  }
  t.match(told, /^event: changed$/m)
})

t.test('an open page is not fetched again while nothing happens', skipWithoutBrowser, async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await sendingOwner(dashboard)
  await send(dashboard.url, ada)
  await numberEvents(dashboard.service)
  const context = await openBrowser(t)
  const [name, value] = ada.cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url: dashboard.url }])
  const page = await context.newPage()
  let fetched = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/messages')) fetched++
  })
  await page.goto(`${dashboard.url}/app/${ada.accountId}/messages`)
  await page.waitForSelector('.live:not([hidden])')
  await page.waitForTimeout(2000)
  t.equal(fetched, 1)
})
