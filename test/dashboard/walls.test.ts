import type { Sql } from '@postrider/core'
import { ROUTES } from '@postrider/dashboard'
import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, type TestDashboard, type TestMember } from './dashboard.ts'

type Route = (typeof ROUTES)[number]

/** A text in the name of everything of the other account. */
const MARK = 'northwind-secret'

/** Fields of forms, so that they are not refused for what is missing. */
const FORM = {
  name: 'taken',
  username: 'taken',
  email: 'taken@harbor.example',
  role: 'viewer',
  amount: '5',
  value: 'increase',
  url: 'https://taken.example/',
  subject: 'taken',
  html: '<p>taken</p>',
  to: 'taken@harbor.example',
  after: '0',
}

/** The path of a route with the other account's ids. */
function pathOf({ path }: Route, accountId: number, ids: Readonly<Record<string, string>>): string {
  const filled = Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), path)
  if (filled.includes(':')) throw new Error(`this test knows no id of the other account for ${path}`)
  return `/app/${accountId}${filled}`
}

/** Makes one of everything for an account, and returns the ids by their places in paths. */
async function fill({ service, url }: TestDashboard, grace: TestMember, domain: string) {
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
  const { status } = await sendV2(url, secret, v2Body({ domain } as never, { subject: MARK }))
  if (status !== 200) throw new Error(`sendEmail: ${status}`)
  await add('/templates', { name: MARK })
  await add('/domains', { domain: `${MARK}.example` })
  await add('/suppressions', { entries: `${MARK}@harbor.example` })
  await add('/webhooks', { url: `https://${MARK}.example/hook`, events: 'sent' })
  const [{ request } = { request: '' }] = await service.sql<{ request: string }[]>`
    insert into webhook_deliveries (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status, milliseconds)
    select id, 1, ${accountId}, gen_random_uuid(), now(), 0, 1, 1, 200, 1 from webhooks where account_id = ${accountId}
    returning (extract(epoch from at) * 1000000)::bigint::text as request`
  await add('/subaccounts', { username: MARK, email: `${MARK}@harbor.example` })
  await add('/team', { email: `${MARK}@harbor.example`, role: 'viewer' })
  await add('/exports', { from: '2026-01-01', to: '2026-01-02', events: 'sent', format: 'csv' })
  const [job] = await core.exports.list(accountId, { limit: 1 })
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
    ':message': await found('/messages', /messages\/([0-9a-f]{32})/),
    ':index': '0',
    '/team/invitations/:id': `/team/invitations/${await found('/team', /invitations\/(\d+)\/revoke/)}`,
    ':user': String(grace.userId),
    '/exports/:id': `/exports/${job?.id}`,
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

t.test('no page or form reaches what belongs to another account, by its real ids', async (t) => {
  const dashboard = await openDashboard(t)
  const { service, owner, member } = dashboard
  const ada = await owner()
  const other = await service.makeSender()
  const grace = await member(other.accountId, 'owner')
  const ids = await fill(dashboard, grace, other.domain)
  const before = await rowsOf(service.sql, other.accountId)
  t.ok(Object.keys(before).length > 10, Object.keys(before).join(' '))
  const routes = ROUTES.filter((route) => route.for === 'account' && route.path.includes(':'))
  t.ok(routes.length > 40)
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    const theirs = pathOf(route, other.accountId, ids)
    if (route.method === 'GET' && !/files|file$/.test(theirs)) {
      const query = route.path.endsWith('compare') ? `?from=${ids[':version']}&to=${ids[':version']}` : ''
      t.equal((await grace.get(theirs + query)).status < 400, true, `${name}: it is there`)
    }
    const path = pathOf(route, ada.accountId, ids)
    const response = await (route.method === 'GET' ? ada.get(path) : ada.post(path, FORM))
    t.equal(response.status, 404, name)
    t.notMatch(await response.text(), MARK, name)
  }
  t.strictSame(await rowsOf(service.sql, other.accountId), before)
})
