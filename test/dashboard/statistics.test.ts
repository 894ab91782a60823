import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { countAll, happen } from '../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { stopClock } from '../helpers/database.ts'
import { openDashboard } from './dashboard.ts'
import { member } from './members.ts'

const HOSTILE = '<img src=x onerror=alert(1)>\u202e=cmd'

t.test('statistics', async (t) => {
  const dashboard = await openDashboard(t)
  const { service } = dashboard
  const today = (await stopClock(service.sql, { seconds: 600 })).toISOString().slice(0, 10)
  const sender = await service.makeSender()
  const ada = await member(dashboard, sender)
  const at = `/app/${sender.accountId}/statistics`
  const shown = async (query = '') => (await ada.get(`${at}?${query}`)).text()

  await t.test('an account without mail is shown what it will see here', async (t) => {
    t.match(await shown(), 'No mail in this time')
  })

  const { messageId } = await acceptMessage(service, sender, {
    envelopes: ['ada@harbor.example', 'bob@harbor.example', 'eve@lumen.example'].map((to) => envelopeTo(to)),
    tags: [HOSTILE],
  })
  const of = (type: string, recipientNo: number, detail = {}) => ({ type, messageId, recipientNo, detail })
  await happen(
    service,
    sender.accountId,
    of('sent', 0),
    of('sent', 1),
    of('opened', 0, { first: true, rules: 1 }),
    of('bounced', 2, { class: 'bad-mailbox' }),
  )
  await countAll(service)

  await t.test('the page has the sums, the charts with their tables, and the position of the counts', async (t) => {
    const text = await shown()
    t.match(text, /Accepted<\/span><span class="v">3</)
    t.match(text, /Delivered<\/span><span class="v">2<.*66\.7 % of accepted/s)
    t.match(text, /Bounced<\/span><span class="v">33\.3 %<.*1 hard, 0 soft/s)
    t.match(text, /Opened<\/span><span class="v">50\.0 %</)
    t.match(text, /Counted up to event [1-9]/)
    t.match(text, /aria-label="From .*Accepted 3, Delivered 2/)
  })

  await t.test(
    'the table is by recipient domain, tag or sending domain, with the names as they were given',
    async (t) => {
      const sites = await shown()
      t.match(
        sites,
        /<bdi>harbor\.example<\/bdi><\/a><\/th><td class="n wide-only">2<\/td><td class="n">2<\/td><td class="n">0 %/,
      )
      t.match(
        sites,
        /<bdi>lumen\.example<\/bdi><\/a><\/th><td class="n wide-only">1<\/td><td class="n">0<\/td><td class="n">100 %/,
      )
      const tags = await shown('by=tag')
      t.match(tags, '&lt;img src=x onerror=alert(1)&gt;<span class="ctl">U+202E</span>=cmd')
      t.notMatch(tags, '<img src=x')
      t.match(await shown('by=domain'), `<bdi>${sender.domain}</bdi>`)
    },
  )

  await t.test('a row leads to the messages of its name and time', async (t) => {
    const [, target = ''] = /href="([^"]*)"><bdi>lumen\.example/.exec(await shown(`from=${today}&to=${today}`)) ?? []
    t.match(target, `/app/${sender.accountId}/messages?q=to%3A%40lumen.example+after%3A${today}`)
    const list = await (await ada.get(target.replaceAll('&amp;', '&'))).text()
    t.match(list, 'eve@lumen.example')
    t.notMatch(list, 'ada@harbor.example')
  })

  await t.test('the table is sorted by the column whose head is followed', async (t) => {
    const names = async (query: string) =>
      [...(await shown(query)).matchAll(/<bdi>(\w+)\.example<\/bdi><\/a><\/th>/g)].map(([, name]) => name)
    t.strictSame(await names(''), ['harbor', 'lumen'])
    t.strictSame(await names('sort=bounced'), ['lumen', 'harbor'])
    t.match(await shown('sort=bounced'), /<th class="n" aria-sort="descending"><a class="sort"[^>]*>Bounced ↓/)
  })

  await t.test('the table is by mailbox provider, too', async (t) => {
    t.match(await shown('by=provider'), /all others<\/span><\/th><td class="n wide-only">3<\/td><td class="n">2</)
    const csv = await (await ada.get(`${at}.csv?by=provider&from=${today}&to=${today}`)).text()
    t.match(csv, /^provider,processed.*\r\nOther,3,2,/)
  })

  await t.test('the reasons of bounces are said in words, in the language of the page', async (t) => {
    t.match(await shown(), /The address does not exist<\/th>.*<td class="n">1<\/td><td class="n">100 %/s)
    const german = await fetch(`${dashboard.url}${at}`, { headers: { cookie: ada.cookie, 'accept-language': 'de' } })
    t.match(await german.text(), 'Die Adresse gibt es nicht')
  })

  await t.test('a day that goes on is dashed and said to be so; a time that is over is not', async (t) => {
    const before = new Date(Date.parse(today) - 5 * 86_400_000).toISOString().slice(0, 10)
    t.match(await shown(`from=${before}&to=${today}`), /class="c dash c1".*\(so far\)/s)
    t.notMatch(await shown(`from=2026-01-01&to=${before}`), 'class="c dash')
  })

  await t.test(
    'each number has that of the time before, which has the same length, unless nothing happened then',
    async (t) => {
      t.notMatch(await shown(`from=${today}&to=${today}`), 'before: ')
      await service.sql`
      insert into roll_ups
      select (jsonb_populate_record(r, jsonb_build_object('day', r.day - 1))).* from roll_ups r
       where r.account_id = ${sender.accountId} and r.subject = 'total'`
      t.match(await shown(`from=${today}&to=${today}`), /before: 3<.*before: 2<.*before: 33\.3 %/s)
    },
  )

  await t.test('the download is the table of the page, safe for spreadsheets', async (t) => {
    const response = await ada.get(`${at}.csv?by=site&from=${today}&to=${today}`)
    t.match(response.headers.get('content-disposition'), `statistics-site-${today}-${today}.csv`)
    const [head, ...rows] = (await response.text()).trim().split('\r\n')
    t.match(head, 'site,processed,sent,deferred')
    t.match(rows[0], /^harbor\.example,2,2,0,/)
    t.match(rows[1], /^lumen\.example,1,0,0,0,0,1,/)
    t.equal(rows.length, 2)
  })

  await t.test('a download whose later part cannot be read breaks off, and does not look complete', async (t) => {
    const other = await service.makeSender()
    const eve = await member(dashboard, other)
    const add = async (from: number, to: number) => {
      for (let first = from; first <= to; first += 7000)
        await service.sql`
          insert into roll_ups
          select (jsonb_populate_record(r, jsonb_build_object('account_id', ${other.accountId}::int, 'name', i || '.example'))).*
            from generate_series(${first}::int, ${Math.min(to, first + 6999)}::int) i, roll_ups r
           where r.account_id = ${sender.accountId} and r.subject = 'recipient_domain' and r.name = 'lumen.example'`
      // As autovacuum does, before a table has grown a thousandfold.
      await service.sql`analyze roll_ups`
    }
    const path = `/app/${other.accountId}/statistics.csv?by=site&from=${today}&to=${today}`
    await add(1, 2500)
    t.equal((await (await eve.get(path)).text()).trim().split('\r\n').length, 1 + 2500)
    // More than the connection takes before it is read.
    await add(2501, 49_000)
    const response = await eve.get(path)
    t.equal(response.status, 200)
    await service.sql`alter table roll_up_sums rename to roll_up_sums_away`
    await t.rejects(response.text(), 'the reader learns that it is not the whole file')
    await service.sql`alter table roll_up_sums_away rename to roll_up_sums`
  })

  await t.test('days, weeks and months are those that give a chart that can be read', async (t) => {
    const grains = async (query: string) =>
      [...(await shown(query)).matchAll(/period=(\w+)&amp;by=site"( aria-current="true")?>(?:Day|Week|Month)/g)].map(
        ([, period, current]) => `${period}${current ? '*' : ''}`,
      )
    t.strictSame(await grains(`from=${today}&to=${today}`), ['day*'])
    t.strictSame(await grains('from=2026-01-01&to=2026-03-01&period=week'), ['day', 'week*', 'month'])
    t.strictSame(await grains('from=2025-01-01&to=2026-01-01&period=day'), ['week*', 'month'])
    t.strictSame(await grains('from=2022-01-01&to=2026-11-01'), ['month*'])
  })

  await t.test(
    'days in the wrong order and too many days are refused in words, and other texts are ignored',
    async (t) => {
      const reversed = await ada.get(`${at}?from=2026-02-02&to=2026-02-01`)
      t.equal(reversed.status, 400)
      t.match(await reversed.text(), 'role="alert"')
      t.equal((await ada.get(`${at}?from=1990-02-02&to=2026-02-01`)).status, 400)
      t.equal((await ada.get(`${at}.csv?from=2020-02-02&to=2026-02-01`)).status, 400)
      t.match(await shown('from=2023-01-01&to=2027-01-01'), 'date range must be at most')
      for (const query of ['from=%00&to=x', 'from=2026-02-31', 'period=year&by=all&offset=-1', 'from=a&from=b'])
        t.equal((await ada.get(`${at}?${query}`)).status, 200, query)
    },
  )

  await t.test('today is the day of the account, there and on the overview', async (t) => {
    const rows = await service.sql<{ zone: string; day: string }[]>`
      select zone, to_char(service_now() at time zone zone, 'YYYY-MM-DD') as day
        from unnest(array['Pacific/Kiritimati', 'Pacific/Pago_Pago']) zone`
    for (const { zone, day } of rows) {
      await service.core.accounts.settings.change(sender.accountId, { timeZone: zone }, OPERATOR)
      t.match(await shown(), `to=${day}`, zone)
      t.equal((await ada.get(`/app/${sender.accountId}`)).status, 200)
    }
    t.not(rows[0]?.day, rows[1]?.day)
  })

  await t.test('who may see numbers sees it, and no other account', async (t) => {
    const viewer = await member(dashboard, sender, 'viewer')
    t.equal((await viewer.get(at)).status, 200)
    const other = await member(dashboard, await service.makeSender())
    for (const path of [at, `${at}.csv`]) t.equal((await other.get(path)).status, 404)
  })
})
