import { COUNTED } from '@postrider/core'
import t from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../../core/submission.ts'
import { makeService } from '../../helpers/service.ts'
import { ask } from './ask.ts'
import { proves } from './conformance/proves.ts'

/** Lists that are read by offset say in Link where their pages are (contract 1.7). */
const service = await makeService(t)
const base = await service.openApi()
const { core, config } = service
const sender = await service.makeSender()
const { accountId, apiKey: key } = sender
const emails = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.org`)
const { id: group } = await core.groups.create(accountId, { name: 'News', description: '', isDefault: false })
for (const reason of ['hardbounce', 'unsubscribe'] as const) {
  const named = emails.map((email) => (reason === 'hardbounce' ? email : `u.${email}`))
  await core.suppressions.addAll({ accountId, emails: named, reason })
}
await core.suppressions.addAll({ accountId, emails, group, reason: 'unsubscribe' })
for (const category of ['ra', 'rb', 'rc', 'rd', 're']) {
  const { messageId } = await acceptMessage(service, sender, { tags: [category] })
  await happen(service, accountId, { type: 'sent', messageId, detail: {} })
}
await countAll(service)

/** Each page by its rel: its query, and its number. */
async function pagesOf(path: string): Promise<{ length: number; links: Record<string, string> }> {
  const { json, headers, text, status } = await ask(base, { method: 'GET', path, key })
  if (status !== 200) throw new Error(text)
  const links = String(headers.link ?? '').matchAll(/<([^>]*)>; rel="(\w+)"; title="(\d+)"(?:, |$)/g)
  return {
    length: (json as unknown as unknown[]).length,
    links: Object.fromEntries(
      [...links].map(([, url = '', rel, title]) => {
        if (!url.startsWith(`${config.publicUrl}/v3${path.split('?')[0]}?`)) throw new Error(`leads elsewhere: ${url}`)
        return [rel, `${title}: ${url.slice(url.indexOf('?') + 1)}`]
      }),
    ),
  }
}

t.test('every list with an offset has a Link header with absolute URLs of its pages', async (t) => {
  proves(t, 'link')
  for (const list of [
    '/suppression/bounces',
    '/suppression/unsubscribes',
    `/asm/groups/${group}/suppressions`,
    '/asm/suppressions',
    '/categories',
    '/stats?start_date=2026-01-01&end_date=2026-01-05',
  ]) {
    const [path = '', query = ''] = list.split('?')
    const own = query === '' ? '' : `${query}&`
    const page = (limit: number, offset: number) => `${own}limit=${limit}&offset=${offset}`
    t.strictSame(
      await pagesOf(`${path}?${page(2, 2)}`),
      {
        length: 2,
        links: {
          first: `1: ${page(2, 0)}`,
          prev: `1: ${page(2, 0)}`,
          next: `3: ${page(2, 4)}`,
          last: `3: ${page(2, 4)}`,
        },
      },
      list,
    )
    t.strictSame((await pagesOf(`${path}?${page(2, 4)}`)).links, {
      first: `1: ${page(2, 0)}`,
      prev: `2: ${page(2, 2)}`,
      last: `3: ${page(2, 4)}`,
    })
    t.strictSame((await pagesOf(`${path}?${page(5, 0)}`)).links, {
      first: `1: ${page(5, 0)}`,
      last: `1: ${page(5, 0)}`,
    })
    t.match((await pagesOf(`${path}?${page(2, 100)}`)).links, { prev: `50: ${page(2, 98)}`, last: `3: ${page(2, 4)}` })
  }
})

t.test(
  'a link keeps the rest of the query, whatever it contains, and is left out where it would be long',
  async (t) => {
    const { links } = await pagesOf('/suppression/bounces?email=%0d%0aX-A:%20b%3e&limit=1&start_time=5')
    t.equal(links.first, '1: email=%0D%0AX-A%3A+b%3E&limit=1&start_time=5&offset=0')
    t.strictSame((await pagesOf(`/suppression/bounces?x=${'%3e'.repeat(1000)}`)).links, {})
    t.strictSame((await pagesOf('/suppression/bounces?limit=0')).links, {}, 'there is no such page')
    t.strictSame((await pagesOf('/suppression/blocks')).links, {
      first: '1: limit=500&offset=0',
      last: '1: limit=500&offset=0',
    })
    t.strictSame((await pagesOf('/stats?start_date=2026-01-01&end_date=2026-01-05')).links, {}, 'all are told at once')
  },
)

t.test('a list that goes on beyond what is counted has a next page, and no last one', async (t) => {
  const own = await service.makeSender()
  await service.sql`
    insert into suppressions (account_id, scope, value, reason)
    select ${own.accountId}::int, 'address', 'r' || n || '@example.org', 'hardbounce' from generate_series(1, ${COUNTED + 1}::int) as n`
  const path = `/suppression/bounces?limit=500&offset=${COUNTED - 500}`
  const { headers } = await ask(base, { method: 'GET', path, key: own.apiKey })
  t.match(headers.link, `offset=${COUNTED}>; rel="next"`)
  t.notMatch(headers.link, /rel="last"/)
})
