import type { Test } from 'tap'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { asForm, type CallAnswer, call, errorText, FORM, JSON_TYPE } from '../call.ts'

const service = await makeService(t)
const url = await service.openApi()

interface Shown {
  readonly id: number
  readonly api_key: string
  readonly state: string
  readonly [name: string]: unknown
}

type Body = Record<string, unknown>

const ask = (apiKey: string, path: string, body?: Body, method = 'POST', headers: Record<string, string> = {}) =>
  call(url, {
    method,
    path: `/v2${path}`,
    headers: { ...JSON_TYPE, api_key: apiKey, ...headers },
    ...(body ? { body } : {}),
  })
const dataOf = ({ json, text }: CallAnswer): Shown => {
  if (!json?.data) throw new Error(text)
  return json.data as Shown
}
const create = async (apiKey: string, body: Body) => dataOf(await ask(apiKey, '/keys', { name: 'shop', ...body }))
const listed = async (apiKey: string): Promise<Shown[]> => dataOf(await ask(apiKey, '/getKeys')) as unknown as Shown[]
const entriesOf = async ({ accountId }: Sender) => {
  const entries = await service.core.audit.list(accountId, { after: 0, limit: 100 })
  return entries.filter(({ keyId }) => keyId !== null)
}
const refused = (t: Test, answer: CallAnswer, status: number, code: number, said: RegExp) => {
  t.match(answer, { status, json: { error_info: { error_code: code }, message: 'Error in Key api call' } }, answer.text)
  t.match(errorText(answer), said)
}

t.test('createKey answers the secret once, with what the key may do, and the key works at once', async (t) => {
  const sender = await service.makeSender()
  const answer = await ask(sender.apiKey, '/keys', {
    name: ' till ',
    scopes: ['keys', 'audit'],
    networks: ['127.0.0.0/8', '2001:db8::/32'],
    restrictions: {
      templates: [5, 5, 6],
      sender_domains: ['Ship.Example'],
      recipient_domains: ['bücher.example'],
      recipients_per_hour: 500,
      calls_per_minute: 60,
      until: '2031-01-01',
    },
  })
  const made = dataOf(answer)
  t.match(made, {
    id: Number,
    name: 'till',
    state: 'active',
    scopes: ['keys', 'audit'],
    networks: ['127.0.0.0/8', '2001:db8::/32'],
    created_at: /^20/,
    last_used_at: null,
    revoked_at: null,
    replaced_by: null,
  })
  t.strictSame(made.restrictions, {
    templates: [5, 6],
    sender_domains: ['ship.example'],
    recipient_domains: ['xn--bcher-kva.example'],
    recipients_per_hour: 500,
    calls_per_minute: 60,
    until: '2031-01-01T00:00:00.000Z',
  })
  t.match(made.api_key, /^pr_[0-9A-Za-z]{33}$/)
  t.equal(made.prefix, made.api_key.slice(0, 9))
  t.equal(answer.headers['cache-control'], 'no-store')
  const list = await ask(made.api_key, '/keys', undefined, 'GET')
  t.equal(list.status, 200)
  t.notMatch(list.text, made.api_key)
  t.notMatch(list.text, /hash|api_key/)
  const [entry] = await entriesOf(sender)
  t.match(entry, {
    action: 'key.create',
    object: `key ${made.id}`,
    before: null,
    address: '127.0.0.1',
    after: { name: 'till', scopes: ['keys', 'audit'], recipientsPerHour: 500, until: '2031-01-01T00:00:00.000Z' },
  })
  t.notMatch(
    JSON.stringify(await service.core.audit.list(sender.accountId, { after: 0, limit: 100 })),
    made.api_key.slice(9),
  )
})

