import type { Sql } from '@postrider/core'
import { ROUTES } from '@postrider/dashboard'
import t, { type Test } from 'tap'
import { fillQueue } from '../core/delivery/filled-queue.ts'
import { LOOPBACK } from '../delivery/webhook-worker.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, type TestDashboard, type TestMember, type TestVisitor } from './dashboard.ts'
import { everyRole, mayVisit, ROLES, type Route, withoutSession } from './roles.ts'
import { DELETION, ELSEWHERE, formOf, HOOK, type Ids, lateness, MARK, OPEN } from './wall-forms.ts'

/** The path of a route with the other account's ids. */
function pathOf({ path }: Route, accountId: number, ids: Ids): string {
  const filled = Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), path)
  if (filled.includes(':')) throw new Error(`this test knows no id of the other account for ${path}`)
  return `/app/${accountId}${filled}`
}

/** Makes one of everything for an account, and returns the ids by their places in paths. */
async function fill(t: Test, { service, url, member }: TestDashboard, grace: TestMember, domain: string) {
  const { accountId } = grace
  const { core } = service
  const at = `/app/${accountId}`
  const found = async (path: string, pattern: RegExp): Promise<string> => {
    const id = pattern.exec(await (await grace.get(`${at}${path}`)).text())?.[1]
    if (id === undefined) throw new Error(`no ${pattern} on ${path}`)
    return id
  }
  const add = async (path: string, form: Record<string, string>): Promise<void> => {
    const { status } = await grace.post(`${at}${path}`, form)
    if (status >= 400) throw new Error(`${path}: ${status}`)
  }
  const { secret, key } = await core.auth.createKey({ accountId, name: MARK })
  const send = async (extra: Record<string, unknown>): Promise<string> => {
    const { status, body } = await sendV2(url, secret, v2Body({ domain } as never, { subject: MARK, ...extra }))
    if (!body.data) throw new Error(`sendEmail: ${status}`)
    return body.data.message_id
  }
  const scheduled = await send({ schedule: Math.floor(Date.now() / 1000) + 86_400 })
  const message = await send({ attachments: [{ fileName: `${MARK}.txt`, fileContent: 'UGxhbg==' }] })
  await add('/templates', { name: MARK })
  await add('/domains', { domain: `${MARK}.example` })
  await add('/suppressions', { entries: `${MARK}@harbor.example` })
  const receiver = await startReceiver(t)
  await add('/webhooks', { url: `${receiver.url}/${MARK}`, events: 'sent' })
  const [{ request } = { request: '' }] = await service.sql<{ request: string }[]>`
    insert into webhook_deliveries (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status,
                                    milliseconds, types, events)
    select id, 1, ${accountId}, gen_random_uuid(), now(), 0, 1, 1, 200, 1, '{sent}', 1 from webhooks where account_id = ${accountId}
    returning (extract(epoch from at) * 1000000)::bigint::text as request`
  await add('/subaccounts', { username: MARK, email: `${MARK}@harbor.example` })
  await add('/team', { email: `${MARK}@harbor.example`, role: 'viewer' })
  const makeExport = async () => {
    await add('/exports', { from: '2026-01-01', to: '2026-01-02', events: 'sent', format: 'csv' })
    const [job] = await core.exports.list(accountId, { limit: 1 })
    return job?.id
  }
  const done = await makeExport()
  while (await core.exports.workSome());
  const template = await found('/templates', /templates\/(d-[\w-]+)/)
  const version = await found(`/templates/${template}`, /versions\/([\w-]{30,})/)
  return {
    '/keys/:id': `/keys/${key.id}`,
    '/templates/:id': `/templates/${template}`,
    ':version': version,
    ':domain': `${MARK}.example`,
    ':request': request,
    '/webhooks/:id': `/webhooks/${await found('/webhooks', /webhooks\/(\d+)/)}`,
    '/subaccounts/:name': `/subaccounts/${MARK}`,
    '/messages/:message/reschedule': `/messages/${scheduled}/reschedule`,
    ':message': message,
    ':index': '0',
    '/team/invitations/:id': `/team/invitations/${await found('/team', /invitations\/(\d+)\/revoke/)}`,
    ':user': String((await member(accountId, 'support')).userId),
    '/exports/:id/cancel': `/exports/${await makeExport()}/cancel`,
    '/exports/:id': `/exports/${done}`,
    [HOOK]: `${receiver.url}/${MARK}`,
  }
}

