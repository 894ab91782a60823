import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createSecrets } from '@postrider/core'
import t from 'tap'
import { makeMark } from '../../packages/core/src/delivery/return-path.ts'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { until } from '../helpers/until.ts'
import { type Entry, mail, offer, startSandbox } from './sandbox.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** With one rule that is none of WCAG: screen readers go to the heading of a page first. */
const RULES = JSON.stringify({
  iframes: false,
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  rules: { 'page-has-heading-one': { enabled: true } },
})
const HERE = { 'sec-fetch-site': 'same-origin' }

const sandbox = await startSandbox(t, undefined, { PUBLIC_URL: 'http://dashboard.test:8080' })
const ask = (path: string, init: RequestInit = {}) => fetch(`${sandbox.url}${path}`, { redirect: 'manual', ...init })
const read = async (path: string) => (await ask(path)).text()
const post = (path: string, headers: Record<string, string>) => ask(path, { method: 'POST', headers })

const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** HTML with an image of its own, one from elsewhere, and two links. */
function order(subject = 'Order 7'): string {
  const html =
    '<p>Thank you</p><img alt="" src="cid:logo"><img alt="" src="http://pixel.example/1.gif">' +
    '<a href="http://shop.example/o?a=1&amp;b=2">Order</a><a href="javascript:alert(1)">No</a>'
  return mail(
    `Subject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b`,
    `--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n` +
      `--b\r\nContent-Type: image/png; name="logo.png"\r\nContent-ID: <logo>\r\nContent-Transfer-Encoding: base64\r\n\r\n${IMAGE}\r\n` +
      '--b\r\nContent-Type: text/html; name="\u{202e}evil.html"\r\nContent-Disposition: attachment; filename="e.html"\r\n\r\n<script>1</script>\r\n--b--\r\n',
  )
}

t.test('a message shows whom it names in Cc', async (t) => {
  const copied = mail('Subject: Berth nine\r\nTo: lena@harbor.example\r\nCc: Ops <ops@harbor.example>')
  const { id } = await sandbox.store(t, copied, 'ops@harbor.example')
  t.match(await read(`/view/${id}`), /<dt>Cc<\/dt><dd[^>]*>.*?ops@harbor\.example/)
  const { id: other } = await sandbox.store(t, mail('Subject: Berth ten'))
  t.notMatch(await read(`/view/${other}`), '<dt>Cc</dt>')
})

t.test('a search finds messages by sender, recipient, subject, words and attachments', async (t) => {
  const plain = await sandbox.store(t, mail('Subject: Berth four', 'The anchor is up.\r\n'), 'piet@dock.example')
  const found = await sandbox.store(t, order())
  const shows = async (query: string, entry: Entry) =>
    (await read(`/?q=${encodeURIComponent(query)}`)).includes(`id="m-${entry.id}"`)
  for (const query of ['to:PIET', 'subject:"berth four"', 'anchor', 'from:desk@ship berth']) {
    t.ok(await shows(query, plain), query)
    if (query !== 'from:desk@ship berth') t.notOk(await shows(query, found), query)
  }
  t.ok(await shows('has:attachment', found))
  t.notOk(await shows('has:attachment', plain))
  t.match(await read('/?q=nothing+such'), 'No message matches')
})

