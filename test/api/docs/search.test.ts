import t from 'tap'
import { processorTimeOf } from '../../helpers/pace.ts'
import { makeService } from '../../helpers/service.ts'

const service = await makeService(t)
const url = await service.openApi()

async function search(query: string) {
  const response = await fetch(`${url}/docs/search?${new URLSearchParams({ q: query })}`)
  t.equal(response.status, 200)
  const text = await response.text()
  return { text, paths: [...text.matchAll(/<a class="go" href="([^"]+)"/g)].map(([, path]) => path as string) }
}

t.test('search finds guides and operations by their words, whatever their case', async (t) => {
  const { paths, text } = await search('bounce')
  t.ok(paths.length > 5)
  t.match(text, '<mark>')
  t.ok((await search('DKIM')).paths.includes('/docs/guides/domains#dkim-keys'))
  t.same((await search('dkim')).paths, (await search('DKIM')).paths)
  t.ok((await search('quiet bounce')).paths.length < paths.length, 'every word must occur')
})

t.test('search finds operations by the names of their parameters, and by their own', async (t) => {
  t.ok((await search('personalizations')).paths.some((path) => path === '/docs/v2/sendEmail'))
  t.equal((await search('editTemplateVersion')).paths[0], '/docs/v3/editTemplateVersion')
  t.equal((await search('envelopeName')).paths[0]?.startsWith('/docs/'), true)
  t.ok((await search('PUBLIC_URL')).paths.includes('/docs/guides/settings'))
})

t.test('each result leads to a page that has its anchor', async (t) => {
  for (const path of (await search('template')).paths) {
    const [page, anchor] = path.split('#')
    const response = await fetch(`${url}${page}`)
    t.equal(response.status, 200, path)
    if (anchor) t.ok((await response.text()).includes(`id="${anchor}"`), path)
  }
})

t.test('a hostile query is shown as text, and costs no more than others', async (t) => {
  const script = await search('"><script>alert(1)</script>')
  t.notMatch(script.text, '<script>alert')
  t.match(script.text, '&lt;script&gt;alert')
  t.notMatch((await search('<mark>')).text, /<mark><mark>/)
  const queries = [
    'a '.repeat(50),
    'e'.repeat(5000),
    '\u0130'.repeat(100),
    'e a t o i n',
    '\u0000',
    '%',
    '.*+?[('.repeat(10),
  ]
  const took = await processorTimeOf(async () => {
    for (const query of queries) await search(query)
  })
  t.ok(took < 3000, 'seven searches take less than three seconds')
  for (const other of ['', '?q', '?q=a&q=b', '?q[]=a', '?x=1']) {
    t.equal((await fetch(`${url}/docs/search${other}`)).status, 200, other)
  }
})

t.test('no result says so and offers a way on', async (t) => {
  const { text, paths } = await search('zzzzzz')
  t.same(paths, [])
  t.match(text, 'No page contains all of these words')
})

t.test('a word with a typo finds what was meant, and says so', async (t) => {
  for (const [typed, meant] of [
    ['webhok', 'webhook'],
    ['supression', 'suppression'],
    ['idempotnecy', 'idempotency'],
  ] as const) {
    const page = await (await fetch(`${url}/docs/search?q=${typed}`)).text()
    t.match(page, new RegExp(`results for “${meant}”`), typed)
  }
  t.match(await (await fetch(`${url}/docs/search?q=xqzjvkwp`)).text(), 'No page contains')
})
