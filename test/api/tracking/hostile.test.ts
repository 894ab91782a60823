import { createSecrets, makeTrackingToken } from '@postrider/core'
import t from 'tap'
import { call } from '../call.ts'
import { sayAndWait } from '../raw.ts'
import { makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const { base, service, ask, deliver, link, pixel, leave, seen } = readers
const SHOP = 'https://shop.example/'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The same number for the same seed, so that a failure comes again. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function altered(token: string, count: number): string[] {
  const random = randomOf(7)
  const found = new Set<string>()
  while (found.size < count) {
    const at = random(token.length)
    const char = ALPHABET[random(64)] as string
    const other = [
      token.slice(0, at) + char + token.slice(at + 1),
      token.slice(0, at) + token.slice(at + 1),
      token.slice(0, at) + char + token.slice(at),
      token.slice(0, at),
      token.slice(at),
      token.toLowerCase(),
      token.slice(0, at) + token.slice(at).toUpperCase(),
    ][random(7)] as string
    // What follows a token does not alter it.
    if (!other.startsWith(token) && other !== '') found.add(other)
  }
  return [...found]
}

t.test('two hundred altered tokens of each kind lead nowhere, and nothing of them comes back', async (t) => {
  const message = await deliver()
  const broken = (await ask('/t/u/AQ')).text
  t.match(broken, 'This link is incomplete')
  for (const path of [link(message, SHOP), pixel(message), leave(message)]) {
    const token = path.slice('/t/o/'.length)
    const expected = path.startsWith('/t/u/') ? broken : 'Not found\n'
    for (const forged of altered(token, 200)) {
      const answer = await ask(path.slice(0, 5) + forged, {
        method: path.startsWith('/t/u/') ? 'POST' : 'GET',
        ...(path.startsWith('/t/u/') ? { body: 'List-Unsubscribe=One-Click' } : {}),
      })
      if (answer.status !== 404 || answer.text !== expected || answer.headers.location)
        t.fail(`${forged}: ${answer.text}`)
    }
  }
  t.strictSame(await seen(message), [])
  t.equal((await service.sql`select 1 from suppressions`).length, 0)
})

t.test('a token of another SECRET_KEY is a forged one', async (t) => {
  const message = await deliver()
  const others = createSecrets('the key of quite another installation')
  const target = {
    accountId: readers.sender.accountId,
    messageId: message,
    recipientNo: 0,
    group: 0,
    link: 0,
    url: SHOP,
  }
  for (const [kind, letter] of [
    ['open', 'o'],
    ['click', 'c'],
    ['unsubscribe', 'u'],
  ] as const) {
    t.equal((await ask(`/t/${letter}/${makeTrackingToken(others, { ...target, kind })}`)).status, 404)
  }
})

t.test("nowhere does a URL of the asker's become a place to go", async (t) => {
  const message = await deliver()
  const path = link(message, SHOP)
  const evil = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '%0d%0aLocation:%20https://evil.example/',
  ]
  for (const url of evil) {
    for (const asked of [
      `/t/c/${encodeURIComponent(url)}`,
      `/t/c/${url}`,
      `/t/c/?url=${url}`,
      `/t/c?to=${url}`,
      `/t/o/${encodeURIComponent(url)}`,
      `/t/u/${encodeURIComponent(url)}`,
      `/t/${encodeURIComponent(url)}`,
    ]) {
      const answer = await ask(asked)
      t.equal(answer.status, 404, asked)
      t.equal(answer.headers.location, undefined)
      t.notMatch(answer.text, /evil|alert/)
    }
    const followed = await ask(`${path}?url=${url}&to=${url}`, {
      headers: {
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        referer: 'https://evil.example/',
      },
    })
    t.equal(followed.headers.location, SHOP)
    t.notMatch(JSON.stringify(followed.headers), /evil/)
  }
})