t.test('the list is paged, and each page leads to the next', async (t) => {
  const client = await sandbox.session(t)
  for (let number = 0; number < 55; number++)
    await client.submit('a@b.example', 'many@harbor.example', mail(`Subject: no ${number}`))
  const first = await read('/?q=to:many')
  t.equal(first.match(/id="m-/g)?.length, 50)
  t.match(first, '1–50 / 55')
  const older = /href="(\/\?q=to%3Amany&amp;before=[0-9a-f]{32})"/.exec(first)?.[1]?.replaceAll('&amp;', '&')
  const second = await read(older ?? '')
  t.equal(second.match(/id="m-/g)?.length, 5)
  t.match(second, '51–55 / 55')
  t.match(second, 'Newest')
})

t.test("a message's parts have tabs of their own, and its attachments are saved and never shown", async (t) => {
  const { id } = await sandbox.store(t, order())
  const page = await read(`/view/${id}`)
  t.match(page, `sandbox="" src="/view/${id}/html"`)
  t.match(page, 'Show remote images')
  t.match(await read(`/view/${id}?part=text`), 'no text version')
  t.match(await read(`/view/${id}?part=source`), 'Content-ID: &lt;logo&gt;')
  t.match(await read(`/view/${id}?part=header`), 'Subject: Order 7')
  const links = await read(`/view/${id}?part=links`)
  t.match(links, 'href="http://shop.example/o?a=1&amp;b=2"')
  t.notMatch(links, 'href="javascript:')
  const checks = await read(`/view/${id}?part=checks`)
  t.match(checks, '<b>DKIM</b>: not signed')
  t.match(checks, '1 by http')
  t.match(await read(`/view/${id}?part=attachments`), 'logo.png')
  const image = await ask(`/view/${id}/attachments/0`)
  t.equal(image.headers.get('content-type'), 'image/png')
  t.equal(Buffer.from(await image.arrayBuffer()).toString('base64'), IMAGE)
  const page2 = await ask(`/view/${id}/attachments/1`)
  t.equal(page2.headers.get('content-type'), 'application/octet-stream')
  t.match(page2.headers.get('content-disposition'), /^attachment; /)
  t.match(page2.headers.get('content-security-policy'), "default-src 'none'; sandbox")
  for (const none of ['2', '99999', 'x', '-1']) t.equal((await ask(`/view/${id}/attachments/${none}`)).status, 404)
})

t.test('the HTML in the frame loads its own images, and others only on click', async (t) => {
  const { id } = await sandbox.store(t, order())
  const frame = await ask(`/view/${id}/html`)
  t.match(await frame.text(), `src="/view/${id}/attachments/0"`)
  const policy = frame.headers.get('content-security-policy') ?? ''
  t.match(policy, /^sandbox; default-src 'none'; img-src 'self' data:; .*frame-ancestors 'self'$/)
  t.notMatch(policy, /script|allow-/)
  t.match(
    (await ask(`/view/${id}/html?images=1`)).headers.get('content-security-policy'),
    "img-src 'self' https: http:",
  )
})

t.test('a message sent by the service leads to its history', async (t) => {
  const client = await sandbox.session(t)
  const messageId = '000102030405060708090a0b0c0d0e0f'
  // As the worker makes it for a delivery; the inbox has not the key to verify it with.
  const mark = makeMark(createSecrets('a key'), 'returnPath', { messageId, recipientNo: 1 }, 0)
  await client.submit(`${mark}@returns.example`, 'lena@harbor.example', mail('Subject: Ours'))
  const entry = (await sandbox.list()).at(-1)
  t.match(await read(`/view/${entry?.id}`), `href="http://dashboard.test:8080/app/messages/${messageId}"`)
  await client.submit(`${mark.slice(0, -1)}@returns.example`, 'lena@harbor.example', mail('Subject: Short'))
  const other = await sandbox.store(t, mail('Subject: Theirs'))
  for (const { id } of [other, (await sandbox.list()).at(-2) as Entry])
    t.notMatch(await read(`/view/${id}`), '/app/messages/')
})

t.test('recipients that were rejected, deferred or disconnected are listed with the reply', async (t) => {
  t.match(await read('/rejected'), 'Nothing was rejected')
  const client = await sandbox.session(t)
  for (const local of ['bounce', 'defer', 'blocked']) await offer(client, 'a@b.example', `${local}@harbor.example`)
  await offer(client, 'a@b.example', 'disconnect@harbor.example')
  const page = await read('/rejected')
  t.match(page, /bounce@harbor\.example.*550 5\.1\.1/s)
  t.match(page, '451 4.7.1 Try again later')
  t.match(page, '554 5.7.1 The message looks like spam')
  t.match(page, 'Connection closed without a reply')
})

t.test('after a message is deleted, the list is the one that it was chosen from', async (t) => {
  const { id } = await sandbox.store(t, mail('Subject: Berth five', 'x\r\n'))
  const page = await read(`/view/${id}?q=to%3Aa+b&before=fffe&part=source`)
  const action = /action="(\/view\/[^"]+\/delete[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') as string
  const deleted = await post(action, HERE)
  t.equal(deleted.status, 303)
  t.equal(deleted.headers.get('location'), '/?q=to%3Aa+b&before=fffe')
})

t.test('messages are deleted only from a page of the inbox itself', async (t) => {
  const { id } = await sandbox.store(t, mail('Subject: Delete me'))
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
    {},
  ]
  for (const headers of foreign as Record<string, string>[]) {
    t.equal((await post(`/view/${id}/delete`, headers)).status, 403)
    t.equal((await post('/delete-all', headers)).status, 403)
  }
  t.equal((await ask(`/messages/${id}`)).status, 200)
  const before = (await sandbox.list()).length
  t.equal((await post(`/view/${id}/delete`, HERE)).status, 303)
  t.equal((await ask(`/messages/${id}`)).status, 404)
  t.equal((await sandbox.list()).length, before - 1)
  t.equal((await post(`/view/${id}/delete`, HERE)).status, 404)
  t.equal((await post('/delete-all', { origin: sandbox.url })).status, 303)
  t.strictSame(await sandbox.list(), [])
})

t.test('a page that connects just after a change learns of it', async (t) => {
  await sandbox.store(t, mail('Subject: In between'))
  const { body } = await fetch(`${sandbox.url}/live`, { signal: AbortSignal.timeout(20_000) })
  let text = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    if (text.includes('event: changed')) break
  }
  t.match(text, /^event: changed$/m)
})

t.test('new mail appears on the open page by itself', skipWithoutBrowser, async (t) => {
  const page = await (await openBrowser(t)).newPage()
  await page.goto(sandbox.url)
  await sandbox.store(t, mail('Subject: Berth nine'))
  await page.waitForSelector('text=Berth nine', { timeout: 20_000 })
  await page.click('text=Berth nine')
  await sandbox.store(t, mail('Subject: While reading'))
  await page.waitForSelector('text=While reading', { timeout: 20_000 })
  t.match(await page.textContent('.read'), 'It works.', 'the message that is read stays')
  await until('the preview', async () => (await page.textContent('#page'))?.includes('It works.'))
})

t.test(
  'no page violates WCAG 2.2 AA in either scheme, breaks its policy, or scrolls sideways',
  skipWithoutBrowser,
  async (t) => {
    const { id } = await sandbox.store(t, order('<script>alert("a long subject that does not fit a phone")</script>'))
    const page = await (await openBrowser(t)).newPage()
    const complaints: string[] = []
    // The frame does not load the remote image, as it should.
    page.on(
      'console',
      (line) => line.type() === 'error' && !line.text().includes('pixel.example') && complaints.push(line.text()),
    )
    page.on('pageerror', ({ message }) => complaints.push(message))
    const parts = ['html', 'widths', 'text', 'source', 'header', 'attachments', 'links', 'checks', 'support'].map(
      (part) => `/view/${id}?part=${part}`,
    )
    for (const path of ['/', '/?q=nothing', '/rejected', ...parts]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.goto(`${sandbox.url}${path}`)
        await page.evaluate(AXE)
        const violations = (await page.evaluate(
          `axe.run(document, ${RULES}).then((result) => result.violations)`,
        )) as readonly { id: string; nodes: readonly { html: string }[] }[]
        t.strictSame(
          violations.map((one) => `${one.id}: ${one.nodes[0]?.html}`),
          [],
          `${path}, ${colorScheme}`,
        )
      }
      for (const width of [320, 1440]) {
        await page.setViewportSize({ width, height: 800 })
        const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        t.equal(over, 0, `${path} scrolls sideways at ${width} pixels`)
      }
    }
    t.strictSame(complaints, [])
  },
)
