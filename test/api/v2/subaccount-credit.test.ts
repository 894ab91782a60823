import t, { type Test } from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { asForm, type CallAnswer, call, FORM } from '../call.ts'

const service = await makeService(t)
const { core, sql } = service
const base = await service.openApi()

const SET = '/v2/subaccounts/setsubaccountcredit'
const RECURRING = '/v2/setrecurringcreditddetails'
const DETAILS = '/v2/subaccounts/getcreditddetails'

const ask = (apiKey: string, path: string, body: Record<string, unknown>, url = base) =>
  call(url, { path, headers: { api_key: apiKey }, body })

const errorOf = ({ json }: CallAnswer) => (json?.error_info ?? {}) as { error_code?: number; error_message?: string }

function refusedWith(t: Test, answer: CallAnswer, code: number, what: string | RegExp = ''): void {
  t.equal(answer.status, 400, `${what} ${answer.text}`)
  t.equal(answer.json?.message, 'Error in Subaccount api call')
  t.equal(errorOf(answer).error_code, code, String(what))
  if (what instanceof RegExp) t.match(errorOf(answer).error_message, what)
}

/** A subaccount with an active domain. */
async function makeDock(own: typeof service, parent: Sender, username = 'dock2'): Promise<Sender> {
  const account = { id: parent.accountId, name: parent.accountName, state: 'active', parentId: null } as const
  const { secret } = await own.core.subaccounts.create(
    { ...account, expiresAt: null, createdAt: new Date() },
    { username, email: 'd@ship.example', password: undefined, creditType: 'unlimited' },
  )
  const [row] = await own.sql<{ id: number }[]>`
    select id from accounts where parent_id = ${parent.accountId} and username = ${username} and deleted_at is null`
  const accountId = row?.id as number
  const domain = `d${accountId}.dock.example`
  await own.core.domains.add({ accountId, name: domain, state: 'active' })
  return { accountId, accountName: `${parent.accountName}/${username}`, apiKey: secret, domain }
}

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
const oneTime = async ({ accountId }: Sender) => (await core.credits.show(accountId)).oneTime
const send = async (sender: Sender, url = base) => (await sendV2(url, sender.apiKey, v2Body(sender))).status

t.test('setSubaccountCredit gives credit out of nothing where the account has no limit (E35)', async (t) => {
  const parent = await service.makeSender()
  const dock = await makeDock(service, parent)
  const given = await ask(parent.apiKey, SET, { username: 'dock2', action: 'increase', amount: 500 })
  t.strictSame(given.json, {
    data: {
      username: 'dock2',
      credit_type: 'one_time_credit',
      available: 500,
      one_time_credit: 500,
      recurring_credit: null,
    },
    message: 'Success',
    error_info: null,
  })
  const form = asForm({ username: 'dock2', action: 'decrease', amount: '100' })
  const taken = await call(base, { path: SET, headers: { api_key: parent.apiKey, ...FORM }, body: form })
  t.match(taken.json?.data, { available: 400 })
  t.equal(await oneTime(dock), 400)
  t.equal(await oneTime(parent), null)
  t.equal(await send(dock), 200)
  const query = `${DETAILS}?username=dock2`
  const details = await call(base, { method: 'GET', path: query, headers: { api_key: parent.apiKey } })
  t.match(details.json?.data, { username: 'dock2', available: 399 })
})

t.test(
  'setSubaccountCredit takes from an account that has a limit, and gives back to it, never below nothing',
  async (t) => {
    const parent = await service.makeSender()
    const dock = await makeDock(service, parent)
    await core.credits.limit(parent.accountId, 100)
    const set = (action: string, amount: unknown) => ask(parent.apiKey, SET, { username: 'dock2', action, amount })
    t.equal((await set('increase', 60)).status, 200)
    t.same([await oneTime(parent), await oneTime(dock)], [40, 60])
    refusedWith(
      t,
      await set('increase', 41),
      175,
      /^Invalid credit value: exceeds the 40 credits left to the parent account$/,
    )
    refusedWith(
      t,
      await set('decrease', 61),
      175,
      /^Invalid credit value: exceeds the 60 credits left to the subaccount$/,
    )
    t.equal((await set('decrease', '60')).status, 200)
    t.same([await oneTime(parent), await oneTime(dock)], [100, 0])
    t.equal(await send(dock), 402, 'with no credit left it is refused')
  },
)

