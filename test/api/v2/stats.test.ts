import t from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { stopClock } from '../../helpers/database.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { type CallAnswer, call, errorText, FORM } from '../call.ts'

interface Row {
  readonly name?: string
  readonly other?: true
  readonly metrics: Record<string, number>
  readonly deliveryTime?: Record<string, number> | null
}
interface Answer {
  readonly data: { date: string; stats: Row[] }[]
  readonly totalRecords: number
  readonly asOf: { event: number; time: string | null }
}

const QUIET = {
  sent: 0,
  bounce: 0,
  soft_bounce: 0,
  hard_bounce: 0,
  open: 0,
  unique_open: 0,
  click: 0,
  unsub: 0,
  spam: 0,
  dropped: 0,
  invalid: 0,
}

t.test('stats', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()
  const today = (await stopClock(service.sql, { seconds: 600 })).toISOString().slice(0, 10)
  const ask = (sender: Pick<Sender, 'apiKey'>, query: string, path = '/v2/stats'): Promise<CallAnswer> =>
    call(url, { method: 'GET', path: `${path}?${query}`, headers: { api_key: sender.apiKey } })
  const answer = async (sender: Sender, query: string) => {
    const { status, text, json } = await ask(sender, query)
    if (status !== 200) throw new Error(text)
    return json as unknown as Answer
  }
  const metrics = async (sender: Sender, query: string) => (await answer(sender, query)).data[0]?.stats[0]?.metrics

  await t.test('a quiet day is one row of eleven zeros (E26)', async (t) => {
    const sender = await service.makeSender()
    await countAll(service)
    for (const path of ['/v2/stats', '/v2.1/stats']) {
      const { json } = await ask(sender, 'startdate=2026-01-05&enddate=2026-01-05', path)
      const { asOf, totalRecords, ...rest } = json ?? {}
      t.strictSame(rest, {
        data: [{ date: '2026-01-05', stats: [{ metrics: QUIET }] }],
        message: 'Success',
        error_info: null,
      })
      t.equal(totalRecords, 1)
      t.strictSame(Object.keys(asOf as object), ['event', 'time'])
    }
  })

  await t.test('weeks are ISO weeks and begin on the first day that is requested (E27)', async (t) => {
    const sender = await service.makeSender()
    const query = 'startdate=2026-01-01&enddate=2026-01-31&aggregated_by=week&limit=100&offset=1'
    const { data, totalRecords } = await answer(sender, query)
    t.strictSame(
      data.map(({ date }) => date),
      ['2026-01-01', '2026-01-05', '2026-01-12', '2026-01-19', '2026-01-26'],
    )
    t.equal(totalRecords, 5)
    const months = await answer(sender, 'startdate=2023-12-30&enddate=2024-03-01&aggregated_by=MONTH')
    t.strictSame(
      months.data.map(({ date }) => date),
      ['2023-12-30', '2024-01-01', '2024-02-01', '2024-03-01'],
    )
  })

  await t.test('every event counts under its metric on its day, week and month', async (t) => {
    const sender = await service.makeSender()
    const { messageId } = await acceptMessage(service, sender, {
      envelopes: ['a', 'b'].map((name) => envelopeTo(`${name}@x.test`)),
    })
    const of = (type: string, detail = {}) => ({ type, messageId, detail })
    const person = { first: true, rules: 1 }
    await happen(
      ...([service, sender.accountId] as const),
      ...[of('deferred'), of('deferred'), of('sent'), of('sent'), of('sent'), of('expired'), of('unsubscribed')],
      ...[of('bounced', { class: 'bad-mailbox' }), of('bounced', { class: 'bad-domain' })],
      ...[of('bounced', { class: 'mailbox-full' }), of('dropped', { reason: 'abuse' }), of('invalid')],
      ...[of('opened', person), of('opened', { rules: 1 }), of('opened', { machine: 'proxy', rules: 1 })],
      ...[of('clicked', person), of('clicked', { machine: 'scanner' }), of('clicked', { machine: 'scanner' })],
      ...[of('complained'), { type: 'domain', detail: { domain: sender.domain } }],
    )
    await countAll(service)
    const wanted = {
      sent: 3,
      bounce: 4,
      soft_bounce: 2,
      hard_bounce: 2,
      open: 2,
      unique_open: 1,
      click: 1,
      unsub: 1,
      spam: 1,
      dropped: 1,
      invalid: 1,
    }
    for (const by of ['', 'day', 'week', 'month']) {
      t.strictSame(await metrics(sender, `startdate=${today}&aggregated_by=${by}`), wanted, by)
    }
    const all = await metrics(sender, `startdate=${today}&metrics=all`)
    t.strictSame(all, {
      ...wanted,
      processed: 2,
      deferred: 2,
      expired: 1,
      unique_click: 1,
      machine_open: 1,
      machine_click: 2,
    })
  })

  await t.test('the answer says as of which event it is true', async (t) => {
    const sender = await service.makeSender()
    await acceptMessage(service, sender)
    t.strictSame((await answer(sender, `startdate=${today}`)).asOf, { event: 0, time: null }, 'nothing is counted yet')
    await countAll(service)
    const before = (await answer(sender, `startdate=${today}`)).asOf
    t.equal(before.event, await service.core.events.lastNumber(sender.accountId))
    await happen(service, sender.accountId, { type: 'domain', at: "service_now() + interval '7 seconds'" })
    t.strictSame((await answer(sender, `startdate=${today}`)).asOf, before, 'what has no number is not counted')
    await countAll(service)
    const after = (await answer(sender, `startdate=${today}`)).asOf
    t.equal(after.event, before.event + 1)
    t.equal(Date.parse(after.time ?? '') - Date.parse(before.time ?? ''), 7000)
  })

  await t.test('days are those of the account, and follow its time zone from a change on', async (t) => {
    const sender = await service.makeSender()
    const zone = (name: string) => service.sql`update accounts set time_zone = ${name} where id = ${sender.accountId}`
    const midday = `timestamptz '${today} 12:00Z'`
    const on = async (date: string) => (await metrics(sender, `startdate=${date}&enddate=${date}`))?.spam
    const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10)
    await happen(service, sender.accountId, { type: 'complained', at: midday })
    await countAll(service)
    await zone('Pacific/Kiritimati')
    await happen(service, sender.accountId, { type: 'complained', at: midday })
    await countAll(service)
    t.strictSame([await on(today), await on(tomorrow)], [1, 1])
    await t.rejects(zone('Europe/Atlantis'), /accounts_time_zone/, 'an unknown zone would stop the counting')
  })

  await t.test('the last day may lie ahead, and is today by default', async (t) => {
    const sender = await service.makeSender()
    const day = (ahead: number) => new Date(Date.parse(today) + ahead * 86_400_000).toISOString().slice(0, 10)
    const dates = async (query: string) => (await answer(sender, query)).data.map(({ date }) => date)
    t.strictSame(await dates(`startdate=${day(-1)}`), [day(-1), today])
    t.strictSame(await dates(`startdate=${day(-1)}&enddate=`), [day(-1), today], 'a parameter without a value is none')
    t.strictSame(await dates(`startdate=${today}&enddate=${day(2)}`), [today, day(1), day(2)])
    t.strictSame(await dates(`startdate=${day(1)}`), [day(1)], 'a caller whose today has begun already')
  })

  await t.test('rows come in pages, of which 0 and 1 are both the first row', async (t) => {
    const sender = await service.makeSender()
    const page = async (query: string) => {
      const { data, totalRecords } = await answer(sender, `startdate=2026-01-01&enddate=2026-12-31&${query}`)
      return [data.length, data[0]?.date, totalRecords]
    }
    t.strictSame(await page(''), [100, '2026-01-01', 365])
    t.strictSame(await page('offset=0&limit='), [100, '2026-01-01', 365])
    t.strictSame(await page('offset=1&limit=3'), [3, '2026-01-01', 365])
    t.strictSame(await page('offset=4&limit=3'), [3, '2026-01-04', 365])
    t.strictSame(await page('offset=301&limit=1000000'), [65, '2026-10-28', 365], 'as many as may be')
    t.strictSame(await page('offset=400'), [0, undefined, 365])
  })

  await t.test('takes JSON and forms', async (t) => {
    const { apiKey } = await service.makeSender()
    const headers = { api_key: apiKey }
    const json = await call(url, {
      path: '/v2/stats',
      headers,
      body: { startdate: '2026-01-05', enddate: '2026-01-06' },
    })
    const form = await call(url, {
      path: '/v2/stats',
      headers: { ...headers, ...FORM },
      body: 'start_date=2026-01-05&endDate=2026-01-06&limit=2',
    })
    t.equal(json.status, 200)
    t.equal((json.json?.data as unknown[] | undefined)?.length, 2)
    t.equal(form.text, json.text)
  })

  await t.test('refuses what it cannot answer', async (t) => {
    const sender = await service.makeSender()
    for (const [query, code, sentence] of [
      ['', 113, 'Parameter [startdate] not passed'],
      ['startdate=&enddate=2026-01-05', 113, 'Parameter [startdate] not passed'],
      ['startdate=05-01-2026', 160, 'Start date and end date must be in yyyy-mm-dd format'],
      ['startdate=2026-02-30', 160, 'Start date and end date must be in yyyy-mm-dd format'],
      ['startdate=2026-01-05&enddate=soon', 160, 'Start date and end date must be in yyyy-mm-dd format'],
      ['startdate=2026-01-05&enddate=2026-01-04', 161, 'Start date must be less than end date'],
      [
        'startdate=2020-01-01&enddate=2026-01-01',
        113,
        'Parameter [enddate] is invalid: date range must be at most 1827 days',
      ],
      [
        'startdate=1001-01-01&enddate=9999-12-31',
        113,
        'Parameter [enddate] is invalid: date range must be at most 1827 days',
      ],
      [
        'startdate=2024-01-01&enddate=2026-01-01&by=site',
        113,
        'Parameter [enddate] is invalid: date range must be at most 366',
      ],
      ['startdate=2026-01-05&aggregated_by=hour', 113, 'Parameter [aggregated_by] is invalid: must be day or week'],
      ['startdate=2026-01-05&limit=few', 113, 'Parameter [limit] is invalid: must be a whole number'],
      ['startdate=2026-01-05&metrics=some', 113, 'Parameter [metrics] is invalid'],
      ['startdate=2026-01-05&by=country', 113, 'Parameter [by] is invalid'],
      ['startdate=2026-01-05&by=site&domain=ship.example', 113, 'Parameter [by] is invalid: cannot be combined with'],
      ['startdate=2026-01-05&site=x.test&domain=ship.example', 113, 'Parameter [site] is invalid'],
      ['startdate=2026-01-05&domain=no%20domain', 113, 'Parameter [domain] is invalid: is not a valid domain name'],
      ['startdate=2026-01-05&subaccount=no%00body', 113, 'Parameter [subaccount] is invalid: must not contain NUL'],
      ['startdate=2026-01-05&subaccount=nobody', 172, 'Subaccount does not exist'],
    ] as const) {
      const refused = await ask(sender, query)
      t.equal(refused.status, 400, query)
      t.match(refused.json, { message: 'Error in Stats api call', error_info: { error_code: code } }, query)
      t.ok(errorText(refused).startsWith(sentence), `${query}: ${errorText(refused)}`)
    }
    const blank = await call(url, { path: '/v2/stats', headers: { api_key: sender.apiKey } })
    t.match(blank.json, { error_info: { error_code: 110 } })
    const { secret } = await service.core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
    t.match((await ask({ apiKey: secret }, 'startdate=2026-01-05')).json, { error_info: { error_code: 103 } })
  })

  await t.test('by sending domain and by recipient site, each apart or one alone', async (t) => {
    const sender = await service.makeSender()
    await service.core.domains.add({ accountId: sender.accountId, name: `two-${sender.domain}`, state: 'active' })
    const at = (domain: string) => ({ from: { email: `desk@${domain}`, name: '' } })
    const to = (...recipients: string[]) => ({ envelopes: recipients.map((recipient) => envelopeTo(recipient)) })
    await acceptMessage(service, sender, to('a@Harbor.example', 'b@harbor.example', 'c@quay.example', 'not-an-address'))
    await acceptMessage(service, sender, { ...at(`two-${sender.domain}`), ...to('d@quay.example') })
    await countAll(service)
    const named = async (query: string) =>
      Object.fromEntries(
        (await answer(sender, `startdate=${today}&metrics=all&${query}`)).data[0]?.stats.map(({ name, metrics }) => [
          name,
          [metrics.processed, metrics.invalid],
        ]) ?? [],
      )
    t.strictSame(await named('by=domain'), { [sender.domain]: [3, 1], [`two-${sender.domain}`]: [1, 0] })
    t.strictSame(await named('by=site'), { 'harbor.example': [2, 0], 'quay.example': [2, 0], '': [0, 1] })
    t.strictSame(await named(`domain=TWO-${sender.domain}`), { [`two-${sender.domain}`]: [1, 0] })
    t.strictSame(await named('site=quay.example'), { 'quay.example': [2, 0] })
    t.strictSame(await named('site=nowhere.example'), { 'nowhere.example': [0, 0] }, 'what never was is quiet')
    const quiet = await answer(sender, 'startdate=2026-01-05&enddate=2026-01-05&by=site')
    t.strictSame(quiet.data, [{ date: '2026-01-05', stats: [] }])
  })

  await t.test('by subaccount, each apart or one alone, and never a stranger', async (t) => {
    const [parent, one, two, stranger] = await Promise.all([1, 2, 3, 4].map(() => service.makeSender()))
    if (!parent || !one || !two || !stranger) throw new Error('four senders')
    for (const [{ accountId }, username] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      await service.sql`update accounts set parent_id = ${parent.accountId}, username = ${username} where id = ${accountId}`
    }
    for (const sender of [parent, one, one, stranger]) await acceptMessage(service, sender)
    await countAll(service)
    const { data } = await answer(parent, `startdate=${today}&by=subaccount&metrics=all`)
    t.strictSame(
      data[0]?.stats.map(({ name, metrics }) => [name, metrics.processed]),
      [['one', 2]],
    )
    const alone = await answer(parent, `startdate=${today}&subaccount=ONE&metrics=all`)
    t.equal(alone.data[0]?.stats[0]?.metrics.processed, 2)
    t.equal(alone.asOf.event, await service.core.events.lastNumber(one.accountId))
    t.equal((await metrics(parent, `startdate=${today}&subaccount=two&metrics=all`))?.processed, 0)
    t.equal((await metrics(parent, `startdate=${today}&metrics=all`))?.processed, 1, "a parent's own mail is its own")
    t.match((await ask(stranger, `startdate=${today}&subaccount=one`)).json, { error_info: { error_code: 172 } })
  })

  await t.test('delivery times are within 10 % of what they were, over any span', async (t) => {
    const sender = await service.makeSender()
    const { messageId } = await acceptMessage(service, sender)
    // From 0.1 s to 10 s: nine of ten within 9.01 s.
    const sent = Array.from({ length: 100 }, (_, at) => ({
      type: 'sent',
      messageId,
      recipientNo: at,
      at: `service_now() + interval '${(at + 1) / 10} seconds'`,
    }))
    await happen(service, sender.accountId, ...sent.slice(0, 50))
    await countAll(service)
    await happen(service, sender.accountId, ...sent.slice(50))
    await countAll(service)
    const { data } = await answer(sender, `startdate=${today}&metrics=all&aggregated_by=month`)
    const time = data[0]?.stats[0]?.deliveryTime
    for (const [name, seconds] of [
      ['p50', 5],
      ['p90', 9],
      ['p99', 9.9],
    ] as const) {
      t.ok(Math.abs((time?.[name] ?? 0) / seconds - 1) < 0.1, `${name}: ${time?.[name]}`)
    }
    t.equal((await answer(sender, `startdate=2026-01-05&metrics=all`)).data[0]?.stats[0]?.deliveryTime, null)
    t.notOk(
      'deliveryTime' in ((await answer(sender, `startdate=${today}`)).data[0]?.stats[0] ?? {}),
      'only when asked for',
    )
  })
})