t.test('a form says the same as JSON, in brackets or as text', async (t) => {
  const { apiKey } = await service.makeSender()
  const rights = {
    name: 'form',
    scopes: ['send', 'keys'],
    networks: ['10.0.0.0/8'],
    restrictions: {
      templates: [5, 6],
      sender_domains: ['ship.example'],
      recipients_per_hour: 7,
      until: '2031-01-01T10:00',
    },
  }
  const spellings = [
    asForm(rights),
    'name=form&scopes=send,keys&networks=10.0.0.0/8&restrictions[templates]=5,6&restrictions[sender_domains]=ship.example' +
      '&restrictions[recipients_per_hour]=7&restrictions[until]=2031-01-01T10:00Z',
  ]
  for (const body of spellings) {
    const headers = { ...FORM, api_key: apiKey }
    const made = dataOf(await call(url, { path: '/v2/keys', headers, body }))
    t.match(made, {
      name: 'form',
      scopes: ['send', 'keys'],
      networks: ['10.0.0.0/8'],
      restrictions: {
        templates: [5, 6],
        sender_domains: ['ship.example'],
        recipients_per_hour: 7,
        until: '2031-01-01T10:00:00.000Z',
      },
    })
    const revoked = await call(url, { path: '/v2/keys/revoke', headers, body: `id=${made.id}` })
    t.equal(dataOf(revoked).state, 'revoked')
  }
})

