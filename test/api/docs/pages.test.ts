import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { OPERATIONS, OPERATOR_OPERATIONS, V3_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'

const service = await makeService(t)
const url = await service.openApi()
const ask = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers })
const textOf = async (path: string) => (await ask(path)).text()

t.test('every operation of the three APIs has a page with its path, its parameters and six examples', async (t) => {
  const inOpenApi = new Set(OPERATIONS.map(({ name }) => name))
  const document = (await (await ask('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  for (const { operationId } of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    t.ok(inOpenApi.has(operationId.endsWith('ByPost') ? operationId.slice(0, -'ByPost'.length) : operationId))
  }
  const pages = [
    ...OPERATIONS.map(({ name, routes, input }) => ({
      at: `v2/${name}`,
      path: `/v2${routes[0]?.[0]}`,
      inputs: [input],
    })),
    ...V3_OPERATIONS.map(({ name, path, params, query, body }) => ({
      at: `v3/${name}`,
      path: `/v3${path}`,
      inputs: [params, query, body],
    })),
    ...OPERATOR_OPERATIONS.map(({ name, path, params, input }) => ({
      at: `operator/${name}`,
      path: `/operator/v1${path}`,
      inputs: [params, input],
    })),
  ]
  t.ok(pages.length > 200, `${pages.length} operations`)
  for (const { at, path, inputs } of pages) {
    const response = await ask(`/docs/${at}`)
    t.equal(response.status, 200, at)
    const page = await response.text()
    t.ok(page.includes(path), `${at} has its path`)
    const names = inputs.flatMap((input) => Object.keys((input as { properties?: object })?.properties ?? {}))
    t.strictSame(
      names.filter((name) => !page.includes(name)),
      [],
      `${at} has every parameter`,
    )
    const languages = ['curl', 'node', 'python', 'php', 'go', 'ruby'].filter((one) => page.includes(`class="l-${one}"`))
    t.equal(languages.length, 6, at)
    t.ok(page.includes(service.config.publicUrl), `${at} calls this installation`)
  }
})

t.test('every guide that docs/README.md lists for those who send and operate has a page', async (t) => {
  const index = readFileSync(new URL('../../../docs/README.md', import.meta.url), 'utf8')
  const listed = index.slice(index.indexOf('## For those who send'), index.indexOf('## For those who develop'))
  const files = [...listed.matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, file]) => file as string)
  t.ok(files.length > 35, `${files.length} guides`)
  const home = await textOf('/docs')
  for (const file of files) {
    const name = file === '../.env.example' ? 'settings' : file.replace('../', '').replace('.md', '').toLowerCase()
    t.equal((await ask(`/docs/guides/${name}`)).status, 200, name)
    t.ok(home.includes(`href="/docs/guides/${name}"`), `the first page leads to ${name}`)
  }
})

t.test('every link of every page leads somewhere, anchors too, and nothing is loaded from another host', async (t) => {
  const pages = new Map<string, string>()
  const waiting = ['/docs']
  const links: { from: string; path: string; anchor: string | undefined }[] = []
  while (waiting.length > 0) {
    const at = waiting.pop() as string
    if (pages.has(at)) continue
    const response = await ask(at)
    t.equal(response.status, 200, at)
    const text = await response.text()
    pages.set(at, text)
    for (const [, target] of text.matchAll(/\ssrc="([^"]*)"/g)) {
      t.ok(target?.startsWith('/'), `${at} loads ${target}`)
      if (target?.startsWith('/docs/images/')) t.equal((await ask(target)).status, 200, target)
    }
    for (const [, target = ''] of text.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
      if (target.startsWith('https://') || target === '/app' || target === '/openapi.json' || target === '/llms.txt')
        continue
      const [path, anchor] = target.split('#')
      links.push({ from: at, path: path || at, anchor })
      if (!pages.has(path || at)) waiting.push(path || at)
    }
  }
  t.ok(pages.size > 240, `${pages.size} pages`)
  const astray = links.filter(({ path, anchor }) => anchor && !pages.get(path)?.includes(`id="${anchor}"`))
  t.strictSame(astray, [])
  const outside = links.filter(({ path }) => path !== '/docs' && !path.startsWith('/docs/'))
  t.strictSame(outside, [])
})

t.test('every page is there as Markdown, too, and llms.txt lists all of them', async (t) => {
  const list = await ask('/llms.txt')
  t.match(list.headers.get('content-type'), 'text/plain')
  const paths = [...(await list.text()).matchAll(/\]\(http[^)]*?(\/docs\/[^)]+\.md)\)/g)].map(
    ([, path]) => path as string,
  )
  t.ok(paths.length > 240, `${paths.length} pages`)
  for (const path of paths) {
    const page = await ask(path)
    t.equal(page.status, 200, path)
    t.match(page.headers.get('content-type'), 'text/markdown', path)
    t.match(await page.text(), /^# /, path)
  }
  t.match(await textOf(`/docs/v2/sendEmail${'.md'}`), /`POST \/v2\/sendEmail`.*- `personalizations` \(.*required/s)
  t.equal((await ask(`/docs/v2/nothing${'.md'}`)).status, 404)
})

