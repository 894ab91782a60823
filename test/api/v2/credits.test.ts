import t, { type Test } from 'tap'
import { refused } from '../../core/refused.ts'
import { moveClock } from '../../helpers/database.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { asForm, type CallAnswer, call, FORM } from '../call.ts'

const service = await makeService(t)
const { core, sql } = service
const base = await service.openApi()
const sender = await service.makeSender()

const ask = (body: Record<string, unknown> | undefined, path = '/v2/credit', method = 'POST', headers = {}) =>
  call(base, { method, path, headers: { api_key: sender.apiKey, ...headers }, ...(body ? { body } : {}) })

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const errorOf = ({ json }: CallAnswer) => (json?.error_info ?? {}) as { error_code?: number; error_message?: string }

function refusedWith(t: Test, answer: CallAnswer, code: number, sentence?: string | RegExp, what = ''): void {
  t.equal(answer.status, 400, `${what} ${answer.text}`)
  t.equal(answer.json?.message, 'Error in Credit api call', what)
  t.equal(errorOf(answer).error_code, code, what)
  if (sentence) t.match(errorOf(answer).error_message, sentence, what)
}

t.test('getCredit answers what was sent on each day of the span, and what is left (E32)', async (t) => {
  await core.credits.limit(sender.accountId, 30)
  const recipients = ['a@harbor.example', 'b@harbor.example'].map((recipient) => ({ recipient }))
  await sendV2(base, sender.apiKey, v2Body(sender, { personalizations: recipients }))
  const { status, json } = await ask({ startdate: day(-2), enddate: day(1) })
  t.equal(status, 200)
  t.strictSame(json, {
    data: {
      startdate: day(-2),
      enddate: day(1),
      used: 2,
      available: 28,
      total: 30,
      usage: [
        { date: day(-2), used: 0 },
        { date: day(-1), used: 0 },
        { date: day(0), used: 2 },
        { date: day(1), used: 0 },
      ],
    },
    message: 'Success',
    error_info: null,
    totalRecords: 4,
  })
  t.match((await ask({ startdate: '2026-01-01', enddate: '2026-01-05' })).json?.data, { used: 0, usage: { length: 5 } })
})

t.test('getCredit is found at its other names, by GET, with its parameters’ other names, and as a form', async (t) => {
  const { text } = await ask({ startdate: day(-1), enddate: day(1) })
  const query = `startdate=${day(-1)}&enddate=${day(1)}`
  for (const path of ['/v2/credit', '/v2/credits', '/v2/getCredit']) {
    t.equal((await ask(undefined, `${path}?${query}`, 'GET')).text, text, path)
    t.equal((await ask({ startDate: day(-1), endDate: day(1) }, path)).text, text, path)
    t.equal((await ask({ start_date: day(-1), end_date: day(1) }, path)).text, text, path)
    const form = asForm({ startdate: day(-1), enddate: day(1) }) as unknown as Record<string, unknown>
    t.equal((await ask(form, path, 'POST', FORM)).text, text, path)
  }
})

t.test('getCredit asks for both dates: 113, and 110 for no body at all', async (t) => {
  refusedWith(t, await ask({ enddate: day(0) }), 113, 'Parameter [startdate] not passed')
  refusedWith(t, await ask({ startdate: day(0) }), 113, 'Parameter [enddate] not passed')
  refusedWith(t, await ask({ foo: 1 }), 113, 'Parameter [startdate] not passed')
  refusedWith(t, await ask(undefined, '/v2/credit', 'GET'), 113, 'Parameter [startdate] not passed')
  refusedWith(t, await ask({}), 110)
})

t.test('getCredit rejects an invalid yyyy-mm-dd with 160 (X160)', async (t) => {
  const wrong = ['01-01-2026', '2026-1-1', '2026/01/01', '2026-02-30', '2025-02-29', '2026-13-01', '2026-00-10', '']
  for (const startdate of [...wrong, '0000-01-01', '2026-01-01T00:00', ' 2026-01-01', '٢٠٢٦-٠١-٠١', 20260101]) {
    refusedWith(t, await ask({ startdate, enddate: '2026-01-05' }), 160, undefined, `start ${startdate}`)
    refusedWith(t, await ask({ startdate: '2026-01-01', enddate: startdate }), 160, undefined, `end ${startdate}`)
  }
  const { status } = await ask({ startdate: '2024-02-29', enddate: '2024-03-01' })
  t.equal(status, 200, 'a leap year has that day')
})