t.test(
  'setSubaccountCredit rejects an invalid amount with 175, an invalid action with 113, and a stranger with 172',
  async (t) => {
    const parent = await service.makeSender()
    await makeDock(service, parent)
    const set = (body: Record<string, unknown>) =>
      ask(parent.apiKey, SET, { username: 'dock2', action: 'increase', amount: 5, ...body })
    refusedWith(t, await set({ action: 'decrease' }), 175, /the subaccount has no limit/)
    for (const amount of [0, -5, 1.5, 1e13, 1e300, '', 'many', '-5', '1e3', '0x10', '99999999999999']) {
      refusedWith(t, await set({ amount }), 175, `amount ${amount}`)
    }
    refusedWith(t, await set({ action: 'double' }), 113, /action.*increase or decrease/)
    refusedWith(t, await set({ action: undefined }), 113, /\[action\] not passed/)
    refusedWith(t, await set({ amount: undefined }), 113, /\[amount\] not passed/)
    refusedWith(t, await set({ username: 'nowhere' }), 172)
    refusedWith(t, await ask(parent.apiKey, DETAILS, { username: 'nowhere' }), 172)
    t.match((await ask(parent.apiKey, DETAILS, { username: 'dock2' })).json?.data, {
      credit_type: 'unlimited',
      available: null,
      one_time_credit: null,
    })
  },
)

t.test('credit that is given, taken, used and given back by parallel calls is neither lost nor made', async (t) => {
  const parent = await service.makeSender()
  const docks = [await makeDock(service, parent, 'one'), await makeDock(service, parent, 'two')]
  await core.credits.limit(parent.accountId, 1000)
  const names = ['one', 'two']
  const statuses = new Map<number, number>()
  for (let round = 0; round < 5; round++) {
    const calls = Array.from({ length: 60 }, (_, at) => {
      const username = names[at % 2] as string
      const body = { username, action: at % 3 === 0 ? 'decrease' : 'increase', amount: 1 + ((at * 7) % 40) }
      return at % 4 === 3 ? send(docks[at % 2] as Sender) : ask(parent.apiKey, SET, body).then(({ status }) => status)
    })
    for (const status of await Promise.all(calls)) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const balances = await Promise.all([parent, ...docks].map(oneTime))
    const used = await sql<{ used: number }[]>`
      select coalesce(sum(used), 0)::int as used from credit_usage where account_id = any(${docks.map((dock) => dock.accountId)})`
    const total = balances.reduce<number>((sum, balance) => sum + (balance ?? 0), 0) + (used[0]?.used ?? 0)
    // Before its first credit a subaccount draws on the parent, so that is all there is, too.
    t.equal(total, 1000, `${balances.join(' + ')} and what was used`)
    t.ok(balances.every((balance) => (balance ?? 0) >= 0))
  }
  t.ok((statuses.get(200) ?? 0) > 50)
  t.same(
    [...statuses.keys()].filter((status) => ![200, 400, 402].includes(status)),
    [],
    'nothing but done and refused',
  )
  t.equal(await core.audit.firstBroken(parent.accountId), null)
})

t.test(
  'the rest of a deleted subaccount’s credit returns to the account exactly, even while others give or send',
  async (t) => {
    const parent = await service.makeSender()
    await core.credits.limit(parent.accountId, 500)
    for (let round = 0; round < 8; round++) {
      const dock = await makeDock(service, parent, 'dock2')
      t.equal((await ask(parent.apiKey, SET, { username: 'dock2', action: 'increase', amount: 50 })).status, 200)
      const before = (await oneTime(parent)) as number
      const [gone, ...others] = await Promise.all([
        ask(parent.apiKey, '/v2/subaccounts/delete', { username: 'dock2' }),
        ask(parent.apiKey, SET, { username: 'dock2', action: 'increase', amount: 10 }),
        ask(parent.apiKey, SET, { username: 'dock2', action: 'decrease', amount: 5 }),
        ...Array.from({ length: 10 }, () => sendV2(base, dock.apiKey, v2Body(dock))),
      ])
      const sent = others.slice(2).filter(({ status }) => status === 200).length
      const returned = (gone as CallAnswer & { json: { data: { returned_credit: number } } }).json.data.returned_credit
      t.equal(await oneTime(parent), before + 50 - sent, `${returned} came back, ${sent} were used`)
      t.equal((await core.credits.show(dock.accountId)).available, 0)
    }
  },
)

t.test('turned unlimited, a subaccount gives its credit back and draws on the account', async (t) => {
  const parent = await service.makeSender()
  const dock = await makeDock(service, parent)
  await core.credits.limit(parent.accountId, 10)
  await ask(parent.apiKey, SET, { username: 'dock2', action: 'increase', amount: 4 })
  await ask(parent.apiKey, '/v2/subaccounts/updateSubaccount', { username: 'dock2', credit_type: 'unlimited' })
  t.same([await oneTime(parent), await oneTime(dock)], [10, null])
  t.equal(await send(dock), 200)
  t.equal(await oneTime(parent), 9)
})

