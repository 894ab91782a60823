import { execFile } from 'node:child_process'
import { Agent, get as httpGet } from 'node:http'
import { promisify } from 'node:util'
import { openDatabase } from '@postrider/core'
import t from 'tap'
import { openDashboard, PASSWORD, submit } from './dashboard.ts'

t.test('no form of another site changes anything', async (t) => {
  const { url, owner, service } = await openDashboard(t)
  const { cookie, accountId } = await owner()
  const host = new URL(url).host
  const body = () => new URLSearchParams({ name: 'stolen', scopes: 'all' })
  const from: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `https://${host}.evil.example` },
    { origin: `https://${host}` },
    {},
  ]
  for (const headers of from) {
    const response = await fetch(`${url}/app/${accountId}/keys`, {
      method: 'POST',
      headers: { cookie, ...headers },
      body: body(),
      redirect: 'manual',
    })
    t.equal(response.status, 403, JSON.stringify(headers))
  }
  const text = await fetch(`${url}/app/${accountId}/keys`, {
    method: 'POST',
    headers: { cookie, 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' },
    body: 'name=stolen',
    redirect: 'manual',
  })
  t.equal(text.status, 403)
  t.strictSame(await service.core.auth.listKeys(accountId), [])
  const own = await fetch(`${url}/app/${accountId}/keys`, {
    method: 'POST',
    headers: { cookie, origin: url },
    body: body(),
    redirect: 'manual',
  })
  t.equal(own.status, 200, 'a browser that sends only the Origin')
})

t.test('no form outside the session leads to another site', async (t) => {
  const { url } = await openDashboard(t)
  for (const to of [
    'https://evil.example/',
    '//evil.example',
    '/app//evil.example',
    '/app/\\evil',
    '/%2fevil.example',
  ]) {
    t.equal((await submit(url, '/app/preferences', { theme: 'dark', to })).headers.get('location'), '/app', to)
    const asked = await fetch(`${url}/app/login?to=${encodeURIComponent(to)}`)
    t.notMatch(await asked.text(), 'evil', to)
  }
})

t.test('a log-in by a form of another site is refused, by each of its ways', async (t) => {
  const { url, owner } = await openDashboard(t)
  await owner()
  const form = { email: `ada-${process.pid}@northwind.example`, password: PASSWORD, passkey: '{}', code: '1' }
  for (const path of ['/app/login', '/app/login/code', '/app/login/code/passkey', '/app/login/passkey']) {
    const headers: readonly Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' },
    ]
    for (const one of headers) {
      const refused = await submit(url, path, form, one)
      t.equal(refused.status, 403, path)
      t.strictSame(refused.headers.getSetCookie(), [], path)
    }
  }
})

t.test('a request for a new password takes the same time and has the same answer for an unknown address', async (t) => {
  const { service, url, owner, member } = await openDashboard(t)
  const { accountId } = await owner()
  const ask = async (email: string) => {
    const begin = performance.now()
    const shown = await (await submit(url, '/app/forgotten', { email })).text()
    return { ms: performance.now() - begin, shown: shown.replaceAll(email, '').replace(/data-now="\d+"/, '') }
  }
  await ask('first@unknown.example')
  const [known, unknown] = [[], []] as [number[], number[]]
  for (let round = 0; round < 7; round++) {
    const { email } = await member(accountId, 'viewer')
    await service.sql`update users set verified_at = now()`
    const [one, other] = [await ask(email), await ask(`member${round}@unknown.example`)]
    t.equal(one.shown, other.shown)
    known.push(one.ms)
    unknown.push(other.ms)
    await service.core.people.close()
  }
  // A hash takes some 100 ms, and a mail more than the answer itself. What others of the machine add to a time, the least of seven lacks.
  const [ofKnown, ofUnknown] = [Math.min(...known), Math.min(...unknown)]
  t.ok(Math.abs(ofKnown - ofUnknown) < Math.max(20, ofUnknown), `${ofKnown} ms known, ${ofUnknown} ms unknown`)
})

