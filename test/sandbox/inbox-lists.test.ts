import { createSecrets } from '@postrider/core'
import t from 'tap'
import { makeMark } from '../../packages/core/src/delivery/return-path.ts'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { mail, offer, startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t, undefined, { PUBLIC_URL: 'http://dashboard.test:8080' })
const read = async (path: string) => (await fetch(`${sandbox.url}${path}`)).text()
const mark = (recipientNo: number) =>
  `${makeMark(createSecrets('a key'), 'returnPath', { messageId: 'ab'.repeat(16), recipientNo }, 0)}@returns.example`

t.test('a message that was delivered to each of its recipients is one row, which leads to each copy', async (t) => {
  const client = await sandbox.session(t)
  for (const [at, to] of ['one', 'two', 'three', 'four', 'five'].entries())
    await client.submit(mark(at), `${to}@harbor.example`, mail(`Subject: For ${to}`))
  const entries = await sandbox.list()
  const page = await read('/')
  t.equal(page.match(/id="m-/g)?.length, 1)
  t.match(page, 'desk@ship.example')
  t.match(page, 'one@harbor.example, two@harbor.example, three@harbor.example, 2 more')
  const view = await read(`/view/${entries[0]?.id}`)
  for (const { id, to } of entries.slice(1)) t.match(view, `href="/view/${id}"><bdi>${to}</bdi>`)
  t.match(await read(`/view/${entries[4]?.id}`), 'For five')
  t.match(await read(`/view/${entries[4]?.id}`), /aria-current="true"/)
  const deleted = await fetch(`${sandbox.url}/view/${entries[2]?.id}/delete`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  t.equal(deleted.status, 200)
  t.strictSame(await sandbox.list(), [], 'with all its copies')
})

t.test('the list and the JSON have the From of the header as well as the return path', async (t) => {
  const client = await sandbox.session(t)
  await client.submit(
    'bounces@mail.example',
    'lena@harbor.example',
    'From: =?utf-8?q?Sch=C3=B6n?= <hello@shop.example>\r\nSubject: Hi\r\n\r\nx\r\n',
  )
  const entry = (await sandbox.list()).at(-1)
  t.match(entry, { from: 'bounces@mail.example', sender: 'Schön <hello@shop.example>' })
  const page = await read('/')
  t.match(page, 'Schön &lt;hello@shop.example&gt;')
  t.match(await read(`/view/${entry?.id}`), /Return path<\/dt><dd class="cut"><bdi>bounces@mail\.example/)
})

t.test(
  'what was rejected is paged, searched, and leads to its message and to what the recipient received',
  async (t) => {
    const client = await sandbox.session(t)
    for (let number = 1; number <= 55; number++) await offer(client, 'a@b.example', `defer@host${number}.example`)
    await offer(client, mark(1), 'bounce@harbor.example')
    const first = await read('/rejected')
    t.equal(first.match(/id="r-/g)?.length, 50)
    t.match(first, '1–50 / 56')
    t.match(first, `href="http://dashboard.test:8080/app/messages/${'ab'.repeat(16)}"`)
    t.match(first, 'href="/?q=to%3A%22bounce%40harbor.example%22"')
    const older = /href="(\/rejected\?before=[0-9a-f]{32})"/.exec(first)?.[1]
    const second = await read(older ?? '')
    t.equal(second.match(/id="r-/g)?.length, 6)
    t.match(second, '51–56 / 56')
    t.match(await read('/rejected?q=mailbox+550'), '1–1 / 1')
    t.match(await read('/rejected?q=nobody'), 'No rejection matches')
    const list = JSON.parse(await read('/rejections?q=host5&limit=2')) as { total: number; rejections: unknown[] }
    t.equal(list.total, 7)
    t.match(list.rejections, [
      { to: 'defer@host55.example', code: 451, from: 'a@b.example' },
      { to: 'defer@host54.example' },
    ])
  },
)

t.test('answers with one message are compressed, and those that show several together are not', async (t) => {
  const { id } = await sandbox.store(
    t,
    mail('Subject: Long\r\nContent-Type: text/html', `<p>${'It works. '.repeat(500)}</p>\r\n`),
  )
  const headers = { 'accept-encoding': 'gzip, br' }
  const encoding = async (path: string) =>
    (await fetch(`${sandbox.url}${path}`, { headers })).headers.get('content-encoding')
  const style = /href="(\/-\/postrider\.[^"]+)"/.exec(await read('/'))?.[1] ?? ''
  t.equal(await encoding(style), 'br')
  for (const path of [
    `/messages/${id}`,
    `/messages/${id}/html`,
    `/view/${id}/html`,
    `/api/v1/message/${id}`,
    `/view/latest.html`,
  ])
    t.equal(await encoding(path), 'gzip', path)
  for (const path of [
    '/',
    '/?q=works',
    `/view/${id}`,
    '/messages',
    '/api/v1/messages',
    '/api/v1/search?query=works',
    '/rejected',
  ])
    t.equal(await encoding(path), null, path)
  t.equal(
    await encoding('/api/v1/message/latest?query=works'),
    null,
    'whose length would tell whether something was found',
  )
  const plain = await read(`/messages/${id}`)
  t.ok(plain.includes('It works. It works.'))
})

t.test('the list and the message scroll on their own, at three widths side by side', skipWithoutBrowser, async (t) => {
  const client = await sandbox.session(t)
  for (let number = 0; number < 30; number++)
    await client.submit('a@b.example', 'many@harbor.example', mail(`Subject: no ${number}`))
  const html =
    '<style>p { color: red } @media (width > 500px) { p { color: green } } @media (width > 1000px) { p { color: blue } }</style><p>a</p>'
  const { id } = await sandbox.store(t, mail('Subject: Wide\r\nContent-Type: text/html', html))
  const page = await (await openBrowser(t)).newPage()
  await page.setViewportSize({ width: 1440, height: 900 })
  for (const path of ['/', `/view/${id}`, `/view/${id}?part=widths`]) {
    await page.goto(`${sandbox.url}${path}`)
    t.equal(await page.evaluate('document.documentElement.scrollHeight'), 900, path)
    t.ok(
      await page.evaluate(
        "(() => { const e = document.getElementById('page'); return e.scrollHeight > e.clientHeight })()",
      ),
    )
    t.equal(await page.evaluate("document.querySelectorAll('h1').length"), 1)
  }
  const frames = page.locator('.shot iframe')
  t.equal(await frames.count(), 3)
  const widths: number[] = []
  for (const frame of await frames.elementHandles()) {
    const content = await frame.contentFrame()
    widths.push(Number(await content?.evaluate('innerWidth')))
    t.equal(await frame.getAttribute('sandbox'), '')
  }
  t.strictSame(widths, [1280, 768, 390])
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(`${sandbox.url}/`)
  t.ok(await page.isVisible('h1'), 'also where the list is all that is shown')
})