t.test('an invalid path, and one without a token, is a plain 404', async (t) => {
  for (const path of [
    '/t/',
    '/t/o',
    '/t/o/',
    '/t/c/',
    '/t/u',
    '/t/x',
    '/t/o/.gif',
    '/t/o/.',
    '/t/c/a/b',
    '/t/o/%00',
    '/t/o/<script>alert(1)</script>',
    `/t/o/${'A'.repeat(12_000)}`,
    '/t/c/AQ',
  ]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(path, { method })
      t.equal(answer.status, 404, `${method} ${path.slice(0, 40)}`)
      t.match(answer.headers['content-type'], /^text\/plain/)
      t.equal(answer.text, method === 'HEAD' ? '' : 'Not found\n')
      t.equal(answer.headers['x-content-type-options'], 'nosniff')
    }
  }
  const odd = await ask('/t/o/%zz')
  t.equal(odd.status, 404)
  t.notMatch(odd.text, 'zz')
})

t.test('any other method is 405, and says which there are', async (t) => {
  const message = await deliver()
  for (const [path, allow] of [
    [pixel(message), 'GET, HEAD'],
    [link(message, SHOP), 'GET, HEAD'],
    [leave(message), 'GET, HEAD, POST'],
  ] as const) {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      if (allow.includes(method)) continue
      const answer = await ask(path, { method, body: method === 'TRACE' ? undefined : 'x=y' } as object)
      t.equal(answer.status, 405, `${method} ${path.slice(0, 5)}`)
      t.equal(answer.headers.allow, allow)
      t.equal(answer.headers.location, undefined)
    }
  }
  t.strictSame(await seen(message), [])
})

t.test('no answer sets a cookie, is kept, or may be sniffed or framed', async (t) => {
  const message = await deliver()
  for (const [path, method, body] of [
    [pixel(message), 'GET'],
    [link(message, SHOP), 'GET'],
    [leave(message), 'GET'],
    [leave(message), 'POST', 'List-Unsubscribe=One-Click'],
    [leave(message), 'POST', 'no'],
    ['/t/o/none', 'GET'],
    [pixel(message), 'DELETE'],
  ] as const) {
    const { headers } = await ask(path, { method, headers: { cookie: 'session=1' }, ...(body ? { body } : {}) })
    t.equal(headers['set-cookie'], undefined)
    t.match(headers['cache-control'], /no-store/)
    t.equal(headers['x-content-type-options'], 'nosniff')
    t.equal(headers['referrer-policy'], 'no-referrer')
    t.match(headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/)
    t.equal(headers['access-control-allow-origin'], undefined)
  }
})

t.test('a token reveals nothing: it contains neither address nor URL, and two links look alike', async (t) => {
  const message = await deliver()
  const token = link(message, SHOP).slice(5)
  const octets = Buffer.from(token, 'base64url').toString('latin1')
  t.notMatch(octets, /shop|harbor|lena/)
  t.notMatch(Buffer.from(token, 'base64url').toString('hex'), message)
  t.equal(link(message, SHOP), link(message, SHOP), 'the same at every attempt')
})

t.test('a body that does not end, and one beyond its bound, delay no others', async (t) => {
  const message = await deliver()
  const head = `POST ${leave(message)} HTTP/1.1\r\nhost: a.example\r\ncontent-type: application/x-www-form-urlencoded\r\n`
  const large = await sayAndWait(
    t,
    base,
    `${head}connection: close\r\ncontent-length: 100000\r\n\r\n${'a'.repeat(9000)}`,
  )
  t.strictSame(large.statuses, [413])
  const chunked = `${(9000).toString(16)}\r\n${'a'.repeat(9000)}\r\n`
  const endless = await sayAndWait(t, base, `${head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunked}`)
  t.strictSame(endless.statuses, [413])
  t.equal((await ask(pixel(message))).status, 200)
})

t.test('a flood of readers leaves the API its database', async (t) => {
  const message = await deliver()
  let flooding = true
  const flood = Array.from({ length: 60 }, async (_, at) => {
    for (let path = 0; flooding; path++) {
      const paths = [pixel(message), link(message, SHOP), leave(message)]
      await ask(paths[(at + path) % 3] as string).catch(() => {})
    }
  })
  const took: number[] = []
  for (let at = 0; at < 20; at++) {
    const began = performance.now()
    const answer = await call(base, {
      method: 'GET',
      path: '/v2/suppression?limit=1',
      headers: { api_key: readers.sender.apiKey },
    })
    t.equal(answer.status, 200)
    took.push(performance.now() - began)
  }
  flooding = false
  await Promise.all(flood)
  took.sort((a, b) => a - b)
  t.ok((took[10] ?? 0) < 1500, `${Math.round(took[10] ?? 0)} ms`)
})