t.test('setRecurringCredit sets an amount per period, in both spellings (E36)', async (t) => {
  const parent = await service.makeSender()
  await makeDock(service, parent)
  const terms = {
    username: 'dock2',
    recurring_credit: 100,
    timeperiod: 'monhtly',
    start_date: '2026-02-01',
    end_date: '2099-12-31',
    status: 'active',
  }
  const answer = await ask(parent.apiKey, RECURRING, terms)
  t.strictSame(answer.json?.data, {
    username: 'dock2',
    credit_type: 'one_time_credit',
    available: 100,
    one_time_credit: 0,
    recurring_credit: {
      amount: 100,
      left: 100,
      timeperiod: 'monthly',
      start_date: '2026-02-01',
      end_date: '2099-12-31',
      status: 'active',
    },
  })
  t.equal((await ask(parent.apiKey, RECURRING, { ...terms, timeperiod: 'monthly' })).text, answer.text)
  const form = asForm({ ...terms, timeperiod: 'daily' })
  const daily = await call(base, { path: RECURRING, headers: { api_key: parent.apiKey, ...FORM }, body: form })
  t.match(daily.json?.data, { recurring_credit: { timeperiod: 'daily' } })
  const weekly = await ask(parent.apiKey, '/v2/setrecurringcreditdetails', { ...terms, timeperiod: 'weekly' })
  t.match(weekly.json?.data, { recurring_credit: { timeperiod: 'weekly' } })
  const off = await ask(parent.apiKey, RECURRING, { ...terms, status: 'inactive' })
  t.match(off.json?.data, { available: 0, recurring_credit: { status: 'inactive', left: 0 } })
})

t.test('setRecurringCredit refuses what makes no sense', async (t) => {
  const parent = await service.makeSender()
  await makeDock(service, parent)
  const terms = { username: 'dock2', recurring_credit: 100, timeperiod: 'daily', start_date: '2026-02-01' }
  const set = (body: Record<string, unknown>) =>
    ask(parent.apiKey, RECURRING, { ...terms, end_date: '2026-12-31', status: 'active', ...body })
  for (const recurring_credit of [0, -1, 1.5, 'lots', 1e15]) refusedWith(t, await set({ recurring_credit }), 175)
  refusedWith(t, await set({ timeperiod: 'yearly' }), 113, /timeperiod/)
  refusedWith(t, await set({ timeperiod: 'constructor' }), 113, /timeperiod/)
  refusedWith(t, await set({ status: 'on' }), 113, /status/)
  refusedWith(t, await set({ start_date: '01-02-2026' }), 160)
  refusedWith(t, await set({ end_date: '2026-02-30' }), 160)
  refusedWith(t, await set({ end_date: '2026-02-01' }), 161)
  refusedWith(t, await set({ username: 'nowhere' }), 172)
  for (const parameter of ['username', 'recurring_credit', 'timeperiod', 'start_date', 'end_date']) {
    refusedWith(t, await set({ [parameter]: undefined }), 113, new RegExp(`\\[${parameter}\\] not passed`))
  }
  refusedWith(t, await set({ status: 'inactive' }), 175, /no limit/)
  await core.credits.limit(parent.accountId, 100)
  refusedWith(t, await set({}), 175, /the parent account has a limit/)
})

t.test('recurring credit is used before the rest, starts again each period and does not pile up', async (t) => {
  const own = await makeService(t)
  const url = await own.openApi()
  const parent = await own.makeSender()
  const dock = await makeDock(own, parent)
  const terms = { username: 'dock2', recurring_credit: 2, timeperiod: 'daily', start_date: day(0), end_date: day(3) }
  await ask(parent.apiKey, SET, { username: 'dock2', action: 'increase', amount: 1 }, url)
  t.equal((await ask(parent.apiKey, RECURRING, terms, url)).status, 200)
  const left = async () => {
    const { available, oneTime } = await own.core.credits.show(dock.accountId)
    return [available, oneTime]
  }
  t.same(await left(), [3, 1])
  t.equal(await send(dock, url), 200)
  t.same(await left(), [2, 1], 'the recurring part goes first')
  await ask(parent.apiKey, RECURRING, terms, url)
  t.same(await left(), [2, 1], 'said again, nothing is given twice')

  await moveClock(own.sql, '48 hours')
  t.same(await left(), [3, 1], 'two days later it is what it was, not more')
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(dock, url)))
  t.same(answers.sort(), [...Array(3).fill(200), ...Array(17).fill(402)], 'twenty at once at the start of a period')
  t.same(await left(), [0, 0])

  await moveClock(own.sql, '72 hours')
  t.same(await left(), [2, 0], 'the last day')
  await moveClock(own.sql, '96 hours')
  t.same(await left(), [0, 0], 'it is over')
  t.equal(await send(dock, url), 402)
})

t.test('what is given and taken appears in the audit log of both', async (t) => {
  const parent = await service.makeSender()
  const dock = await makeDock(service, parent)
  await ask(parent.apiKey, SET, { username: 'dock2', action: 'increase', amount: 9 })
  await ask(parent.apiKey, SET, { username: 'dock2', action: 'decrease', amount: 2 })
  for (const accountId of [parent.accountId, dock.accountId]) {
    const entries = await core.audit.list(accountId, { after: 0, limit: 100 })
    t.match(entries.slice(-2), [
      { action: 'credit.increase', object: 'subaccount dock2', before: { credit: 'unlimited' }, after: { credit: 9 } },
      { action: 'credit.decrease', before: { credit: 9 }, after: { credit: 7 }, address: '127.0.0.1' },
    ])
  }
})