t.test('getCredit refuses a start that is not before its end with 161 (X161)', async (t) => {
  refusedWith(t, await ask({ startdate: '2026-01-05', enddate: '2026-01-01' }), 161, 'Start date must be less than')
  refusedWith(t, await ask({ startdate: '2026-01-05', enddate: '2026-01-05' }), 161)
})

t.test('getCredit sums up a span of any length, and tells its days a year at a time', async (t) => {
  const leapYear = await ask({ startdate: '2024-01-01', enddate: '2024-12-31' })
  t.match(leapYear.json, { data: { usage: { length: 366 } }, totalRecords: 366 })
  const { used = 0 } = ((await ask({ startdate: day(-1), enddate: day(1) })).json?.data ?? {}) as { used?: number }
  t.ok(used > 0)
  const long = { startdate: '1990-01-01', enddate: '9999-12-31' }
  const first = await ask(long)
  t.match(first.json, {
    data: { used, usage: { length: 366, 0: { date: '1990-01-01', used: 0 }, 365: { date: '1991-01-01' } } },
    totalRecords: 2_925_592,
  })
  t.match((await ask({ ...long, offset: 366, limit: 2 })).json, {
    data: { used, usage: [{ date: '1991-01-02' }, { date: '1991-01-03' }] },
  })
  t.match((await ask({ ...long, offset: 2_925_591 })).json, { data: { used, usage: [{ date: '9999-12-31' }] } })
  t.match((await ask({ ...long, offset: 1e9 })).json, { data: { used, usage: [] } })
  const span = `startdate=${day(-1)}&enddate=${day(1)}&limit=1&offset=1`
  t.match((await ask(undefined, `/v2/credit?${span}`, 'GET')).json, { data: { used, usage: [{ date: day(0), used }] } })
})

t.test('getCredit of an account without a limit tells no end', async (t) => {
  const free = await service.makeSender()
  const answer = await call(base, {
    path: '/v2/credit',
    headers: { api_key: free.apiKey },
    body: { startdate: day(-1), enddate: day(1) },
  })
  t.match(answer.json?.data, { used: 0, available: null, total: null })
})

t.test('getCredit counts by the day of the service’s clock, in UTC', async (t) => {
  const own = await makeService(t)
  const url = await own.openApi()
  const { apiKey, ...rest } = await own.makeSender()
  await sendV2(url, apiKey, v2Body({ apiKey, ...rest }))
  await moveClock(own.sql, '24 hours')
  for (let count = 0; count < 3; count++) await sendV2(url, apiKey, v2Body({ apiKey, ...rest }))
  const answer = await call(url, {
    path: '/v2/credit',
    headers: { api_key: apiKey },
    body: { startdate: day(0), enddate: day(1) },
  })
  t.match(answer.json?.data, { used: 4, usage: [{ used: 1 }, { used: 3 }] })
})

t.test('what the operator gives and takes appears in the audit log', async (t) => {
  const { accountId } = await service.makeSender()
  await core.credits.limit(accountId, 5)
  await core.credits.grant(accountId, 7)
  await core.credits.unlimit(accountId)
  const entries = await core.audit.list(accountId, { after: 0, limit: 100 })
  t.match(entries.slice(-3), [
    { action: 'credit.limit', keyId: null, before: { credit: 'unlimited' }, after: { credit: 5 } },
    { action: 'credit.grant', before: { credit: 5 }, after: { credit: 12 } },
    { action: 'credit.unlimit', before: { credit: 12 }, after: { credit: 'unlimited' } },
  ])
  t.equal(await refused(core.credits.grant(accountId, 7)), 'creditInvalid', 'nothing to add to')
  t.equal(await refused(core.credits.limit(999_999, 7)), 'parameterInvalid')
  for (const amount of [-1, 1.5, Number.NaN, 1e13]) {
    t.equal(await refused(core.credits.limit(accountId, amount)), 'creditInvalid')
  }
  t.same(await sql`select from credit_balances where account_id = ${accountId}`, [])
})
