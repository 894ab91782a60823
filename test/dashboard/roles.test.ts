import type { Role } from '@postrider/core'
import { ROUTES } from '@postrider/dashboard'
import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { openDashboard, type TestDashboard } from './dashboard.ts'
import { everyRole, mayVisit, ROLES, type Route } from './roles.ts'

/** An account, and a visitor in each of its roles. */
async function newAccount(dashboard: TestDashboard) {
  const operator = await dashboard.owner()
  const { id } = await dashboard.service.core.accounts.create('northwind')
  return { id, visitors: await everyRole(dashboard, operator, id) }
}

t.test('viewers see numbers only, support sees no content, and only owners manage members', async (t) => {
  const rights = (role: Role) =>
    new Set(ROUTES.flatMap((one) => (one.for === 'account' && mayVisit(role, one) ? [one.right ?? 'any'] : [])))
  const within = (role: Role, allowed: readonly string[]) =>
    t.strictSame(
      [...rights(role)].filter((right) => !allowed.includes(right)),
      [],
      role,
    )
  within('viewer', ['any', 'stats'])
  within('support', ['any', 'stats', 'events', 'resend', 'export', 'suppressions', 'suppressions.read', 'send.read'])
  for (const role of ROLES) t.equal(rights(role).has('team'), role === 'owner', role)
  for (const role of ROLES) t.equal(rights(role).has('content'), role === 'owner' || role === 'developer', role)
  const writes = ROUTES.filter((one) => one.for === 'account' && one.method === 'POST' && mayVisit('observer', one))
  t.strictSame(
    writes.map(({ path }) => path),
    [],
    'an operator who looks at an account changes nothing in it',
  )
})

/** The route of an account that a link or a form of a page leads to; undefined for all other links. */
function routeOf(method: string, path: string, accountId: number): Route | undefined {
  const [own = ''] = path.split(/[?#]/)
  return ROUTES.find(
    (one) =>
      one.for === 'account' &&
      one.method === method &&
      new RegExp(`^/app/${accountId}${one.path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(own),
  )
}

t.test(
  'a user who may read sees the page, and no page has a link or a form that its visitor may not use',
  async (t) => {
    const dashboard = await openDashboard(t)
    const { core } = dashboard.service
    const { id, visitors } = await newAccount(dashboard)
    await core.auth.createKey({ accountId: id, name: 'shop' })
    await core.suppressions.addAll({ accountId: id, emails: ['x@harbor.example'] })
    await dashboard.service.giveKey('ship.example')
    await core.domains.add({ accountId: id, name: 'ship.example' })
    const reads = (role: Role) =>
      ['domains', 'domains/ship.example', 'suppressions', 'keys', 'templates', 'webhooks', 'settings', 'audit'].filter(
        (path) => mayVisit(role, routeOf('GET', `/app/${id}/${path}`, id) as Extract<Route, { for: 'account' }>),
      )
    t.strictSame(reads('observer'), reads('owner'), 'an operator who looks at an account sees what it is made of')
    t.strictSame(reads('support'), ['suppressions'])
    t.strictSame(reads('viewer'), [])
    for (const role of ROLES) {
      for (const route of ROUTES) {
        if (route.for !== 'account' || route.method !== 'GET' || !mayVisit(role, route)) continue
        const path = `/app/${id}${route.path.replace(':domain', 'ship.example')}`
        if (path.includes(':')) continue
        const response = await visitors[role].get(path)
        if (!response.headers.get('content-type')?.startsWith('text/html')) continue
        const text = await response.text()
        const leads = [
          ...[...text.matchAll(/ href="([^"]+)"/g)].map(([, to = '']) => routeOf('GET', to, id)),
          ...[...text.matchAll(/<form[^>]* action="([^"]+)"/g)].map(([form, to = '']) =>
            routeOf(form.includes('method="post"') ? 'POST' : 'GET', to, id),
          ),
        ]
        for (const to of leads) {
          if (to?.for === 'account' && !mayVisit(role, to))
            t.fail(`${role}: ${route.path} leads to ${to.method} ${to.path}`)
        }
      }
    }
  },
)

t.test('a number on the overview leads to the list behind it, for those who may see the list', async (t) => {
  const dashboard = await openDashboard(t)
  const { id, visitors } = await newAccount(dashboard)
  for (const [role, tiles] of [
    ['owner', 5],
    ['support', 5],
    ['viewer', 0],
  ] as const) {
    const text = await (await visitors[role].get(`/app/${id}`)).text()
    const leads = [...text.matchAll(/<a class="tile" href="([^"]+)"/g)].map(([, to]) => to as string)
    t.equal(leads.length, tiles, role)
    t.notOk(leads.includes(`/app/${id}`), `${role}: no number leads to its own page`)
    for (const to of leads) t.equal((await visitors[role].get(to)).status, 200, `${role}: ${to}`)
  }
})

t.test('an operator who looks at a template cannot send its form, not even with the Enter key', async (t) => {
  const dashboard = await openDashboard(t)
  const { id, visitors } = await newAccount(dashboard)
  for (const kind of ['dynamic', 'merge']) {
    const made = await visitors.developer.post(`/app/${id}/templates`, { name: `order-${kind}`, kind })
    const [path = ''] = (made.headers.get('location') ?? '').split('?')
    const posts = (text: string) => /<form[^>]* method="post" action="[^"]*templates/.test(text)
    t.equal(posts(await (await visitors.developer.get(path)).text()), true, `${kind}: developer`)
    const looked = await (await visitors.observer.get(path)).text()
    t.equal(posts(looked), false, `${kind}: observer`)
    t.match(looked, '<fieldset class="opts" disabled>')
  }
})

t.test('no octet of what a message says reaches support, viewers or operators who look', async (t) => {
  const dashboard = await openDashboard(t)
  const { service, url } = dashboard
  const { id, visitors } = await newAccount(dashboard)
  const domain = 'ship.example'
  await service.giveKey(domain)
  await service.core.domains.add({ accountId: id, name: domain, state: 'active' })
  const { secret: apiKey } = await service.core.auth.createKey({ accountId: id, name: 'test' })
  const said = 'the cargo is saffron'
  const content = `<p>${said}</p>`
  const { body } = await sendV2(
    url,
    apiKey,
    v2Body({ accountId: id, accountName: 'northwind', apiKey, domain }, { content }),
  )
  const message = body.data?.message_id as string
  t.ok(message)
  const seen = { owner: 0, developer: 0, support: 0, viewer: 0, observer: 0 }
  for (const route of ROUTES) {
    if (route.for !== 'account' || route.method !== 'GET') continue
    const path = `/app/${id}${route.path.replace(/:\w+|\*/g, message)}`
    for (const role of ROLES) {
      for (const query of route.path.includes(':') ? ['', '?tab=text', '?tab=source', '?tab=header'] : ['']) {
        const text = await (await visitors[role].get(`${path}${query}`)).text()
        if (text.includes(said) || text.includes(Buffer.from(said).toString('base64').slice(0, 20))) seen[role]++
      }
    }
  }
  t.ok(seen.owner > 0, 'owners read it')
  t.ok(seen.developer > 0, 'developers read it')
  t.strictSame([seen.support, seen.viewer, seen.observer], [0, 0, 0])
})