t.test('what cannot be a key is refused with 113, and nothing is made', async (t) => {
  const sender = await service.makeSender()
  const wrong: readonly [body: Body, said: RegExp][] = [
    [{ scopes: ['send'] }, /\[name\] not passed/],
    [{ name: ' ' }, /\[name\]/],
    [{ name: 'a\u0007b' }, /\[name\]/],
    [{ name: 'x'.repeat(101) }, /\[name\]/],
    [{ name: 'a', scopes: ['admin'] }, /\[scopes\]/],
    [{ name: 'a', scopes: [] }, /\[scopes\]/],
    [{ name: 'a', scope: ['send'] }, /did you mean scopes/],
    [{ name: 'a', networks: ['10.0.0.0/33'] }, /\[networks\]/],
    [{ name: 'a', restrictions: { template: [5] } }, /\[restrictions\].*additional/],
    [{ name: 'a', restrictions: { templates: [] } }, /\[restrictions\.templates\]/],
    [{ name: 'a', restrictions: { templates: [0] } }, /\[restrictions\.templates/],
    [{ name: 'a', restrictions: { sender_domains: ['a b'] } }, /\[restrictions\.sender_domains\]/],
    [{ name: 'a', restrictions: { recipients_per_hour: 0 } }, /\[restrictions\.recipients_per_hour\]/],
    [{ name: 'a', restrictions: { recipients_per_hour: '7' } }, /\[restrictions\.recipients_per_hour\]/],
    [{ name: 'a', restrictions: { calls_per_minute: 2_000_000_000 } }, /\[restrictions\.calls_per_minute\]/],
    [{ name: 'a', restrictions: { until: '2020-01-01' } }, /\[restrictions\.until\].*in the future/],
    [{ name: 'a', restrictions: { until: 'tomorrow' } }, /\[restrictions\.until\]/],
    [{ name: 'a', restrictions: { until: '2031-13-01' } }, /\[restrictions\.until\]/],
    [{ name: 'a', restrictions: 'none' }, /\[restrictions\]/],
  ]
  for (const [body, said] of wrong) refused(t, await ask(sender.apiKey, '/keys', body), 400, 113, said)
  refused(t, await ask(sender.apiKey, '/keys', {}), 400, 110, /Blank/)
  t.equal((await listed(sender.apiKey)).length, 1)
  t.equal((await entriesOf(sender)).length, 0)
})

t.test('updateKey changes what is named, and every process goes by it within five seconds', async (t) => {
  const sender = await service.makeSender()
  const made = await create(sender.apiKey, {
    scopes: ['audit'],
    restrictions: { templates: [5], calls_per_minute: 1000 },
  })
  t.equal((await ask(made.api_key, '/audit')).status, 200)
  const changed = dataOf(
    await ask(
      sender.apiKey,
      `/keys/${made.id}`,
      { networks: ['192.0.2.0/24'], restrictions: { recipients_per_hour: 10, calls_per_minute: null } },
      'PATCH',
    ),
  )
  t.match(changed, { name: 'shop', scopes: ['audit'], networks: ['192.0.2.0/24'] })
  t.strictSame(changed.restrictions, { templates: [5], recipients_per_hour: 10 }, 'null lifts, what is not named stays')
  await until('the refusal', async () => (await ask(made.api_key, '/audit')).status === 403, 5000)
  const [entry] = (await entriesOf(sender)).slice(-1)
  t.match(entry, {
    action: 'key.update',
    object: `key ${made.id}`,
    before: { networks: [], callsPerMinute: 1000 },
    after: { networks: ['192.0.2.0/24'], recipientsPerHour: 10 },
  })
  const freed = dataOf(
    await ask(sender.apiKey, '/keys/update', { id: made.id, name: 'free', networks: null, restrictions: null }),
  )
  t.match(freed, { name: 'free', networks: [] })
  t.strictSame(freed.restrictions, {})
  const before = (await entriesOf(sender)).length
  t.equal((await ask(sender.apiKey, '/keys/update', { id: made.id, name: 'free' })).status, 200)
  t.equal((await entriesOf(sender)).length, before, 'what changes nothing is not noted')
})

t.test('a revoked key is refused with 101 in every process within five seconds', async (t) => {
  const sender = await service.makeSender()
  const made = [await create(sender.apiKey, {}), await create(sender.apiKey, {})]
  for (const { api_key } of made) t.equal((await ask(api_key, '/audit')).status, 200)
  const [first, second] = made as [Shown, Shown]
  t.match(dataOf(await ask(sender.apiKey, `/keys/${first.id}`, undefined, 'DELETE')), {
    state: 'revoked',
    revoked_at: /^20/,
  })
  t.match(dataOf(await ask(sender.apiKey, '/keys/revoke', { id: second.id })), { state: 'revoked' })
  for (const { api_key } of made) {
    await until('the refusal', async () => (await ask(api_key, '/audit')).status === 401, 5000)
  }
  const before = (await entriesOf(sender)).length
  t.match(dataOf(await ask(sender.apiKey, '/keys/revoke', { id: second.id })), { state: 'revoked' })
  t.equal((await entriesOf(sender)).length, before, 'revoking it again changes nothing')
  t.match((await entriesOf(sender)).at(-1), { action: 'key.revoke', after: { revokedAt: /^20/ } })
})

t.test('rotateKey gives a new secret the same rights, and the old one its overlap', async (t) => {
  const sender = await service.makeSender()
  const rights = { scopes: ['audit'], networks: ['127.0.0.1'], restrictions: { sender_domains: [sender.domain] } }
  const old = await create(sender.apiKey, rights)
  const next = dataOf(await ask(sender.apiKey, '/keys/rotate', { id: old.id, overlap_hours: 1 }))
  t.match(next, {
    name: 'shop',
    scopes: ['audit'],
    networks: ['127.0.0.1/32'],
    restrictions: old.restrictions,
    state: 'active',
  })
  t.not(next.api_key, old.api_key)
  const { restrictions } = next.replaces as { restrictions: { until: string } }
  t.match(next.replaces, { id: old.id, state: 'active', replaced_by: next.id })
  t.ok(Math.abs(Date.parse(restrictions.until) - Date.now() - 3_600_000) < 60_000, restrictions.until)
  for (const { api_key } of [old, next]) t.equal((await ask(api_key, '/audit')).status, 200)
  refused(t, await ask(sender.apiKey, '/keys/rotate', { id: old.id }), 400, 113, /already rotated/)

  const last = dataOf(await ask(sender.apiKey, `/keys/${next.id}/rotate`, { overlap_hours: 0 }))
  await until('the end of the old one', async () => (await ask(next.api_key, '/audit')).status === 401, 5000)
  t.equal((await ask(last.api_key, '/audit')).status, 200)
  t.match((await entriesOf(sender)).slice(-2), [
    { action: 'key.rotate', object: `key ${old.id}`, after: { replacedBy: next.id, overlapHours: 1 } },
    { action: 'key.rotate', object: `key ${next.id}`, after: { replacedBy: last.id, overlapHours: 0 } },
  ])
  for (const overlap_hours of [-1, 721, 1.5])
    refused(t, await ask(sender.apiKey, '/keys/rotate', { id: last.id, overlap_hours }), 400, 113, /\[overlap_hours\]/)
  refused(t, await ask(sender.apiKey, '/keys/rotate', { id: old.id }), 400, 113, /already rotated/)
  await ask(sender.apiKey, '/keys/revoke', { id: last.id })
  refused(t, await ask(sender.apiKey, '/keys/rotate', { id: last.id }), 400, 113, /revoked or expired/)
})

t.test('a key past its end is refused with 101, and the list says it has expired', async (t) => {
  const sender = await service.makeSender()
  const made = await create(sender.apiKey, { restrictions: { until: new Date(Date.now() + 3_600_000).toISOString() } })
  t.equal((await ask(made.api_key, '/audit')).status, 200)
  await moveClock(service.sql, '61 minutes')
  await until('its end', async () => (await ask(made.api_key, '/audit')).status === 401, 8000)
  t.match(
    (await listed(sender.apiKey)).find(({ id }) => id === made.id),
    { state: 'expired' },
  )
  await moveClock(service.sql, '0 hours')
})

t.test('a key without the scope of keys is refused with 103', async (t) => {
  const sender = await service.makeSender()
  const made = await create(sender.apiKey, { scopes: ['send', 'audit'] })
  for (const path of ['/keys', '/getKeys', '/keys/update', '/keys/rotate', '/keys/revoke']) {
    refused(t, await ask(made.api_key, path, { id: made.id, name: 'x' }), 403, 103, /scope required for this call/)
  }
})

t.test('keys that never were are refused with 180', async (t) => {
  const { apiKey } = await service.makeSender()
  for (const path of ['/keys/update', '/keys/rotate', '/keys/revoke'])
    refused(t, await ask(apiKey, path, { id: 2_000_000_000 }), 400, 180, /Invalid key id/)
  refused(t, await ask(apiKey, '/keys/nine', undefined, 'DELETE'), 400, 180, /Invalid key id/)
})

t.test('the list comes in pages and says how many there are', async (t) => {
  const { apiKey } = await service.makeSender()
  for (const name of ['one', 'two']) await create(apiKey, { name })
  const first = await ask(apiKey, '/keys?limit=2', undefined, 'GET')
  const [, second] = dataOf(first) as unknown as Shown[]
  t.equal(first.json?.totalRecords, 3)
  t.match(dataOf(await ask(apiKey, `/getKeys?after=${second?.id}`, undefined, 'GET')), [{ name: 'two' }])
})

t.test('an account has at most 1,000 keys at a time: 181', async (t) => {
  const { accountId, apiKey } = await service.makeSender()
  await service.sql`
    insert into api_keys (account_id, prefix, hash) select ${accountId}, 'pr_', sha256((${accountId} || ' ' || n)::bytea)
      from generate_series(1, 999) as n`
  refused(t, await ask(apiKey, '/keys', { name: 'one more' }), 400, 181, /at most 1000 active keys/)
  const keys = await service.sql`select id from api_keys where account_id = ${accountId} order by id limit 2`
  await ask(apiKey, '/keys/revoke', { id: keys[1]?.id })
  t.equal((await ask(apiKey, '/keys', { name: 'one more' })).status, 200, 'a revoked one makes room')
})

t.test('when a key was last used shows soon, and is written once however often it is used', async (t) => {
  const { apiKey } = await service.makeSender()
  const made = await create(apiKey, {})
  await service.sql`create table uses (at timestamptz default now())`
  await service.sql.unsafe(`
    create function count_use() returns trigger language plpgsql as $$ begin insert into uses default values; return null; end $$;
    create trigger count_use after update of last_used_at on api_keys for each row when (new.id = ${made.id}) execute function count_use()`)
  const usedAt = async () => (await listed(apiKey)).find(({ id }) => id === made.id)?.last_used_at
  const writes = async () => (await service.sql`select count(*)::int as times from uses`)[0]?.times
  t.equal(await usedAt(), null)
  for (let time = 0; time < 30; time++) await ask(made.api_key, '/audit')
  await until('the note', async () => (await usedAt()) ?? undefined)
  const before = await writes()
  for (let time = 0; time < 30; time++) await ask(made.api_key, '/audit')
  const later = await create(apiKey, {})
  await ask(later.api_key, '/audit')
  await until(
    'the note of a later use',
    async () => (await listed(apiKey)).find(({ id }) => id === later.id)?.last_used_at ?? undefined,
  )
  t.equal(await writes(), before)
})
