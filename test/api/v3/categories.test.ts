import t from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../../core/submission.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import type { CallAnswer } from '../call.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

interface Named {
  readonly type: string
  readonly name: string
  readonly metrics: Record<string, number>
}

const service = await makeService(t)
const url = await service.openApi()
const today = new Date().toISOString().slice(0, 10)
const get = (sender: Sender, path: string) =>
  ask(url, { method: 'GET', path: `/categories${path}`, key: sender.apiKey })

const namedIn = (json: CallAnswer['json']) => (json?.stats ?? []) as Named[]

/** Mail with these categories that came to something. */
async function send(sender: Sender, tags: string[], ...types: string[]): Promise<void> {
  const { messageId } = await acceptMessage(service, sender, { tags })
  await happen(service, sender.accountId, ...types.map((type) => ({ type, messageId, detail: { first: true } })))
}

async function makeMailed(...tags: string[]): Promise<Sender> {
  const sender = await service.makeSender()
  for (const tag of tags) await send(sender, [tag], 'sent')
  await countAll(service)
  return sender
}

t.test('P39: categories are listed by name, in pages and by prefix', async (t) => {
  proves(t, 'categories.page', 'operation.listCategories')
  const sender = await makeMailed('reminders', 'receipts', 'welcome', 'news', 'rent')
  const { status, text, headers } = await get(sender, '?limit=2&category=re')
  t.equal(status, 200)
  t.match(headers['content-type'], /^application\/json/)
  t.equal(text, '[{"category":"receipts"},{"category":"reminders"}]')
  t.same((await get(sender, '?limit=2&category=re&offset=2')).json, [{ category: 'rent' }])
  t.equal(((await get(sender, '')).json as unknown as unknown[]).length, 5)
  t.strictSame((await get(sender, '?category=none')).json, [])
  t.strictSame((await get(await service.makeSender(), '')).json, [])
  refusedV3(t, await get(sender, '?limit=0'), [400, /from 1/, 'limit'])
  refusedV3(t, await get(sender, '?offset=-1'), [400, /negative/, 'offset'])
})

t.test('fifty categories per page by default', async (t) => {
  proves(t, 'categories.page')
  const sender = await service.makeSender()
  await service.sql`insert into tags (account_id, name, created_at)
                    select ${sender.accountId}, 'c' || n, service_now() from generate_series(1, 120) n`
  const count = async (query: string) => ((await get(sender, query)).json as unknown as unknown[]).length
  t.strictSame([await count(''), await count('?offset=100'), await count('?limit=500')], [50, 20, 120])
})

t.test('sort_by has no effect, and an invalid value is rejected', async (t) => {
  proves(t, 'categories.sort_by')
  const sender = await makeMailed('b', 'a')
  t.same((await get(sender, '?sort_by=category')).json, [{ category: 'a' }, { category: 'b' }])
  t.same((await get(sender, '?sort_by=desc')).json, [{ category: 'a' }, { category: 'b' }])
  refusedV3(t, await get(sender, '?sort_by=colour'), [400, 'invalid sort value', 'sort_by'])
})

t.test('each requested category has a row for every period', async (t) => {
  proves(t, 'operation.getCategoryStats')
  const sender = await service.makeSender()
  await send(sender, ['receipts'], 'sent', 'opened')
  await send(sender, ['receipts', 'news'], 'sent')
  await countAll(service)
  const query = `?start_date=2026-01-01&end_date=${today}&aggregated_by=month`
  const { status, json } = await get(sender, `/stats${query}&categories=receipts&categories[]=news&categories=news`)
  t.equal(status, 200)
  const periods = json as unknown as { date: string; stats: Named[] }[]
  t.match(
    periods.at(-1)?.stats.map(({ type, name, metrics }) => [type, name, metrics.delivered, metrics.unique_opens]),
    [
      ['category', 'receipts', 2, 1],
      ['category', 'news', 1, 0],
    ],
  )
  for (const { stats } of periods) {
    t.strictSame(
      stats.map(({ name, metrics }) => [name, Object.keys(metrics).length]),
      [
        ['receipts', 16],
        ['news', 16],
      ],
    )
  }
  t.strictSame(Object.values(periods[0]?.stats[0]?.metrics ?? {}), Array(16).fill(0))
  t.equal(((await get(sender, `/stats${query}&categories=news&limit=1`)).json as unknown as unknown[]).length, 1)
})

