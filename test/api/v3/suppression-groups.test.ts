import t from 'tap'
import { erase } from '../../helpers/erase.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import type { CallAnswer } from '../call.ts'
import { type AskOptions, ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const service = await makeService(t)
const url = await service.openApi()

/** A new account that calls v3. */
async function makeCaller() {
  const sender = await service.makeSender()
  const call = (method: string, path: string, body?: unknown): Promise<CallAnswer> =>
    ask(url, { method, path, key: sender.apiKey, body } as AskOptions)
  const makeGroup = async (name = 'News'): Promise<number> => {
    const { status, json } = await call('POST', '/asm/groups', { name, description: 'Monthly' })
    if (status !== 201) throw new Error(`the group was not made: ${status}`)
    return Number(json?.id)
  }
  return { ...sender, call, makeGroup }
}

const ADA = 'ada@example.org'
const BOB = 'bob@example.org'

t.test('P40: addresses are suppressed for a group', async (t) => {
  proves(t, 'operation.addToGroup', 'operation.listGroupSuppressions')
  const { call, makeGroup } = await makeCaller()
  const id = await makeGroup()
  const added = await call('POST', `/asm/groups/${id}/suppressions`, { recipient_emails: [ADA, BOB] })
  t.equal(added.status, 201)
  t.match(added.headers['content-type'], /^application\/json/)
  t.strictSame(added.json, { recipient_emails: [ADA, BOB], global: false })
  t.strictSame((await call('GET', `/asm/groups/${id}/suppressions`)).json, [ADA, BOB])
  t.strictSame((await call('GET', `/asm/groups/${id}/suppressions?limit=1&offset=1`)).json, [BOB])
})

t.test('duplicates and long lists of addresses are echoed unchanged, and each address is listed once', async (t) => {
  proves(t, 'asm.recipient_emails')
  const { call, makeGroup } = await makeCaller()
  const id = await makeGroup()
  const many = Array.from({ length: 1500 }, (_, at) => `p${at}@harbor.example`)
  const sent = [...many, 'Ada@Example.org', ADA, ADA]
  const { status, json } = await call('POST', `/asm/groups/${id}/suppressions`, { recipient_emails: sent })
  t.equal(status, 201)
  t.strictSame(json?.recipient_emails, sent)
  t.equal(((await call('GET', `/asm/groups/${id}/suppressions`)).json as unknown as string[]).length, 1501)
  refusedV3(t, await call('POST', `/asm/groups/${id}/suppressions`, { recipient_emails: ['no address'] }), [
    ...([400, /valid email address/, 'recipient_emails'] as const),
  ])
  t.equal((await call('POST', `/asm/groups/${id}/suppressions`, { recipient_emails: [] })).status, 201)
})

t.test('addresses for an unknown group are suppressed for all mail', async (t) => {
  proves(t, 'asm.unknown-group')
  const { call } = await makeCaller()
  const added = await call('POST', '/asm/groups/77/suppressions', { recipient_emails: [ADA] })
  t.equal(added.status, 201)
  t.strictSame(added.json, { recipient_emails: [ADA], global: true })
  t.strictSame((await call('GET', `/asm/suppressions/global/${ADA}`)).json, { recipient_email: ADA })
  refusedV3(t, await call('POST', '/asm/groups/abc/suppressions', { recipient_emails: [ADA] }), [
    ...([404, 'resource not found'] as const),
  ])
})

t.test('P41 and P42: an address is suppressed for all mail, looked up and removed', async (t) => {
  proves(t, 'operation.addToGlobal', 'operation.viewGlobal', 'operation.removeFromGlobal')
  const { call } = await makeCaller()
  const added = await call('POST', '/asm/suppressions/global', { recipient_emails: [ADA] })
  t.equal(added.status, 201)
  t.strictSame(added.json, { recipient_emails: [ADA] })
  t.strictSame((await call('GET', `/asm/suppressions/global/${encodeURIComponent(ADA)}`)).json, {
    recipient_email: ADA,
  })
  for (let time = 0; time < 2; time++) {
    const lifted = await call('DELETE', `/asm/suppressions/global/${ADA}`)
    t.equal(lifted.status, 204)
    t.equal(lifted.text, '')
  }
  t.strictSame((await call('GET', `/asm/suppressions/global/${ADA}`)).json, {})
})

t.test('lifting leaves alone what is suppressed for another reason', async (t) => {
  const { call, accountId } = await makeCaller()
  await service.core.suppressions.add({ accountId, scope: 'address', value: ADA, reason: 'hardbounce' })
  t.strictSame((await call('GET', `/asm/suppressions/global/${ADA}`)).json, {})
  t.equal((await call('DELETE', `/asm/suppressions/global/${ADA}`)).status, 204)
  t.equal((await service.core.suppressions.holding(accountId, ADA)).length, 1)
})

t.test('an unsubscribe that is added or imported replaces a bounce, and a complaint stays', async (t) => {
  const { call, accountId } = await makeCaller()
  const { core, sql } = service
  const imported = async () => {
    const rows = [['unsubscribe', 1] as const, ['hardbounce', 2] as const].map(([reason, line]) => ({
      line,
      email: ADA,
      reason,
      since: `2026-01-0${3 - line}`,
    }))
    const all = (async function* () {
      yield rows
    })()
    await core.suppressions.import({ accountId, by: { keyId: null, address: null }, rows: all, atomic: true })
  }
  const added = async () => {
    await call('POST', '/asm/suppressions/global', { recipient_emails: [ADA] })
  }
  for (const [how, add] of Object.entries({ added, imported })) {
    for (const [before, after] of [
      ['hardbounce', 'unsubscribe'],
      ['manual', 'unsubscribe'],
      ['abuse', 'abuse'],
    ] as const) {
      await core.suppressions.addAll({ accountId, emails: [ADA], reason: before })
      await add()
      await add()
      const [entry] = await sql`
        select reason, manual_since is not null as manual, held_until from suppressions where account_id = ${accountId} and value = ${ADA}`
      t.strictSame({ ...entry }, { reason: after, manual: before === 'manual', held_until: null }, `${before}, ${how}`)
      t.equal((await call('DELETE', `/suppression/bounces/${ADA}`)).status, 404)
      t.strictSame((await call('GET', `/asm/suppressions/global/${ADA}`)).json, { recipient_email: ADA })
      await core.suppressions.removeAll({ accountId, emails: [ADA] })
    }
  }
  await core.suppressions.addAll({ accountId, emails: [ADA], reason: 'unsubscribe' })
  await core.suppressions.addAll({ accountId, emails: [ADA], reason: 'hardbounce' })
  t.match(await core.suppressions.holding(accountId, ADA), [{ reason: 'unsubscribe' }], 'never the other way')
})

t.test('P43: an invalid list is rejected', async (t) => {
  proves(t, 'asm.recipient_emails')
  const { call } = await makeCaller()
  refusedV3(t, await call('POST', '/asm/suppressions/global', { recipient_emails: ADA }), [
    ...([400, 'Invalid type. Expected: array, given: string.', 'recipient_emails'] as const),
  ])
  refusedV3(t, await call('POST', '/asm/suppressions/global', {}), [400, /required/, 'recipient_emails'])
})

t.test('P44: groups are created, listed, changed and deleted', async (t) => {
  proves(t, 'operation.createGroup', 'operation.listGroups', 'operation.viewGroup', 'operation.editGroup')
  proves(t, 'operation.deleteGroup')
  const { call } = await makeCaller()
  const made = await call('POST', '/asm/groups', { name: 'News', description: 'Monthly', is_default: true })
  t.equal(made.status, 201)
  const id = Number(made.json?.id)
  t.strictSame(made.json, { id, name: 'News', description: 'Monthly', is_default: true })
  await call('POST', `/asm/groups/${id}/suppressions`, { recipient_emails: [ADA, BOB] })
  const shown = { name: 'News', id, description: 'Monthly', is_default: true, unsubscribes: 2 }
  t.strictSame((await call('GET', '/asm/groups')).json, [shown])
  t.strictSame((await call('GET', `/asm/groups/${id}`)).json, shown)
  const other = Number((await call('POST', '/asm/groups', { name: 'Offers', is_default: true })).json?.id)
  t.strictSame(
    ((await call('GET', '/asm/groups')).json as unknown as { is_default: boolean }[]).map(
      ({ is_default }) => is_default,
    ),
    [false, true],
    'one group at most is the default',
  )
  t.strictSame(
    ((await call('GET', `/asm/groups?id=${id}&id=999`)).json as unknown as { id: number }[]).map(({ id }) => id),
    [id],
  )
  const changed = await call('PATCH', `/asm/groups/${id}`, { name: 'Letters' })
  t.equal(changed.status, 201)
  t.strictSame(changed.json, { id, name: 'Letters', description: 'Monthly', is_default: false })
  t.equal((await call('DELETE', `/asm/groups/${other}`)).status, 204)
  refusedV3(t, await call('GET', `/asm/groups/${other}`), [404, 'resource not found'])
  const next = Number((await call('POST', '/asm/groups', { name: 'Offers' })).json?.id)
  t.ok(next > other, 'a number is not given again')
})

t.test('a group needs a name that is free and not too long, and there is an end to groups', async (t) => {
  const { call, makeGroup, accountId } = await makeCaller()
  await makeGroup('News')
  refusedV3(t, await call('POST', '/asm/groups', { name: 'news' }), [400, /Failed to add group/])
  refusedV3(t, await call('POST', '/asm/groups', { name: 'n'.repeat(31) }), [400, /1 to 30/, 'name'])
  refusedV3(t, await call('POST', '/asm/groups', { name: ' ' }), [400, /1 to 30/, 'name'])
  refusedV3(t, await call('POST', '/asm/groups', { name: 'a', description: 'd'.repeat(101) }), [
    ...([400, /0 to 100/, 'description'] as const),
  ])
  refusedV3(t, await call('POST', '/asm/groups', { name: 7 }), [400, /Expected: string/, 'name'])
  await service.sql`insert into unsubscribe_groups (account_id, id, name, description)
                    select ${accountId}, n, 'g' || n, '' from generate_series(1000, 1198) n`
  refusedV3(t, await call('POST', '/asm/groups', { name: 'one too many' }), [400, /at most 200/])
})

t.test('the groups of an address and the addresses of groups are listed', async (t) => {
  proves(t, 'operation.listGroupsSuppressed', 'operation.viewGroupsOf', 'operation.searchGroupSuppressions')
  proves(t, 'operation.removeFromGroup')
  const { call, makeGroup } = await makeCaller()
  const [news, offers] = [await makeGroup('News'), await makeGroup('Offers')]
  await call('POST', `/asm/groups/${news}/suppressions`, { recipient_emails: [ADA, BOB] })
  const search = await call('POST', `/asm/groups/${news}/suppressions/search`, {
    recipient_emails: [ADA, 'carl@example.org'],
  })
  t.strictSame([search.status, search.json], [200, [ADA]])
  const now = Date.now() / 1000
  const all = (await call('GET', '/asm/suppressions')).json as unknown as Record<string, unknown>[]
  t.strictSame(
    all.map(({ created_at: _, ...rest }) => rest),
    [ADA, BOB].map((email) => ({ email, group_id: news, group_name: 'News' })),
  )
  t.ok(all.every(({ created_at }) => Math.abs(Number(created_at) - now) < 60))
  const of = (id: number, name: string, suppressed: boolean) => ({
    id,
    name,
    description: 'Monthly',
    is_default: false,
    suppressed,
  })
  t.strictSame((await call('GET', `/asm/suppressions/${ADA}`)).json, {
    suppressions: [of(news, 'News', true), of(offers, 'Offers', false)],
  })
  t.equal((await call('DELETE', `/asm/groups/${news}/suppressions/${ADA}`)).status, 204)
  t.strictSame((await call('GET', `/asm/groups/${news}/suppressions`)).json, [BOB])
})

t.test('P45: bounces are listed, looked up and removed', async (t) => {
  proves(t, 'operation.listBounces', 'operation.viewBounces', 'operation.deleteBounces', 'operation.deleteBouncesOf')
  const { call, accountId } = await makeCaller()
  const gone = ['gone@example.org', 'left@example.org', 'moved@example.org']
  for (const value of gone) {
    await service.core.suppressions.add({ accountId, scope: 'address', value, reason: 'hardbounce' })
  }
  const now = Math.floor(Date.now() / 1000)
  const list = (await call('GET', `/suppression/bounces?start_time=${now - 60}&limit=500`)).json as unknown as {
    email: string
    created: number
  }[]
  t.strictSame(
    list.map(({ email }) => email),
    gone,
  )
  t.strictSame(Object.keys(list[0] ?? {}), ['created', 'email', 'reason', 'status'])
  t.ok(list.every(({ created }) => Math.abs(created - now) < 60))
  t.strictSame((await call('GET', `/suppression/bounces?end_time=${now - 3600}`)).json, [])
  t.match((await call('GET', '/suppression/bounces?email=le')).json, [{ email: 'left@example.org' }])
  t.match((await call('GET', '/suppression/bounces/moved@example.org')).json, [{ email: 'moved@example.org' }])
  t.strictSame((await call('GET', '/suppression/bounces/moved@example')).json, [])
  t.equal((await call('DELETE', '/suppression/bounces/gone@example.org')).status, 204)
  refusedV3(t, await call('DELETE', '/suppression/bounces/gone@example.org'), [404, 'resource not found'])
  t.equal((await call('DELETE', '/suppression/bounces', { emails: ['left@example.org'] })).status, 204)
  refusedV3(t, await call('DELETE', '/suppression/bounces', {}), [400, 'Bad Request'])
  refusedV3(t, await call('DELETE', '/suppression/bounces', { delete_all: true, emails: ['a@example.org'] }), [
    ...([400, 'Bad Request'] as const),
  ])
  t.equal((await call('DELETE', '/suppression/bounces', { delete_all: true })).status, 204)
  t.strictSame((await call('GET', '/suppression/bounces')).json, [])
})

t.test('who unsubscribes while the bounces are removed stays unsubscribed', async (t) => {
  const { accountId, call } = await makeCaller()
  const reasons = async () => (await service.core.suppressions.holding(accountId, ADA)).map(({ reason }) => reason)
  for (const [path, reason, status] of [
    ['/suppression/bounces', 'hardbounce', 204],
    [`/suppression/bounces/${ADA}`, 'hardbounce', 404],
    [`/asm/suppressions/global/${ADA}`, 'manual', 204],
  ] as const) {
    await service.core.suppressions.addAll({ accountId, emails: [ADA], reason })
    const turned = reason === 'manual' ? 'abuse' : 'unsubscribe'
    let removal: Promise<CallAnswer> | undefined
    await service.sql.begin(async (transaction) => {
      await transaction`update suppressions set reason = ${turned} where account_id = ${accountId} and value = ${ADA}`
      removal = call('DELETE', path, path === '/suppression/bounces' ? { delete_all: true } : undefined)
      await until('the removal waits for the entry', async () => {
        const [waiting] = await service.sql`
          select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from suppressions%' and pid <> pg_backend_pid()
             and datname = current_database()`
        return waiting !== undefined
      })
    })
    t.equal((await removal)?.status, status)
    t.strictSame(await reasons(), [turned], path)
    await service.core.suppressions.removeAll({ accountId, emails: [ADA] })
  }
})

t.test('the removal of a bounce leaves the unsubscribe of an erased recipient', async (t) => {
  const { accountId, call } = await makeCaller()
  const { core } = service
  await core.suppressions.addAll({ accountId, emails: [ADA], reason: 'unsubscribe' })
  await erase(core, accountId, [ADA])
  await core.suppressions.addAll({ accountId, emails: [ADA], reason: 'hardbounce' })
  t.equal((await call('DELETE', `/suppression/bounces/${ADA}`)).status, 204)
  t.match(await core.suppressions.holding(accountId, ADA), [{ reason: 'unsubscribe' }])
})

t.test('an address of an internationalized domain is found and removed as it was written', async (t) => {
  const { accountId, call, makeGroup } = await makeCaller()
  const id = await makeGroup()
  const [written, stored] = ['ada@bücher.example', 'ada@xn--bcher-kva.example']
  const path = encodeURIComponent(written)
  await call('POST', `/asm/groups/${id}/suppressions`, { recipient_emails: [written] })
  const search = await call('POST', `/asm/groups/${id}/suppressions/search`, { recipient_emails: [written, BOB] })
  t.strictSame(search.json, [written])
  await service.core.suppressions.addAll({ accountId, emails: [written], reason: 'hardbounce' })
  t.match((await call('GET', `/suppression/bounces/${path}`)).json, [{ email: stored }])
  t.match((await call('GET', `/suppression/bounces?email=${path}`)).json, [{ email: stored }])
  t.equal((await call('DELETE', `/suppression/bounces/${path}`)).status, 204)
  await service.core.suppressions.addAll({ accountId, emails: [written], reason: 'hardbounce' })
  t.equal((await call('DELETE', '/suppression/bounces', { emails: [written] })).status, 204)
  t.strictSame((await call('GET', '/suppression/bounces')).json, [])
})

t.test('a bounce shows the reply of the server', async (t) => {
  const { call, accountId } = await makeCaller()
  const email = 'said@example.org'
  await service.core.suppressions.add({ accountId, scope: 'address', value: email, reason: 'hardbounce' })
  await service.sql`
    with moment as (select (lpad(to_hex((extract(epoch from service_now()) * 1000)::bigint), 12, '0') || '70008000000000000001')::uuid as id),
    finished as (
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
                                       attempt, finished_at)
      select id, 0, ${accountId}, 'bounced', ${email}, ${email}, 'example.org', 'to', 1, service_now() from moment)
    insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, code, enhanced, reply)
    select id, 0, 1, ${accountId}, 1, 'bounced', service_now(), 5, 550, '5.1.1', 'no such user' from moment`
  t.match((await call('GET', `/suppression/bounces/${email}`)).json, [
    { reason: '550 5.1.1 no such user', status: '5.1.1' },
  ])
})

t.test(
  'spam complaints and unsubscribes have separate lists, and are not among blocks and invalid addresses',
  async (t) => {
    proves(t, 'operation.listSpamReports', 'operation.viewSpamReports', 'operation.deleteSpamReports')
    proves(t, 'operation.deleteSpamReportsOf', 'operation.listUnsubscribes', 'operation.viewUnsubscribes')
    const { call, accountId } = await makeCaller()
    await service.core.suppressions.add({ accountId, scope: 'address', value: ADA, reason: 'abuse' })
    await service.core.suppressions.add({ accountId, scope: 'address', value: BOB, reason: 'unsubscribe' })
    t.match((await call('GET', '/suppression/spam_reports')).json, [{ email: ADA, ip: '' }])
    t.match((await call('GET', '/suppression/unsubscribes')).json, [{ email: BOB }])
    t.match((await call('GET', `/suppression/spam_reports/${ADA}`)).json, [{ email: ADA }])
    t.match((await call('GET', `/suppression/unsubscribes/${BOB}`)).json, [{ email: BOB }])
    proves(t, 'operation.viewSpamReport', 'operation.deleteSpamReport')
    t.match(
      (await call('GET', `/suppression/spam_report/${ADA}`)).json,
      [{ email: ADA }],
      'as official examples write it',
    )
    t.equal((await call('DELETE', `/suppression/spam_report/${BOB}`)).status, 404)
    t.equal((await call('DELETE', `/suppression/spam_report/${ADA}`)).status, 204)
    t.strictSame((await call('GET', `/suppression/spam_report/${ADA}`)).json, [])
    await service.core.suppressions.add({ accountId, scope: 'address', value: ADA, reason: 'abuse' })
    t.equal((await call('DELETE', '/suppression/spam_reports', { emails: [BOB] })).status, 204)
    t.match((await call('GET', '/suppression/unsubscribes')).json, [{ email: BOB }], 'of another list')
    t.equal((await call('DELETE', `/suppression/spam_reports/${ADA}`)).status, 204)
    t.strictSame((await call('GET', '/suppression/spam_reports')).json, [])
    for (const list of ['blocks', 'invalid_emails']) {
      t.strictSame((await call('GET', `/suppression/${list}`)).json, [])
      t.strictSame((await call('GET', `/suppression/${list}/${ADA}`)).json, [])
      t.equal((await call('DELETE', `/suppression/${list}`, { delete_all: true })).status, 204)
      refusedV3(t, await call('DELETE', `/suppression/${list}/${ADA}`), [404, 'resource not found'])
    }
    refusedV3(t, await call('POST', '/suppression/unsubscribes', { recipient_emails: [ADA] }), [
      405,
      'method not allowed',
    ])
  },
)
