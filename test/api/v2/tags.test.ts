import t from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../../core/submission.ts'
import { stopClock } from '../../helpers/database.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { call } from '../call.ts'

interface Row {
  readonly tag_name: string
  readonly other?: true
  readonly metrics: Record<string, number>
}

t.test('tags', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()
  const now = await stopClock(service.sql, { seconds: 600 })
  const today = now.toISOString().slice(0, 10)
  const ask = async ({ apiKey }: Sender, path: string) => {
    const { status, json, text } = await call(url, { method: 'GET', path, headers: { api_key: apiKey } })
    if (status !== 200) throw new Error(text)
    return json as Record<string, unknown>
  }
  const stats = async (sender: Sender, query: string) =>
    (await ask(sender, `/v2/tags/stats?${query}`)).data as { date: string; stats: Row[] }[]
  const sums = async (sender: Sender, query: string) =>
    (await ask(sender, `/v2/tags/stats/sums?${query}`)) as {
      data: { startdate: string; enddate: string; stats: Row[] }
      totalRecords: number
      asOf: { event: number }
    }
  /** Mail with these tags that came to something. */
  const send = async (sender: Sender, tags: string[], ...types: string[]) => {
    const { messageId } = await acceptMessage(service, sender, { tags })
    await happen(service, sender.accountId, ...types.map((type) => ({ type, messageId, detail: { first: true } })))
  }

  await t.test('a tag has a row for each day (E28)', async (t) => {
    const sender = await service.makeSender()
    await send(sender, ['berth'], 'sent', 'opened', 'clicked')
    await send(sender, ['berth', 'confirm'], 'sent', 'opened')
    await send(sender, ['berth', 'berth'], 'sent')
    await countAll(service)
    const json = await ask(sender, `/v2/tags/stats?startdate=${today}&tag=berth`)
    const { asOf, totalRecords, ...rest } = json
    t.strictSame(rest, {
      data: [
        {
          date: today,
          stats: [
            {
              tag_name: 'berth',
              metrics: {
                sent: 3,
                bounce: 0,
                soft_bounce: 0,
                hard_bounce: 0,
                open: 2,
                unique_open: 2,
                click: 1,
                unsub: 0,
                spam: 0,
                dropped: 0,
                invalid: 0,
              },
            },
          ],
        },
      ],
      message: 'Success',
      error_info: null,
    })
    t.match(asOf, { event: await service.core.events.lastNumber(sender.accountId) })
    t.equal(totalRecords, 1)
    const [quiet] = await stats(sender, 'startdate=2026-01-05&enddate=2026-01-05&tag=BERTH')
    t.match(quiet, { date: '2026-01-05', stats: [{ tag_name: 'BERTH', metrics: { sent: 0 } }] })
    const [each] = await stats(sender, `startdate=${today}&aggregated_by=week&metrics=all`)
    t.strictSame(
      each?.stats.map(({ tag_name, metrics }) => [tag_name, metrics.processed]),
      [
        ['berth', 3],
        ['confirm', 1],
      ],
    )
  })

  await t.test('the list tells each tag that was sent with, by name (E29)', async (t) => {
    const sender = await service.makeSender()
    t.strictSame(await ask(sender, '/v2/tags'), {
      data: [],
      message: 'Success',
      error_info: null,
      totalRecords: 0,
    })
    await send(sender, ['confirm', 'berth'])
    await send(sender, ['été', 'berth-2'])
    await countAll(service)
    const list = async (query: string) => {
      const { data, totalRecords } = await ask(sender, `/v2/tags?${query}`)
      return [(data as Row[]).map(({ tag_name }) => tag_name), totalRecords]
    }
    const createdTime = now.toISOString().slice(0, 19).replace('T', ' ')
    t.strictSame((await ask(sender, '/v2/tags?limit=1')).data, [{ tag_name: 'berth', createdTime }])
    t.strictSame(await list(''), [['berth', 'berth-2', 'confirm', 'été'], 4])
    t.strictSame(await list('tag=berth'), [['berth', 'berth-2'], 2])
    t.strictSame(await list('tag=%C3%A9&limit=&offset='), [['été'], 1])
    t.strictSame(await list('tag=%25'), [[], 0], 'a prefix is no pattern')
    t.strictSame(await list('offset=1&limit=2'), [['berth-2', 'confirm'], 4])
    t.strictSame(await list('offset=9'), [[], 4])
  })

  await t.test('sums are over the whole span, most mail first (E30)', async (t) => {
    const sender = await service.makeSender()
    await send(sender, ['berth'], 'sent')
    await send(sender, ['berth', 'confirm'], 'sent')
    await send(sender, ['alone'])
    await countAll(service)
    const { data, totalRecords, asOf, ...rest } = await sums(sender, 'startdate=2026-01-01')
    t.strictSame(rest, { message: 'Success', error_info: null })
    t.strictSame([data.startdate, data.enddate, totalRecords], ['2026-01-01', today, 3])
    t.equal(asOf.event, await service.core.events.lastNumber(sender.accountId))
    t.strictSame(
      data.stats.map(({ tag_name, metrics }) => [tag_name, metrics.sent]),
      [
        ['berth', 2],
        ['confirm', 1],
        ['alone', 0],
      ],
    )
    t.equal(Object.keys(data.stats[0]?.metrics ?? {}).length, 11, 'metrics are complete')
    const second = await sums(sender, 'startdate=2026-01-01&limit=1&offset=2')
    t.strictSame([second.data.stats.map(({ tag_name }) => tag_name), second.totalRecords], [['confirm'], 3])
    t.equal((await sums(sender, 'startdate=2026-01-01&offset=10')).totalRecords, 3)
    const one = await sums(sender, 'startdate=2026-01-01&tag=nothing')
    t.match(one, { data: { stats: [{ tag_name: 'nothing', metrics: { sent: 0 } }] }, totalRecords: 1 })
  })

  await t.test('beyond a thousand tags a day the rest is counted together, and totals stay exact', async (t) => {
    const sender = await service.makeSender()
    const tags = (from: number) => Array.from({ length: 50 }, (_, at) => `tag-${String(from + at).padStart(4, '0')}`)
    for (let from = 0; from < 1100; from += 50) {
      await send(sender, tags(from), 'sent')
      if (from % 400 === 0) await countAll(service)
    }
    await send(sender, ['tag-0007', 'tag-1099', 'tag-2000'], 'sent')
    await countAll(service)
    const { data, totalRecords } = await sums(sender, `startdate=${today}&limit=1`)
    t.match(data.stats, [{ tag_name: 'tag-0007', metrics: { sent: 2 } }])
    t.equal(totalRecords, 1001)
    t.match((await sums(sender, `startdate=${today}&offset=1001`)).data.stats, [
      { tag_name: 'other', other: true, metrics: { sent: 102 } },
    ])
    t.match(await ask(sender, '/v2/tags?tag=tag-1'), { data: [], totalRecords: 0 }, 'nor are they listed')
    const [day] = await stats(sender, `startdate=${today}`)
    t.equal(day?.stats.length, 101, 'a hundred are told apart')
    t.equal(
      day?.stats.reduce((sum, { metrics }) => sum + (metrics.sent ?? 0), 0),
      1103,
    )
    const total = (await ask(sender, `/v2/stats?startdate=${today}`)).data as { stats: Row[] }[]
    t.equal(total[0]?.stats[0]?.metrics.sent, 23)
  })

  await t.test('a year of three hundred tags a day is answered', async (t) => {
    const sender = await service.makeSender()
    await service.sql`
      insert into roll_ups (account_id, subject, name, day, place, processed, sent, deferred, hard_bounced, soft_bounced, expired,
             dropped, invalid, opened, unique_opened, machine_opened, clicked, unique_clicked, machine_clicked, unsubscribed, complained)
      select ${sender.accountId}, 'tag', case k when 0 then 'last' else 'tag ' || k end, date '2025-01-01' + n, k + 1, 0,
             case k when 0 then 1 else 0 end, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        from generate_series(0, 199) n, generate_series(0, 299) k`
    const year = 'startdate=2025-01-01&enddate=2025-12-31'
    t.match(await sums(sender, year), {
      totalRecords: 300,
      data: { stats: [{ tag_name: 'last', metrics: { sent: 200 } }] },
    })
    const [day] = await stats(sender, `${year}&aggregated_by=month`)
    t.match(day?.stats[0], { tag_name: 'last', metrics: { sent: 31 } })
    t.match((await sums(sender, 'startdate=2025-01-01&enddate=2025-05-30')).data.stats, [{ metrics: { sent: 150 } }])
    t.match((await sums(sender, 'startdate=2025-01-01&enddate=2025-12-31&tag=last')).data.stats, [
      { metrics: { sent: 200 } },
    ])
  })

  await t.test('refuses what it cannot answer', async (t) => {
    const { apiKey } = await service.makeSender()
    for (const path of ['/v2/tags/stats', '/v2/tags/stats/sums']) {
      for (const [query, code] of [
        ['', 113],
        ['startdate=today', 160],
        ['startdate=2026-01-05&enddate=2026-01-01', 161],
        ['startdate=2024-01-01&enddate=2026-01-01', 113],
        ['startdate=2026-01-05&tag=be%00rth', 113],
        [`startdate=2026-01-05&tag=${'x'.repeat(256)}`, 113],
      ] as const) {
        const { status, json } = await call(url, {
          method: 'GET',
          path: `${path}?${query}`,
          headers: { api_key: apiKey },
        })
        t.match(
          { status, json },
          { status: 400, json: { message: 'Error in Tags api call', error_info: { error_code: code } } },
        )
      }
      const { status } = await call(url, {
        method: 'GET',
        path: `${path}?startdate=2024-01-01&enddate=2026-01-01&tag=berth`,
        headers: { api_key: apiKey },
      })
      t.equal(status, 200, 'of one tag, years')
    }
    const { status } = await call(url, { method: 'GET', path: '/v2/tags?tag=be%00', headers: { api_key: apiKey } })
    t.equal(status, 400)
  })
})
