import t from 'tap'
import { makeService } from '../../../helpers/service.ts'

const service = await makeService(t)
const { sql, core } = service
const { accountId } = await service.makeSender()
await sql`insert into credit_balances (account_id) values (${accountId})`

async function setTerms(every: string, from: string, until = '2099-12-31'): Promise<void> {
  await sql`
    update credit_balances set recurring_amount = 100, recurring_every = ${every}, recurring_from = ${from}::text::date,
           recurring_until = ${until}::text::date, recurring_active = true, period = null, period_used = 0`
}

/** The number of the period that runs at a moment; null: none does. */
async function periodAt(moment: string): Promise<number | null> {
  await sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as 'select timestamptz ''${moment}'''`,
  )
  const [row] = await sql<{ period: number | null }[]>`
    select credit_period(b) as period from credit_balances b where account_id = ${accountId}`
  return row?.period ?? null
}

const CALENDAR: readonly (readonly [every: string, from: string, periods: Record<string, number | null>])[] = [
  [
    'day',
    '2026-02-01',
    {
      '2026-01-31T23:59:59.999Z': null,
      '2026-02-01T00:00Z': 0,
      '2026-02-01T23:59:59.999Z': 0,
      '2026-02-02T00:00Z': 1,
      '2026-03-01T00:00Z': 28,
      '2026-03-01T00:30+01:00': 27,
    },
  ],
  [
    'week',
    '2026-02-04',
    { '2026-02-03T12:00Z': null, '2026-02-10T23:59Z': 0, '2026-02-11T00:00Z': 1, '2027-02-03T00:00Z': 52 },
  ],
  [
    'month',
    '2026-01-15',
    { '2026-01-15T00:00Z': 0, '2026-02-14T23:59Z': 0, '2026-02-15T00:00Z': 1, '2027-01-14T00:00Z': 11 },
  ],
  [
    'month',
    '2026-01-31',
    {
      '2026-02-27T23:59Z': 0,
      '2026-02-28T00:00Z': 1,
      '2026-03-30T23:59Z': 1,
      '2026-03-31T00:00Z': 2,
      '2026-04-30T00:00Z': 3,
      '2028-02-28T00:00Z': 24,
      '2028-02-29T00:00Z': 25,
    },
  ],
]
for (const [every, from, periods] of CALENDAR) {
  t.test(`a recurring credit of each ${every} from ${from} begins its periods when the calendar says`, async (t) => {
    await setTerms(every, from)
    for (const [moment, period] of Object.entries(periods)) t.equal(await periodAt(moment), period, moment)
  })
}

t.test('a recurring credit runs to the end of its last day', async (t) => {
  await setTerms('month', '2026-01-31', '2026-03-10')
  t.equal(await periodAt('2026-03-10T23:59:59Z'), 1)
  t.match(await core.credits.show(accountId), { available: 100, recurring: { left: 100 } })
  t.equal(await periodAt('2026-03-11T00:00Z'), null)
  t.match(await core.credits.show(accountId), { available: 0, recurring: { left: 0 } })
})

t.test(
  'what was used counts in its own period only, and an amount made smaller never leaves less than nothing',
  async (t) => {
    await setTerms('week', '2026-02-01')
    await periodAt('2026-02-03T00:00Z')
    await sql`update credit_balances set period = 0, period_used = 70, balance = 5`
    t.match(await core.credits.show(accountId), { available: 35, oneTime: 5, recurring: { left: 30 } })
    await sql`update credit_balances set recurring_amount = 50`
    t.match(await core.credits.show(accountId), { available: 5, recurring: { left: 0 } })
    await periodAt('2026-02-08T00:00Z')
    t.match(await core.credits.show(accountId), { available: 55, recurring: { left: 50 } })
  },
)
