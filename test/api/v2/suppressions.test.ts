import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { type CallAnswer, call, errorText, FORM, JSON_TYPE } from '../call.ts'

const service = await makeService(t)
const url = await service.openApi()

type Ask = (
  path: string,
  body?: Record<string, unknown> | string,
  options?: { method?: string; headers?: Record<string, string> },
) => Promise<CallAnswer>

/** An account of its own, and its calls. */
async function makeCaller(): Promise<{ accountId: number; ask: Ask }> {
  const { accountId, apiKey } = await service.makeSender()
  return {
    accountId,
    ask: (path, body, { method = 'POST', headers = {} } = {}) =>
      call(url, {
        path: `/v2/${path}`,
        method,
        headers: { ...JSON_TYPE, api_key: apiKey, ...headers },
        ...(body === undefined ? {} : { body }),
      }),
  }
}

function dataOf<T = Record<string, unknown>>({ status, json, text }: CallAnswer): T {
  if (status !== 200) throw new Error(`${status} ${text}`)
  return json?.data as T
}

const list = async (ask: Ask, query = ''): Promise<Record<string, unknown>[]> =>
  dataOf(await ask(`suppression${query}`, undefined, { method: 'GET' }))

const DAY = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/

t.test('addresses and domains are added and counted, once however often they come (E20)', async (t) => {
  const { ask } = await makeCaller()
  const body = { email: 'x@harbor.example,y@harbor.example', domain: 'spam.example' }
  t.strictSame((await ask('suppression', body)).json, { data: { added: 3 }, message: 'Success', error_info: null })
  t.strictSame(dataOf(await ask('suppression', body)), { added: 0 })
  t.strictSame(
    dataOf(await ask('suppression', { email: 'X@Harbor.example, z@harbor.example, ,z@harbor.example' })),
    { added: 1 },
    'the same mailbox in other letters is the same',
  )
  t.match(await list(ask), [
    { domain: 'spam.example', type: 'domain', reason: 'manual', addedTime: DAY },
    { email: 'x@harbor.example', type: 'email', reason: 'manual', addedTime: DAY },
    { email: 'y@harbor.example' },
    { email: 'z@harbor.example' },
  ])
})

t.test('an HTML form adds and removes as JSON does (E21)', async (t) => {
  const { ask } = await makeCaller()
  const form = { headers: FORM }
  t.strictSame(dataOf(await ask('suppression', 'email=x%40harbor.example', form)), { added: 1 })
  t.strictSame(dataOf(await ask('suppression', 'email[]=y%40h.example&email[]=z%40h.example&reason=abuse', form)), {
    added: 2,
  })
  t.match(await list(ask, '?reason=abuse'), [{ email: 'y@h.example' }, { email: 'z@h.example' }])
  t.strictSame(dataOf(await ask('suppression/remove', 'email=y%40h.example%2Cz%40h.example', form)), { removed: 2 })
})

t.test('an entry is removed, and counted if it was there (E22)', async (t) => {
  const { ask } = await makeCaller()
  await ask('suppression', { email: ['x@harbor.example', 'y@harbor.example'], domain: ['spam.example'] })
  const remove = (body: Record<string, unknown>) => ask('suppression', body, { method: 'DELETE' })
  t.strictSame((await remove({ email: 'x@harbor.example' })).json, {
    data: { removed: 1 },
    message: 'Success',
    error_info: null,
  })
  t.strictSame(dataOf(await remove({ email: 'x@harbor.example' })), { removed: 0 })
  t.strictSame(dataOf(await ask('suppression/remove', { email: 'y@harbor.example', domain: 'spam.example' })), {
    removed: 2,
  })
  t.strictSame(await list(ask), [])
})

const LONG = Array.from({ length: 10_001 }, (_, at) => `r${at}@harbor.example`)

const WRONG: readonly (readonly [what: string, body: Record<string, unknown> | string, code: number, said: RegExp])[] =
  [
    ['X113b: neither email nor domain', { foo: 1 }, 113, /^Parameter \[email\] not passed$/],
    ['blank text', { email: ' , ' }, 113, /^Parameter \[email\] not passed$/],
    ['an empty object', {}, 110, /^Blank content/],
    ['an empty body', '', 110, /^Blank content/],
    ['X140: a bad address', { email: 'nope' }, 140, /^Invalid email address: entry 1, "nope"$/],
    [
      'one bad address among good ones',
      { email: 'a@x.example,nope,b@x.example' },
      140,
      /^Invalid email address: entry 2, "nope"$/,
    ],
    ['an address that is no UTF-8', { email: 'a\ufffd@x.example' }, 140, /^Invalid email address: entry 1, /],
    ['a list with a blank', { email: ['a@x.example', ''] }, 140, /^Invalid email address: entry 2, ""$/],
    ['X141: a bad domain', { domain: 'no domain' }, 141, /^Invalid email domain: entry 1, "no domain"$/],
    [
      'a bad domain beside good addresses',
      { email: 'a@x.example', domain: 'b..example' },
      141,
      /^Invalid email domain: entry 1, "b\.\.example"$/,
    ],
    ['a number for an address', { email: 7 }, 140, /Invalid email address/],
    ['a group that is none', { email: 'a@x.example', group: 'news' }, 113, /\[group\] is invalid/],
    [
      'a domain in a group',
      { domain: 'x.example', group: 5 },
      113,
      /\[domain\] is invalid: cannot be combined with a group/,
    ],
    ['more than ten thousand', { email: LONG }, 121, /10000 addresses and domains. Import longer lists as CSV/],
    ['more than ten thousand in one text', { email: `${LONG.join(',')}${',,'.repeat(9000)}` }, 121, /10000 addresses/],
  ]