t.test('a category that never was is not there, and neither is a list of none or too many', async (t) => {
  proves(t, 'operation.getCategoryStats')
  const [sender, other] = [await makeMailed('receipts'), await makeMailed('theirs')]
  t.equal((await get(other, `/stats?start_date=${today}&categories=theirs`)).status, 200)
  refusedV3(t, await get(sender, `/stats?start_date=${today}&categories=theirs`), [404, 'resource not found'])
  refusedV3(t, await get(sender, `/stats?start_date=${today}&categories=receipts&categories=no`), [404, /not found/])
  refusedV3(t, await get(sender, `/stats?start_date=${today}`), [400, /at most 10/, 'categories'])
  const many = Array.from({ length: 11 }, (_, at) => `categories=c${at}`).join('&')
  refusedV3(t, await get(sender, `/stats?start_date=${today}&${many}`), [400, /at most 10/, 'categories'])
  refusedV3(t, await get(sender, '/stats?categories=receipts'), [400, /start_date is required/, 'start_date'])
})

t.test('ten categories over many years are refused by day, and told by month', async (t) => {
  proves(t, 'operation.getCategoryStats')
  const names = Array.from({ length: 10 }, (_, at) => `c${at}`)
  const sender = await makeMailed(...names)
  const query = `?start_date=2021-12-01&end_date=2026-11-30&categories=${names.join('&categories=')}`
  refusedV3(t, await get(sender, `/stats${query}`), [
    400,
    /10000 counts, which allows 1000 days here \(got 1826\); use a shorter date range or fewer names, or aggregate by week or month$/,
    'end_date',
  ])
  const { status, json } = await get(sender, `/stats${query}&aggregated_by=month`)
  t.equal(status, 200)
  t.equal((json as unknown as unknown[]).length, 60)
})

t.test('sums list the categories with the highest values of the requested metric', async (t) => {
  proves(t, 'operation.getCategorySums')
  const sender = await service.makeSender()
  for (const [tag, delivered, opened] of [
    ['receipts', 3, 0],
    ['news', 2, 2],
    ['rent', 1, 1],
    ...['d', 'e', 'f'].map((name) => [name, 0, 0] as const),
  ] as const) {
    await send(sender, [tag], ...Array<string>(delivered).fill('sent'), ...Array<string>(opened).fill('opened'))
  }
  await countAll(service)
  const sums = async (query = '') => {
    const { status, json, text } = await get(sender, `/stats/sums?start_date=${today}${query}`)
    t.equal(status, 200, text)
    t.equal(json?.date, today)
    t.strictSame(Object.keys(json ?? {}), ['date', 'stats'])
    return namedIn(json).map(({ name }) => name)
  }
  t.strictSame(await sums(), ['receipts', 'news', 'rent', 'd', 'e'])
  t.strictSame(await sums('&sort_by_metric=opens&limit=2'), ['news', 'rent'])
  t.strictSame(await sums('&sort_by_metric=delivered&sort_by_direction=asc&offset=3'), ['rent', 'news', 'receipts'])
  const { json } = await get(sender, `/stats/sums?start_date=${today}&limit=1`)
  t.match(namedIn(json)[0], { name: 'receipts', type: 'category', metrics: { delivered: 3, processed: 1 } })
  refusedV3(t, await get(sender, `/stats/sums?start_date=${today}&sort_by_metric=fame`), [
    400,
    /one of blocks/,
    'sort_by_metric',
  ])
  refusedV3(t, await get(sender, `/stats/sums?start_date=${today}&sort_by_direction=up`), [
    400,
    'sort_by_direction must be asc or desc',
    'sort_by_direction',
  ])
})

t.test('what is counted together, past a thousand categories a day, is no category', async (t) => {
  const sender = await makeMailed('receipts')
  await service.sql`
    insert into roll_ups (account_id, subject, name, day, processed, sent, deferred, hard_bounced, soft_bounced, expired, dropped,
           invalid, opened, unique_opened, machine_opened, clicked, unique_clicked, machine_clicked, unsubscribed, complained)
    values (${sender.accountId}, 'other tag', '', ${today}, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`
  const { json } = await get(sender, `/stats/sums?start_date=${today}`)
  t.strictSame(
    namedIn(json).map(({ name }) => name),
    ['receipts'],
  )
})

t.test('@sendgrid/client gets categories, their statistics and sums', async (t) => {
  proves(t, 'operation.listCategories', 'operation.getCategoryStats', 'operation.getCategorySums')
  const sender = await makeMailed('receipts', 'news')
  const request = sendgridClient(url, sender.apiKey)
  const at = (path: string, qs: object) => request({ method: 'GET', url: `/v3/categories${path}`, qs })
  t.same(await at('', { limit: 1, offset: 1 }), [200, [{ category: 'receipts' }]])
  const [, periods] = await at('/stats', { start_date: today, categories: ['receipts', 'news'] })
  t.match(periods, [{ date: today, stats: [{ name: 'receipts' }, { name: 'news' }] }])
  const [, sums] = await at('/stats/sums', { start_date: today, sort_by_metric: 'delivered' })
  t.match(sums, { date: today, stats: [{ name: 'news', type: 'category' }, { name: 'receipts' }] })
})