t.test('a page may not be framed, runs no script of its own text, and is not cached', async (t) => {
  const { owner } = await openDashboard(t)
  const { get, accountId } = await owner()
  const { headers } = await get(`/app/${accountId}`)
  const policy = headers.get('content-security-policy') ?? ''
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ]) {
    t.match(policy, part)
  }
  t.notMatch(policy, 'unsafe')
  t.equal(headers.get('x-frame-options'), 'DENY')
  t.equal(headers.get('cache-control'), 'no-store')
})

t.test('the length of a page that another site requested shows nothing of its text', async (t) => {
  const { url, owner } = await openDashboard(t)
  const { accountId, cookie } = await owner()
  const encodingOf = async (query: string, headers: Record<string, string> = {}) => {
    const asked = { cookie, 'accept-encoding': 'gzip', ...headers }
    const response = await fetch(`${url}/app/${accountId}/messages${query}`, { headers: asked })
    t.equal(response.status, 200)
    return response.headers.get('content-encoding')
  }
  t.equal(await encodingOf(''), 'gzip')
  t.equal(await encodingOf('', { 'sec-fetch-site': 'same-origin' }), 'gzip')
  t.equal(await encodingOf('', { 'sec-fetch-site': 'none' }), 'gzip')
  for (const site of ['cross-site', 'same-site']) t.equal(await encodingOf('', { 'sec-fetch-site': site }), null, site)
  t.equal(await encodingOf('?q=lena', { 'sec-fetch-site': 'same-origin' }), null, 'its own refresh')
})

t.test('an account of others, and a page that is not there, are not found', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, accountId } = await owner()
  const other = await service.core.accounts.create('other')
  for (const path of [
    `/app/${other.id}`,
    `/app/${other.id}/keys`,
    '/app/999999',
    '/app/0',
    '/app/x',
    `/app/${accountId}/nothing`,
  ]) {
    t.equal((await get(path)).status, 404, path)
  }
})

t.test('the files of pages are kept by browsers, and change their names with their contents', async (t) => {
  const { url, owner } = await openDashboard(t)
  const { get, accountId } = await owner()
  const page = await (await get(`/app/${accountId}`)).text()
  const files = [...new Set([...page.matchAll(/\/app\/-\/[\w.-]+/g)].map(([path]) => path))]
  t.ok(files.length >= 4, files.join(' '))
  let octets = 0
  for (const path of files) {
    const response = await fetch(`${url}${path}`, { headers: { 'accept-encoding': 'gzip' } })
    t.equal(response.status, 200, path)
    t.match(response.headers.get('cache-control'), 'immutable')
    octets += Number(response.headers.get('content-length'))
  }
  t.ok(octets < 35_000, `${octets} octets`)
  t.equal((await fetch(`${url}/app/-/postrider.css`)).status, 404)
})

t.test('a path that cannot be decoded has the dashboard’s own page', async (t) => {
  const { url } = await openDashboard(t)
  for (const path of ['/app/%ff', '/app/1/messages/%zz', '/APP/%']) {
    const response = await fetch(`${url}${path}`)
    t.equal(response.status, 404, path)
    t.match(response.headers.get('content-type'), 'text/html')
    t.match(response.headers.get('content-security-policy'), "default-src 'none'")
    t.match(await response.text(), '<h1>')
  }
  t.match((await fetch(`${url}/v2/%ff`)).headers.get('content-type'), 'application/json')
})

t.test('a copied command has a text with an apostrophe as one word', async (t) => {
  const { owner } = await openDashboard(t)
  const ada = await owner()
  const page = await (
    await ada.get(`/app/${ada.accountId}/messages?q=${encodeURIComponent("subject:it's; touch /tmp/x")}`)
  ).text()
  const line = /data-copy="(curl [^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'").replaceAll('&amp;', '&') as string
  t.match(line, 'it')
  const { stdout } = await promisify(execFile)('sh', ['-c', `curl() { printf '%s\n' "$@"; }; ${line}`])
  t.match(stdout.split('\n')[1], /^http.*it's/)
})