t.test('a reader who is logged in gets examples of their own domain, and no other reader does', async (t) => {
  const { people, domains } = service.core
  const { token } = await people.firstLink.create()
  const form = new URLSearchParams({
    token,
    name: 'Ada Lovelace',
    email: 'ada@northwind.example',
    password: 'a horse carries letters',
  })
  const entered = await fetch(`${url}/app/first`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: form,
  })
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] as string
  const asked = async (path: string) => ask(path, { cookie })
  t.match(await (await asked('/docs')).text(), 'desk@YOUR_DOMAIN')
  const session = await people.sessions.find(decodeURIComponent(cookie.split('=')[1] as string))
  const accountId = session?.accounts[0]?.id as number
  await service.giveKey('pier.example')
  await domains.add({ accountId, name: 'pier.example', state: 'active' })
  const start = await asked('/docs')
  t.match(start.headers.get('cache-control'), 'private')
  const text = await start.text()
  t.match(text, 'desk@pier.example')
  t.match(text, `action="/app/${accountId}/first-steps/test"`)
  t.match(await (await asked('/docs/v2/sendEmail')).text(), '@pier.example')
  for (const path of ['/docs', '/docs/v2/sendEmail']) t.notMatch(await textOf(path), 'pier.example', path)
})

t.test('no page of an operation cites a number that means nothing there', async (t) => {
  for (const { name } of V3_OPERATIONS) t.notMatch(await textOf(`/docs/v3/${name}`), />Section \d/, name)
  t.notMatch(await textOf('/docs/v2/sendEmail'), /<h\d[^>]*>(?:<a[^>]*>)?4\.\d/)
})

t.test('a page has at most 60 kB over the wire, all that it loads included', async (t) => {
  for (const path of [
    '/docs',
    '/docs/v2',
    '/docs/v3',
    '/docs/v2/sendEmail',
    '/docs/guides/contract-v3',
    '/docs/guides/v3-conformance',
  ]) {
    const response = await ask(path)
    t.ok(response.headers.get('content-encoding'), path)
    const text = await response.text()
    const loaded = [...text.matchAll(/\s(?:src|href)="(\/app\/-\/[^"#]+)/g)].map(([, target]) => target as string)
    let octets = 0
    for (const target of new Set([path, ...loaded])) octets += await octetsOf(target)
    t.ok(octets <= 60_000, `${path}: ${octets} octets`)
  }
})

t.test('the SMTP client of the first page trusts the certificate of the relay, if that is its own', async (t) => {
  t.match(await textOf('/docs'), /self-signed as long as TLS_CERT is not set.* tls: { ca: readFileSync\(/s)
  const folder = t.testdir({ 'certificate.pem': '', 'key.pem': '' })
  const certified = await makeService(t, { TLS_CERT: `${folder}/certificate.pem`, TLS_KEY: `${folder}/key.pem` })
  const text = await (await fetch(`${await certified.openApi()}/docs`)).text()
  t.match(text, 'createTransport({')
  t.notMatch(text, /readFileSync|self-signed/)
})

t.test('a page that has not changed is not sent again, and clients without compression get it plain', async (t) => {
  const first = await ask('/docs/guides/sending')
  const etag = first.headers.get('etag') as string
  t.equal((await ask('/docs/guides/sending', { 'if-none-match': etag })).status, 304)
  t.equal((await ask('/docs/guides/sending', { 'if-none-match': '"other"' })).status, 200)
  const plain = await bodyOf('/docs/guides/sending', 'identity')
  t.match(plain.toString(), '<h1')
  t.same(gunzipSync(await bodyOf('/docs/guides/sending', 'gzip')), plain)
})

t.test('HTML in a guide is text, and the policy allows no inline script or style', async (t) => {
  const response = await ask('/docs/guides/sending')
  const page = await response.text()
  t.match(page, '&lt;p&gt;Dear [%NAME%]')
  t.notMatch(page, /<script>|\sstyle=|\son\w+=/)
  const policy = response.headers.get('content-security-policy') as string
  t.match(policy, "default-src 'none'")
  t.notMatch(policy, 'unsafe-inline')
})

t.test('guides call this installation where they call the usual port', async (t) => {
  const page = await textOf('/docs/guides/sending')
  t.ok(page.includes(`${service.config.publicUrl}/v2/sendEmail`))
  t.notMatch(page, 'http://127.0.0.1:8080')
})

t.test('an address without a page is 404 and shows nothing of the address', async (t) => {
  for (const path of [
    '/docs/nothing',
    '/docs/guides/..%2F..%2Fpackage.json',
    '/docs/images/..%2F..%2Fpackage.json',
    '/docs/v2/<b>',
    `/docs/${'a'.repeat(10_000)}`,
  ]) {
    const response = await ask(path)
    t.equal(response.status, 404, path.slice(0, 50))
    const text = await response.text()
    t.match(text, 'Page not found')
    t.notMatch(text, /package\.json|<b>|aaaaaaa/)
  }
  t.equal((await ask('/docs/')).status, 200)
})

/** As the server sends it: fetch would decompress it. */
function bodyOf(path: string, encoding: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { headers: { 'accept-encoding': encoding } }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve(Buffer.concat(chunks))
    })
    request.on('error', reject)
    request.end()
  })
}

const octetsOf = async (path: string) => (await bodyOf(path, 'br')).length
