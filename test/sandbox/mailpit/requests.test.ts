import t from 'tap'
import { mail, startSandbox } from '../sandbox.ts'

const sandbox = await startSandbox(t)
const ask = (path: string, init: RequestInit = {}) => fetch(`${sandbox.url}${path}`, init)
const json = async (path: string) => (await (await ask(path)).json()) as Record<string, unknown>

t.test('pages of other sites change nothing, whatever type their bodies have', async (t) => {
  await sandbox.store(t, mail('Subject: Here'))
  const body = JSON.stringify({ From: { Email: 'a@b.example' }, To: [{ Email: 'c@d.example' }] })
  const foreign: Record<string, string>[] = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: sandbox.url },
  ]
  for (const headers of foreign) {
    for (const [method, path] of [
      ['POST', '/send'],
      ['POST', '/message/latest/release'],
      ['DELETE', '/messages'],
      ['PUT', '/tags'],
    ] as const) {
      const answer = await ask(`/api/v1${path}`, {
        method,
        headers: { ...headers, 'content-type': 'text/plain' },
        body,
      })
      t.equal(answer.status, 403, `${method} ${path}`)
      t.equal(answer.headers.get('access-control-allow-origin'), null)
    }
  }
  t.equal((await sandbox.list()).length, 1)
  t.equal((await ask('/api/v1/messages', { method: 'DELETE', headers: { origin: sandbox.url } })).status, 200)
})

t.test('a body that cannot be read changes nothing, and the error names the field', async (t) => {
  const { id } = await sandbox.store(t, mail('Subject: Stays'))
  const rows: readonly (readonly [method: string, path: string, body: string, error: RegExp])[] = [
    ['DELETE', '/messages', '{"IDs":', /JSON object/],
    ['DELETE', '/messages', '[]', /JSON object/],
    ['DELETE', '/messages', '{"IDs":"all"}', /^IDs: /],
    ['DELETE', '/messages', '{"IDs":[1]}', /^IDs: /],
    ['DELETE', '/search', '', /^query: /],
    ['PUT', '/messages', '{"Read":"yes"}', /^Read: /],
    ['PUT', '/messages', `{"IDs":["${id}"],"Search":"a"}`, /^IDs: /],
    ['PUT', '/tags', '{"Tags":["a"]}', /^IDs: /],
    ['PUT', '/tags/a', '{}', /^Name: /],
    ['POST', '/send', '{}', /^From: /],
    ['POST', '/send', '{"From":{"Email":"x"}}', /^From\.Email: /],
    ['POST', '/send', '{"From":{"Email":"a@b.example"},"Headers":{"a b":"c"}}', /^Headers: /],
    ['POST', '/send', '{"From":{"Email":"a@b.example"},"Attachments":[{"Filename":1}]}', /^Filename: /],
  ]
  for (const [method, path, body, error] of rows) {
    const answer = await ask(`/api/v1${path}`, { method, ...(body ? { body } : {}) })
    t.equal(answer.status, 400, `${method} ${path} ${body}`)
    t.match(answer.headers.get('content-type'), /^text\/plain/)
    t.match(await answer.text(), error)
  }
  t.match(await json('/api/v1/messages'), { total: 1, unread: 1, tags: [] })
  for (const query of ['start=x', 'limit=1e9']) t.equal((await ask(`/api/v1/messages?${query}`)).status, 400)
})

t.test('what a misspelt name would have chosen is refused, and nothing is deleted or marked', async (t) => {
  await sandbox.store(t, mail('Subject: Stays'))
  const { total, unread } = (await json('/api/v1/messages')) as { total: number; unread: number }
  const rows: readonly (readonly [method: string, path: string, body: string, error: RegExp])[] = [
    ['DELETE', '/api/v1/messages', '{"ID":["x"]}', /^ID: .* has IDs$/],
    ['DELETE', '/api/v1/messages?query=from:nobody', '', /^query: .* has none$/],
    ['DELETE', '/api/v1/search?query=%22%22', '', /^query: .* needs a word/],
    ['DELETE', '/api/v1/search?query=-form:desk', '', /^query: .* from:/],
    ['DELETE', '/api/v1/search?query=-from:desk&search=x', '', /^search: .* has query, tz$/],
    ['PUT', '/api/v1/messages', '{"Read":true,"Serch":"from:nobody"}', /^Serch: .* has IDs, Read, Search$/],
    ['PUT', '/api/v1/messages', '{"Read":true,"Search":"\\"\\""}', /^query: .* needs a word/],
    ['PUT', '/api/v1/messages?query=from:nobody', '{"Read":true}', /^query: .* has tz$/],
    ['DELETE', '/messages?to=nobody', '', /has no parameters/],
    ['POST', '/delete-all?q=%22', '', /^{"error":"q: .* needs a word"}/],
    ['POST', '/delete-all?q=from:nobody&q=x', '', /^{"error":"q: .* one search at a time"}/],
  ]
  for (const [method, path, body, error] of rows) {
    const answer = await ask(path, { method, headers: { origin: sandbox.url }, ...(body ? { body } : {}) })
    t.equal(answer.status, 400, `${method} ${path} ${body}`)
    t.match(await answer.text(), error)
  }
  t.match(await json('/api/v1/messages'), { total, unread })
  // As Mailpit, which reads names whatever their case.
  t.equal((await ask('/api/v1/messages', { method: 'DELETE', body: '{"ids":["none"]}' })).status, 200)
  t.match(await json('/api/v1/messages'), { total })
})