t.test('neither the stream of an open page nor its refreshes count as use of the session', async (t) => {
  const { service, url, owner } = await openDashboard(t)
  const { cookie, accountId, get } = await owner()
  const { sql } = service
  const seen = async () => {
    const [row] = await sql<{ ago: number }[]>`
      select extract(epoch from service_now() - seen_at)::float8 as ago from sessions`
    return row?.ago ?? 0
  }
  await sql`update sessions set seen_at = service_now() - interval '1 hour'`
  await service.core.people.sessions.endAll(0)
  const stream = new AbortController()
  const live = await fetch(`${url}/app/${accountId}/live`, { headers: { cookie }, signal: stream.signal })
  t.equal(live.status, 200)
  const page = `/app/${accountId}`
  t.equal((await fetch(`${url}${page}`, { headers: { cookie, 'x-page-refresh': '1' } })).status, 200)
  t.ok((await seen()) > 3000)
  stream.abort()
  t.equal((await get(page)).status, 200)
  t.ok((await seen()) < 60)
})

t.test('a session makes 1,200 requests per minute, a network 6,000, and then both have to wait', async (t) => {
  const { url, owner, member } = await openDashboard(t)
  const ada = await owner()
  const lee = await member(ada.accountId, 'viewer')
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  t.teardown(() => agent.destroy())
  const ask = (cookie: string) =>
    new Promise<{ status: number; after: string | undefined; type: string | undefined }>((resolve, reject) => {
      const got = httpGet(`${url}/app/-/x`, { agent, headers: { cookie } }, (response) => {
        const { 'retry-after': after, 'content-type': type } = response.headers
        response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, after, type }))
      })
      got.on('error', reject)
    })
  const many = async (count: number, cookie: string) => {
    const answers = await Promise.all(Array.from({ length: count }, () => ask(cookie)))
    return answers.filter(({ status }) => status === 429).length
  }
  t.equal(await many(1190, ada.cookie), 0)
  t.ok((await many(30, ada.cookie)) > 0)
  const refused = await ask(ada.cookie)
  t.match(refused, { status: 429, after: /^[1-9]\d?$/, type: /^text\/html/ })
  t.equal((await ask(lee.cookie)).status, 404, 'other sessions go on')
  t.ok((await many(4900, '')) > 0)
  t.equal((await ask(lee.cookie)).status, 429)
})

t.test('each page of an account has a key of its own', async (t) => {
  const { owner } = await openDashboard(t)
  const { get, accountId } = await owner()
  const keys = [...(await (await get(`/app/${accountId}`)).text()).matchAll(/data-key="(\w)"/g)].map(([, key]) => key)
  t.ok(keys.length > 10, keys.join(' '))
  t.equal(new Set(keys).size, keys.length, keys.join(' '))
})

t.test('while the database is lost, a page says so in words, with 503', async (t) => {
  const dashboard = await openDashboard(t)
  const { service } = dashboard
  const ada = await dashboard.owner()
  const name = new URL(service.env.DATABASE_URL as string).pathname.slice(1)
  const admin = openDatabase({ url: process.env.TEST_DATABASE_URL ?? '', name: 'test', connections: 1 })
  t.teardown(() => admin.end())
  await admin.unsafe(`alter database ${name} allow_connections false`)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  for (const path of [`/app/${ada.accountId}`, `/app/${ada.accountId}/keys`]) {
    const response = await ada.get(path)
    t.equal(response.status, 503, path)
    t.match(await response.text(), 'The database does not respond')
  }
  await admin.unsafe(`alter database ${name} allow_connections true`)
})