/** A digest of the account's rows in each table, without the use of keys, which is stored later. */
async function rowsOf(sql: Sql, accountId: number): Promise<Record<string, string | null>> {
  const tables = await sql<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.column_name = 'account_id' and c.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1`
  const digests: Record<string, string | null> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ digest: string | null }[]>`
      select md5(string_agg(row, '|' order by row)) as digest
        from (select (to_jsonb(x) - 'last_used_at')::text as row from ${sql(name)} x where account_id = ${accountId}) rows`
    if (row?.digest) digests[name] = row.digest
  }
  return digests
}

/** The query that a page needs. */
function queryOf({ path }: Route, ids: Ids): string {
  if (path.endsWith('/queue/place')) return '?name=google'
  return path.endsWith('compare') ? `?from=${ids[':version']}&to=${ids[':version']}` : ''
}

/** Why a page did not do its work; empty if it did. */
async function problemOf(response: Response): Promise<string> {
  if (response.status < 400) return ''
  const said = /role="alert">(.{0,900})/s.exec(await response.text())?.[1]?.replace(/<[^>]*>?/g, '')
  return `${response.status} ${said}`
}

t.test('no page or form of an account does anything for others, and each does its work for its owner', async (t) => {
  const dashboard = await openDashboard(t, LOOPBACK)
  const { service, owner, member, url } = dashboard
  const ada = await owner()
  const other = await service.makeSender()
  const grace = await member(other.accountId, 'owner')
  const ids = await fill(t, dashboard, grace, other.domain)
  const roles = await everyRole(dashboard, ada, other.accountId)
  const mallory = await member((await service.core.accounts.create('souq')).id, 'owner')
  const before = await rowsOf(service.sql, other.accountId)
  t.ok(Object.keys(before).length > 10, Object.keys(before).join(' '))
  const routes = ROUTES.filter((route) => route.for === 'account')
  const ask = (visitor: TestVisitor, route: Route, path: string) =>
    route.method === 'GET' ? visitor.get(path + queryOf(route, ids)) : visitor.post(path, formOf(route, ids))
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    const path = pathOf(route, other.accountId, ids)
    for (const [who, visitor] of Object.entries(withoutSession(url, grace))) {
      const response = await ask(visitor, route, path)
      t.equal(response.status, 303, `${name} as ${who}`)
      t.match(response.headers.get('location'), /^\/app\/login/)
    }
    for (const role of ROLES) {
      if (mayVisit(role, route) && route.method === 'POST') continue
      const { status } = await ask(roles[role], route, path)
      t.ok(mayVisit(role, route) ? status < 400 : status === 403, `${name} as ${role}: ${status}`)
    }
    t.equal((await ask(mallory, route, path)).status, 404, `${name} as the owner of another account`)
    if (!route.path.includes(':')) continue
    const response = await ask(mallory, route, pathOf(route, mallory.accountId, ids))
    t.equal(response.status, 404, `${name} within another account`)
    t.notMatch(await response.text(), MARK, name)
  }
  t.strictSame(await rowsOf(service.sql, other.accountId), before)
  for (const route of routes.toSorted((a, b) => lateness(a) - lateness(b))) {
    const problem = await problemOf(await ask(grace, route, pathOf(route, other.accountId, ids)))
    t.equal(problem, '', `${route.method} ${route.path} as its owner; its form is in wall-forms.ts`)
  }
})

t.test("pages of the operator are for operators, a user's own for users, and the others are named", async (t) => {
  const dashboard = await openDashboard(t)
  const { service, owner, member, url } = dashboard
  const { core } = service
  const ada = await owner()
  const { id } = await core.accounts.create('souq')
  const grace = await member(id, 'owner')
  await core.sources.add({ name: 'quay', address: '203.0.113.7', helo: 'mta.ship.example' })
  await fillQueue(service.sql, { accountIds: [id], count: 3 })
  const plan = await core.queue.plan('hold', { all: true })
  const deletion = await core.retention.deletions.plan(id, 7)
  const ids = { '/accounts/:id': `/accounts/${id}`, ':id': String(plan.id), [DELETION]: String(deletion.id) }
  const nameOf = ({ method, path }: Route) => `${method} ${path}`
  const routes = ROUTES.filter((route) => route.for !== 'account' && route.for !== 'everybody')
  const ask = (visitor: TestVisitor, route: Route) => {
    const path = pathOf(route, 0, ids).replace('/app/0', '/app')
    return route.method === 'GET' ? visitor.get(path + queryOf(route, ids)) : visitor.post(path, formOf(route, ids))
  }
  t.strictSame(ROUTES.filter((route) => route.for === 'everybody').map(nameOf), OPEN)
  const before = await rowsOf(service.sql, id)
  for (const route of routes) {
    for (const [who, visitor] of Object.entries(withoutSession(url, grace)))
      t.equal((await ask(visitor, route)).status, 303, `${nameOf(route)} as ${who}`)
    if (route.for === 'operators')
      t.equal((await ask(grace, route)).status, 404, `${nameOf(route)} as the owner of an account`)
  }
  t.strictSame(await rowsOf(service.sql, id), before)
  for (const route of routes.toSorted((a, b) => lateness(a) - lateness(b))) {
    if (nameOf(route) in ELSEWHERE) continue
    t.equal(await problemOf(await ask(route.for === 'operators' ? ada : grace, route)), '', nameOf(route))
  }
})