t.test('a page of another site cannot have links requested, nor a message marked as read', async (t) => {
  await sandbox.store(t, mail('Subject: Links', 'http://127.0.0.1/a\r\n'))
  const asked = (site: string) => ask('/api/v1/message/latest/link-check', { headers: { 'sec-fetch-site': site } })
  const answer = await asked('cross-site')
  t.match(await answer.text(), 'pages of other sites')
  t.match(await (await asked('same-origin')).text(), 'SANDBOX_REQUESTS')
  const { unread } = await json('/api/v1/messages')
  const fetched = await ask('/api/v1/message/latest', { headers: { 'sec-fetch-site': 'cross-site' } })
  t.equal(fetched.status, 403)
  t.match(await json('/api/v1/messages'), { unread })
})

t.test('a file of the machine is not read for a message that a program describes', async (t) => {
  const attachment = { Filename: 'a', Content: 'eA==', path: '/etc/passwd', href: 'file:///etc/passwd' }
  const body = JSON.stringify({
    From: { Email: 'a@b.example' },
    To: [{ Email: 'c@d.example' }],
    Text: 'x',
    Attachments: [attachment],
  })
  t.equal((await ask('/api/v1/send', { method: 'POST', body })).status, 200)
  // Also not in base64.
  t.notMatch(await (await ask('/api/v1/message/latest/raw')).text(), /root:|cm9vdD/)
})

t.test('a part that a browser would run is only saved', async (t) => {
  const parts = ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/javascript', 'image/png'].map(
    (type) =>
      `--b\r\nContent-Type: ${type}\r\nContent-Disposition: attachment; filename="a"\r\n\r\n<script>1</script>\r\n`,
  )
  await sandbox.store(
    t,
    mail('Subject: Parts\r\nContent-Type: multipart/mixed; boundary=b', `${parts.join('')}--b--\r\n`),
  )
  for (let number = 1; number <= parts.length; number++) {
    const { headers } = await ask(`/api/v1/message/latest/part/${number}`)
    const isImage = number === parts.length
    t.equal(headers.get('content-type'), isImage ? 'image/png' : 'application/octet-stream')
    t.match(headers.get('content-disposition'), isImage ? /^inline/ : /^attachment/)
    t.match(headers.get('content-security-policy'), /sandbox/)
  }
  for (const none of ['0', '99', 'x', '-1']) t.equal((await ask(`/api/v1/message/latest/part/${none}`)).status, 404)
})

t.test('the latest of those that a search finds is answered', async (t) => {
  await sandbox.store(t, mail('Subject: Wanted'))
  await sandbox.store(t, mail('Subject: Later'))
  t.match(await json('/api/v1/message/latest?query=subject:wanted'), { Subject: 'Wanted' })
  t.match(await json('/api/v1/message/latest'), { Subject: 'Later' })
  t.equal((await ask('/api/v1/message/latest?query=subject:none')).status, 404)
  t.equal((await ask('/api/v1/message/none')).status, 404)
  t.equal((await ask('/view/latest.html?query=subject:none')).status, 404)
})

t.test('tags and what was read are kept over a restart', async (t) => {
  const dataDir = (await import('../sandbox.ts')).newDataDir()
  const before = await startSandbox(t, dataDir)
  const { id } = await before.store(t, mail('Subject: Kept\r\nX-Tags: blue, green'))
  await fetch(`${before.url}/api/v1/message/${id}`)
  before.process.stop()
  await before.process.exited
  const after = await startSandbox(t, dataDir)
  const { messages } = (await (await fetch(`${after.url}/api/v1/messages`)).json()) as { messages: unknown[] }
  t.match(messages, [{ ID: id, Read: true, Tags: ['blue', 'green'], From: { Address: 'desk@ship.example' } }])
})

t.test('health checks of containers are answered', async (t) => {
  for (const path of ['/livez', '/readyz']) t.equal((await ask(path)).status, 200)
})