for (const [what, body, code, said] of WRONG) {
  t.test(`${what} is refused with ${code} by add and remove, and nothing is changed`, async (t) => {
    const { ask } = await makeCaller()
    await ask('suppression', { email: 'a@x.example' })
    for (const path of ['suppression', 'suppression/remove']) {
      const answer = await ask(path, body)
      t.equal(answer.status, code === 121 ? 413 : 400)
      t.match(answer.json, { message: 'Error in Suppression api call', error_info: { error_code: code } })
      t.match(errorText(answer), said)
      t.notOk('data' in (answer.json ?? {}))
    }
    t.match((await list(ask)).length, 1)
  })
}

t.test('the reason of an added entry is the one given, never the operator’s', async (t) => {
  const { ask } = await makeCaller()
  t.strictSame(dataOf(await ask('suppression', { email: 'x@harbor.example', reason: 'unsubscribe' })), { added: 1 })
  t.strictSame(dataOf(await ask('suppression', { email: 'x@harbor.example', reason: 'hardbounce' })), { added: 0 })
  t.match(await list(ask), [{ reason: 'unsubscribe' }], 'the first reason stays')
  t.strictSame(dataOf(await ask('suppression', { email: 'x@harbor.example', reason: 'abuse' })), { added: 0 })
  t.match(await list(ask), [{ reason: 'abuse' }], 'unless it is joined by a complaint')
  t.match((await ask('suppression', { email: 'y@harbor.example', reason: 'global' })).json, {
    error_info: { error_code: 113 },
  })
})

t.test('the list is read by address, domain, reason and group, in pages, and counted', async (t) => {
  const { ask } = await makeCaller()
  const names = Array.from({ length: 7 }, (_, at) => `r${at}@harbor.example`)
  await ask('suppression', { email: names })
  await ask('suppression', { email: 's@harbor.example', domain: 'spam.example', reason: 'abuse' })
  await ask('suppression', { email: 's@harbor.example', group: 5 })
  const page = await ask('suppression?limit=3&offset=2', undefined, { method: 'GET' })
  t.match(page.json, { totalRecords: 10, message: 'Success', error_info: null })
  t.strictSame(
    dataOf<{ email: string }[]>(page).map(({ email }) => email),
    names.slice(2, 5),
  )
  t.match(await list(ask, '?email=R3%40harbor.example,r4%40harbor.example'), [{ email: names[3] }, { email: names[4] }])
  t.match(await list(ask, '?domain=spam.example'), [{ domain: 'spam.example', reason: 'abuse' }])
  t.equal((await list(ask, '?reason=abuse')).length, 2)
  t.strictSame(await list(ask, '?reason=hardbounce'), [])
  t.match(await list(ask, '?group=5'), [{ email: 's@harbor.example', type: 'group', group: 5 }])
  t.equal((await list(ask, '?email=s%40harbor.example')).length, 2)
  t.match((await ask('getSuppression', { reason: 'abuse', limit: 1 })).json, { totalRecords: 2 })
  t.match((await ask('getSuppression', 'reason=abuse&limit=1', { headers: FORM })).json, { totalRecords: 2 })
  t.match((await ask('getSuppression')).json, { totalRecords: 10 }, 'nothing need be asked for')
})

t.test('a page that is out of bounds, or a filter that cannot be, is refused', async (t) => {
  const { ask } = await makeCaller()
  for (const [query, code] of [
    ['limit=x', 113],
    ['offset=100000', 113],
    ['reason=none', 113],
    ['email=nope', 140],
    ['domain=no%20domain', 141],
  ] as const) {
    const answer = await ask(`suppression?${query}`, undefined, { method: 'GET' })
    t.match(answer.json, { error_info: { error_code: code } }, query)
  }
})

