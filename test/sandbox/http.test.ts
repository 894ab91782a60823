import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mail, startSandbox } from './sandbox.ts'

interface Shown {
  readonly subject: string
  readonly headers: readonly { name: string; value: string }[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly unknown[]
}

const sandbox = await startSandbox(t)
const ask = (path: string): Promise<Response> => fetch(`${sandbox.url}${path}`)
const show = async (id: string): Promise<Shown> => (await (await ask(`/messages/${id}`)).json()) as Shown

t.test('an empty inbox is an empty list, and a page that says so', async (t) => {
  t.strictSame(await sandbox.list(), [])
  t.match(await (await ask('/')).text(), 'No messages yet')
})

t.test('a message is listed by its envelope, shown in its parts, and kept octet for octet', async (t) => {
  const parts = [
    '--b\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n',
    '--a\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nSch=F6n\r\n',
    '--a\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n',
    `${Buffer.from('<p>Schön</p>').toString('base64')}\r\n--a--\r\n`,
    '--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="berth.pdf"\r\n\r\n%PDF\r\n--b--\r\n',
  ]
  const message = mail(
    'Subject: =?utf-8?q?Sch=C3=B6n?=\r\nX-Order: 1\r\nX-Order: 2\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b',
    `${parts.join('')}.a line with a dot\r\n`,
  )
  const entry = await sandbox.store(t, message, 'Piet@harbor.example')
  t.match(entry, { from: 'desk@ship.example', to: 'Piet@harbor.example', subject: 'Schön' })
  t.ok(Math.abs(Date.parse(entry.receivedAt) - Date.now()) < 60_000)
  const shown = await show(entry.id)
  t.match(shown, {
    ...entry,
    html: '<p>Schön</p>',
    attachments: [{ fileName: 'berth.pdf', contentType: 'application/pdf', size: 4 }],
  })
  t.match(shown.text, /^Schön/)
  t.strictSame(
    shown.headers.filter(({ name }) => name.toLowerCase() === 'x-order').map(({ value }) => value),
    ['1', '2'],
  )
  const raw = await ask(`/messages/${entry.id}/raw`)
  t.equal(raw.headers.get('content-type'), 'message/rfc822')
  t.ok(Buffer.from(await raw.arrayBuffer()).equals(Buffer.from(message)))
  t.ok(readFileSync(join(sandbox.folder, `${entry.id}.eml`)).equals(Buffer.from(message)))
})

t.test('the pages show markup in every field as text, and nothing in them may run', async (t) => {
  const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`
  const word = `=?utf-8?B?${Buffer.from(evil).toString('base64')}?=`
  const message = mail(
    `Subject: ${word}\r\nX-Evil: ${evil}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b`,
    `--b\r\nContent-Type: text/html\r\n\r\n${evil}</iframe>\r\n` +
      `--b\r\nContent-Type: image/png; name="${word}"\r\nContent-Disposition: attachment; filename="${word}"\r\n\r\nx\r\n--b--\r\n`,
  )
  const { id } = await sandbox.store(t, message, `'&lt@harbor.example`)
  t.equal((await show(id)).subject, evil, 'JSON has it as it is')
  for (const path of ['/', `/view/${id}`]) {
    const page = await ask(path)
    const html = await page.text()
    t.match(html, '&lt;script&gt;alert(1)')
    t.match(html, '&#39;&amp;lt@harbor.example')
    t.notMatch(html, /<script>|<img src=x|onerror=alert\(2\)>'?</i)
    t.equal(html.match(/<iframe/g)?.length ?? 0, path === '/' ? 0 : 1)
    t.match(page.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self';(?!.*(unsafe|\*))/)
    t.equal(page.headers.get('x-content-type-options'), 'nosniff')
  }
  const page = await (await ask(`/view/${id}`)).text()
  t.match(page, `sandbox="" src="/view/${id}/html"`, 'its own HTML is in a frame without scripts and origin')
  for (const path of ['/messages', `/messages/${id}`, `/messages/${id}/raw`, `/messages/${evil}`]) {
    const answer = await ask(path)
    t.notMatch(answer.headers.get('content-type'), /html/, path)
    t.match(answer.headers.get('content-security-policy'), /default-src 'none'/)
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  }
})

t.test("a message's HTML can be opened as its reader would: it may load and lead on, and not run", async (t) => {
  const html = '<p>Ready</p><img src="http://pixel.example/1.gif"><a href="https://shop.example/">Shop</a>'
  const { id } = await sandbox.store(t, mail('Subject: Open\r\nContent-Type: text/html', html))
  const page = await ask(`/messages/${id}/html`)
  t.equal(page.status, 200)
  t.match(page.headers.get('content-type'), /^text\/html/)
  t.match(await page.text(), html)
  const policy = page.headers.get('content-security-policy') ?? ''
  t.match(policy, /^default-src 'none'; img-src http: https: data:/)
  t.match(policy, /sandbox allow-popups allow-popups-to-escape-sandbox$/)
  t.notMatch(policy, /script|allow-same-origin|unsafe-eval/)
  t.equal(page.headers.get('x-content-type-options'), 'nosniff')
  t.match(await (await ask(`/view/${id}`)).text(), `href="/messages/${id}/html"`)
  const plain = await sandbox.store(t, mail('Subject: Plain'))
  t.equal((await ask(`/messages/${plain.id}/html`)).status, 404)
  t.notMatch(await (await ask(`/view/${plain.id}`)).text(), '/html"')
})

/** Ids that are no ids: files beside and above the inbox, other kinds of file in it, and what no file name may be. */
const HOSTILE = [
  '..',
  '../inbox',
  '../secret-key',
  '..%2fsecret-key',
  '..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e%2fsecret-key',
  '%00',
  '%2fetc%2fpasswd',
  '..%5csecret-key',
  '__proto__',
  'constructor',
  'x'.repeat(5000),
  '%ff',
  '%zz',
  '',
]

t.test('an invalid id gets 404 or 400 and reads no file', async (t) => {
  const { id } = await sandbox.store(t, mail('Subject: Here'))
  for (const hostile of [...HOSTILE, `${id}.eml`, `${id}.json`, `${id}%00`, id.toUpperCase(), ` ${id}`]) {
    for (const path of [`/messages/${hostile}`, `/messages/${hostile}/raw`, `/view/${hostile}`]) {
      const answer = await ask(path)
      const text = await answer.text()
      if (new URL(`${sandbox.url}${path}`).pathname.match(/^\/(messages\/?)?$/)) continue
      const expected = path.includes('x'.repeat(5000)) ? [404, 414] : [400, 404]
      t.ok(expected.includes(answer.status), `${path.slice(0, 60)}: ${answer.status}`)
      t.notMatch(text, /root:|desk@ship|ENOENT|node_modules/)
    }
  }
  t.equal((await ask(`/messages/${id}`)).status, 200)
})

t.test('DELETE /messages empties the inbox', async (t) => {
  const { id } = await sandbox.store(t, mail('Subject: Last'))
  t.ok((await fetch(`${sandbox.url}/messages`, { method: 'DELETE' })).ok)
  t.strictSame(await sandbox.list(), [])
  t.equal((await ask(`/messages/${id}/raw`)).status, 404)
})
