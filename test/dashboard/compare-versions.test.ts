import t from 'tap'
import { openDashboard, type TestDashboard } from './dashboard.ts'

/** A template with two versions; returns the path of their comparison, without its query, and their ids. */
async function twoVersions({ service }: TestDashboard, accountId: number, texts: readonly [string, string]) {
  const by = { keyId: null, address: null }
  const { editableTemplates } = service.core
  const { id } = await editableTemplates.create({ accountId, name: 'order', generation: 'dynamic', by })
  const [from, to] = await Promise.all([
    editableTemplates.addVersion({ accountId, id, by }, { name: 'one', subject: 'Hello', html: texts[0] }),
    editableTemplates.addVersion({ accountId, id, by }, { name: 'two', subject: 'Hello', html: texts[1] }),
  ])
  return { path: `templates/${id}/compare`, from: from.id, to: to.id }
}

t.test('two versions are compared line by line, and hostile content is shown as it is', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const head = Array.from({ length: 20 }, (_, n) => `<p>line ${n}</p>`).join('\n')
  const texts = [`${head}\n<b>old</b>\nend`, `${head}\n<script>alert(1)</script>\u202enew\nend`] as const
  const { from, path, to } = await twoVersions(dashboard, ada.accountId, texts)
  const page = await (await ada.get(`/app/${ada.accountId}/${path}?from=${from}&to=${to}`)).text()
  t.match(page, '<del>− <bdi>&lt;b&gt;old&lt;/b&gt;</bdi></del>')
  t.match(page, '<ins>+ <bdi>&lt;script&gt;alert(1)&lt;/script&gt;')
  t.match(page, 'U+202E')
  t.notMatch(page, '<script>alert')
  t.match(page, 'line 19')
  t.notMatch(page, 'line 3&', 'equal lines far from a change are left out')
  t.notMatch(page, '<h2>Subject</h2>')
})

t.test('versions that are equal are said to be, and versions that do not exist are not found', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const { from, path, to } = await twoVersions(dashboard, ada.accountId, ['<p>a</p>', '<p>a</p>'])
  const at = `/app/${ada.accountId}/${path}`
  t.match(await (await ada.get(`${at}?from=${from}&to=${to}`)).text(), 'The texts are equal')
  t.equal((await ada.get(`${at}?from=${from}&to=nothing`)).status, 404)
  t.equal((await ada.get(at)).status, 404)
  const other = await dashboard.service.core.accounts.create('other')
  const stranger = await dashboard.member(other.id, 'owner')
  t.equal((await stranger.get(`/app/${other.id}/${path}?from=${from}&to=${to}`)).status, 404)
})

t.test('texts with many different lines are compared within bounds', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const many = (sign: string) => Array.from({ length: 15_000 }, (_, n) => `${sign}${n}`).join('\n')
  const { from, path, to } = await twoVersions(dashboard, ada.accountId, [many('a'), many('b')])
  const response = await ada.get(`/app/${ada.accountId}/${path}?from=${from}&to=${to}`)
  const page = await response.text()
  t.match(page, 'not every difference is shown')
  t.ok(page.length < 1_000_000, `${page.length}`)
})

t.test('invisible signs in any number do not make a page large', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const signs = Array.from({ length: 900 }, () => '\u202e'.repeat(900)).join('\n')
  const { from, path, to } = await twoVersions(dashboard, ada.accountId, ['<p>a</p>', signs])
  const before = process.cpuUsage().user
  const response = await ada.get(`/app/${ada.accountId}/${path}?from=${from}&to=${to}`)
  t.ok((await response.text()).length < 2_500_000)
  t.comment(`${(process.cpuUsage().user - before) / 1000} ms`)
})