t.test('the check returns whether an address would get mail, and what suppresses it', async (t) => {
  const { ask } = await makeCaller()
  const check = async (email: string, group?: number) =>
    dataOf(await ask('suppression/check', { email, ...(group ? { group } : {}) }))
  t.strictSame(await check('lena@harbor.example'), { email: 'lena@harbor.example', suppressed: false, heldBy: [] })
  await ask('suppression', { email: 'lena@harbor.example', reason: 'unsubscribe' })
  await ask('suppression', { domain: 'harbor.example' })
  await ask('suppression', { email: 'lena@harbor.example', group: 5 })
  await service.core.suppressions.addAll({ accountId: 0, domains: ['harbor.example'], reason: 'global' })
  t.match(await check('Lena@HARBOR.example'), {
    suppressed: true,
    heldBy: [
      { scope: 'address', value: 'lena@harbor.example', reason: 'unsubscribe', since: DAY },
      { scope: 'domain', value: 'harbor.example', reason: 'manual' },
      { scope: 'global', value: 'harbor.example', reason: 'global' },
    ],
  })
  t.match(await check('lena@harbor.example', 5), {
    heldBy: [{ scope: 'address' }, { scope: 'domain' }, { scope: 'group', group: 5 }, { scope: 'global' }],
  })
  const removed = await ask('suppression/remove', { email: 'lena@harbor.example', domain: 'harbor.example' })
  t.strictSame(dataOf(removed), { removed: 2 }, 'the group’s and the operator’s stay')
  t.match(await check('lena@harbor.example', 6), { suppressed: true, heldBy: [{ scope: 'global' }] })
  t.strictSame(
    dataOf(await ask('suppression/remove', { email: 'lena@harbor.example', group: 5 })),
    { removed: 1 },
    'a group’s entry goes when the group is named',
  )
  await service.core.suppressions.removeAll({ accountId: 0, domains: ['harbor.example'] })
  t.strictSame((await check('lena@harbor.example', 5)).suppressed, false)
  t.match((await ask('suppression/check', { email: 'nope' })).json, { error_info: { error_code: 140 } })
  t.match((await ask('suppression/check', {})).json, { error_info: { error_code: 110 } })
  const byGet = await ask('suppression/check?email=a%40b.example', undefined, { method: 'GET' })
  t.strictSame(dataOf(byGet).suppressed, false)
})

t.test('each change is one entry of the audit log, which knows no address', async (t) => {
  const { accountId, ask } = await makeCaller()
  await ask('suppression', { email: 'x@harbor.example,y@harbor.example', domain: 'spam.example' })
  await ask('suppression', { email: 'x@harbor.example' })
  await ask('suppression/remove', { email: 'x@harbor.example' })
  const entries = await service.core.audit.list(accountId, { after: 0, limit: 100 })
  const own = entries.filter(({ object }) => object === 'suppressions')
  const hash = /^[0-9a-f]{32}$/
  t.match(own, [
    { action: 'suppression.add', after: { added: 3, emails: 2, domains: 1, hashes: [hash, hash, hash] }, before: null },
    { action: 'suppression.remove', before: { removed: 1, emails: 1, hashes: [hash] }, after: null },
  ])
  t.equal(own.length, 2, 'what changed nothing is no change')
  t.type(own[0]?.keyId, 'number')
  const hashesOf = (values: unknown) => (values as { hashes: string[] }).hashes
  t.equal(hashesOf(own[0]?.after)[0], hashesOf(own[1]?.before)[0], 'one address, one hash')
  t.notMatch(JSON.stringify(own), /harbor|spam/)
})

t.test('an automatic entry ends when its time has come, and stays once it is added by hand', async (t) => {
  const { accountId, ask } = await makeCaller()
  for (const value of ['kept@harbor.example', 'ended@harbor.example', 'again@harbor.example']) {
    await service.sql`
      insert into suppressions (account_id, scope, value, reason, held_until)
      values (${accountId}, 'address', ${value}, 'hardbounce', service_now() + interval '10 days')`
  }
  t.equal((await list(ask)).length, 3)
  t.strictSame(dataOf(await ask('suppression', { email: 'kept@harbor.example' })), { added: 0 })
  await moveClock(service.sql, '11 days')
  t.match(await list(ask), [{ email: 'kept@harbor.example', reason: 'hardbounce' }])
  t.match((await ask('getSuppression')).json, { totalRecords: 1 })
  t.strictSame(dataOf(await ask('suppression/check', { email: 'ended@harbor.example' })).suppressed, false)
  t.strictSame(dataOf(await ask('suppression/remove', { email: 'ended@harbor.example' })), { removed: 0 })
  t.strictSame(dataOf(await ask('suppression', { email: 'again@harbor.example' })), { added: 1 }, 'it is a new one')
  t.match(await list(ask), [{ email: 'again@harbor.example', reason: 'manual' }, { email: 'kept@harbor.example' }])
})

t.test('parallel calls for the same addresses count each once', async (t) => {
  const { ask } = await makeCaller()
  const names = Array.from({ length: 50 }, (_, at) => `r${at}@harbor.example`)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => ask('suppression', { email: at % 2 ? names : names.toReversed() })),
  )
  t.equal(
    answers.reduce((sum, answer) => sum + Number(dataOf(answer).added), 0),
    50,
  )
})
