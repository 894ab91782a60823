import t from 'tap'
import { mailedLink, mailedText } from '../core/people/mailed.ts'
import { until } from '../helpers/until.ts'
import { openDashboard, PASSWORD, sessionCookieOf, submit, type TestDashboard, visitor } from './dashboard.ts'

const DOMAIN = 'post.northwind.example'
const MAILS = { SERVICE_DOMAIN: DOMAIN }

/** The owner of a service that sends mail of its own. */
async function withMail({ service, owner }: TestDashboard) {
  const ada = await owner()
  await service.giveKey(DOMAIN)
  await service.core.domains.add({ accountId: ada.accountId, name: DOMAIN, state: 'active' })
  return ada
}

async function invite(dashboard: TestDashboard, email: string) {
  const ada = await withMail(dashboard)
  const sent = await ada.post(`/app/${ada.accountId}/team`, { email, role: 'developer' })
  t.equal(sent.headers.get('location'), `/app/${ada.accountId}/team?said=invited`)
  return { ada, token: await mailedLink(dashboard.service.sql, email, 'invitation') }
}

t.test('an invitation arrives by mail and makes a member, once', async (t) => {
  const dashboard = await openDashboard(t, MAILS)
  const { url } = dashboard
  const { ada, token } = await invite(dashboard, 'grace@northwind.example')
  const page = await (await fetch(`${url}/app/invitation?token=${token}`)).text()
  t.match(page, 'grace@northwind.example')
  t.match(page, 'You are invited as developer')
  const form = { token, name: 'Grace Hopper', password: PASSWORD }
  const weak = await submit(url, '/app/invitation', { ...form, password: 'password1' })
  t.equal(weak.status, 400)
  t.match(await weak.text(), 'value="Grace Hopper"')
  const joined = await submit(url, '/app/invitation', form)
  t.equal(joined.headers.get('location'), `/app/${ada.accountId}`)
  const grace = visitor(url, sessionCookieOf(joined), ada.accountId)
  t.equal((await grace.get(`/app/${ada.accountId}/keys`)).status, 200)
  t.equal((await grace.get(`/app/${ada.accountId}/team`)).status, 403)
  t.equal((await submit(url, '/app/invitation', { ...form, name: 'Eve' })).status, 410)
  t.equal((await fetch(`${url}/app/invitation?token=${token}`)).status, 410)
})

t.test('someone who has a user joins by a log-in, and only with the invited address', async (t) => {
  const dashboard = await openDashboard(t, MAILS)
  const { service, url, member } = dashboard
  const other = await service.core.accounts.create('other')
  const [grace, eve] = [await member(other.id, 'viewer'), await member(other.id, 'viewer')]
  const { ada, token } = await invite(dashboard, grace.email)
  const path = `/app/invitation?token=${token}`
  const unknown = await (await fetch(`${url}${path}`)).text()
  t.match(unknown, `/app/login?to=${encodeURIComponent(path)}`)
  t.notMatch(unknown, 'name="password"')
  t.match(await (await eve.get(path)).text(), 'You are logged in as someone else')
  t.equal((await eve.post('/app/invitation/join', { token })).status, 400)
  t.equal((await submit(url, '/app/invitation', { token, name: 'Eve', password: PASSWORD })).status, 200)
  t.match(await (await grace.get(path)).text(), 'action="/app/invitation/join"')
  t.equal((await grace.post('/app/invitation/join', { token })).status, 303)
  t.equal((await grace.get(`/app/${ada.accountId}/keys`)).status, 200)
  t.equal((await eve.get(`/app/${ada.accountId}`)).status, 404)
  t.equal((await grace.post('/app/invitation/join', { token })).status, 410, 'it works once')
})

t.test('looking at a link uses nothing up', async (t) => {
  const dashboard = await openDashboard(t, MAILS)
  const { url } = dashboard
  const { token } = await invite(dashboard, 'grace@northwind.example')
  for (let n = 0; n < 3; n++) t.equal((await fetch(`${url}/app/invitation?token=${token}`)).status, 200)
})

t.test('a forgotten password is set by a mailed link, once, and other sessions end', async (t) => {
  const dashboard = await openDashboard(t, MAILS)
  const { service, url, member } = dashboard
  const { accountId } = await withMail(dashboard)
  const grace = await member(accountId, 'viewer')
  const known = await submit(url, '/app/forgotten', { email: grace.email })
  const unknown = await submit(url, '/app/forgotten', { email: 'nobody@nowhere.example' })
  t.equal(known.status, unknown.status)
  const same = (text: string) =>
    text
      .replace(grace.email, '')
      .replace('nobody@nowhere.example', '')
      .replace(/data-now="\d+"/, '')
  t.equal(same(await known.text()), same(await unknown.text()), 'the answer does not tell who has a user')
  await service.core.people.close()
  t.equal(await mailedText(service.sql, 'nobody@nowhere.example'), undefined)
  const token = await mailedLink(service.sql, grace.email, 'reset')
  t.match(await (await fetch(`${url}/app/reset?token=${token}`)).text(), 'Set a new password')
  t.equal((await submit(url, '/app/reset', { token, password: '12345678' })).status, 400)
  const next = 'the horse has another name'
  const set = await submit(url, '/app/reset', { token, password: next })
  t.equal(set.headers.get('location'), '/app')
  t.equal((await grace.get('/app/security')).status, 303)
  t.equal((await visitor(url, sessionCookieOf(set), accountId).get('/app/security')).status, 200)
  t.equal((await submit(url, '/app/reset', { token, password: PASSWORD })).status, 410)
  t.equal((await fetch(`${url}/app/reset?token=${token}`)).status, 410)
})

t.test('SIGN_UP=open: an address is confirmed by a mailed link before there is a user', async (t) => {
  const dashboard = await openDashboard(t, { ...MAILS, SIGN_UP: 'open' })
  const { service, url } = dashboard
  await withMail(dashboard)
  t.match(await (await fetch(`${url}/app/login`)).text(), '/app/sign-up')
  const email = 'kay@elsewhere.example'
  const asked = await (await fetch(`${url}/app/sign-up`)).text()
  t.notMatch(asked, 'name="password"', 'who asks for the link chooses no password for who reads it')
  t.match(await (await submit(url, '/app/sign-up', { email })).text(), email)
  t.equal((await submit(url, '/app/login', { email, password: PASSWORD })).status, 401)
  await service.core.people.close()
  const token = await mailedLink(service.sql, email, 'verify')
  t.equal((await fetch(`${url}/app/verify?token=${token}`)).status, 200)
  t.equal((await submit(url, '/app/login', { email, password: PASSWORD })).status, 401, 'a look confirms nothing')
  const chosen = { token, name: 'Kay', password: PASSWORD }
  const weak = await submit(url, '/app/verify', { ...chosen, password: 'password1' })
  t.equal(weak.status, 400)
  t.match(await weak.text(), 'value="Kay"')
  const confirmed = await submit(url, '/app/verify', chosen)
  const home = confirmed.headers.get('location') as string
  t.match(home, /^\/app\/\d+$/)
  const kay = visitor(url, sessionCookieOf(confirmed), 0)
  t.equal((await kay.get(`${home}/team`)).status, 200)
  const trial = `Until a domain is active, 100 messages per day to ${email}, from onboarding@${DOMAIN}.`
  for (const page of [home, `${home}/first-steps`]) t.match(await (await kay.get(page)).text(), trial)
  t.equal((await kay.post(`${home}/first-steps/test`)).headers.get('location'), `${home}/first-steps?said=sent`)
  await service.sql`update domains set state = 'inactive' where name = ${DOMAIN}`
  await until('the domain to be inactive everywhere', async () =>
    (await (await kay.get(home)).text()).includes('Add a domain first'),
  )
  t.equal((await submit(url, '/app/verify', { token })).status, 410)
  t.equal((await fetch(`${url}/app/verify?token=${token}`)).status, 410, 'its page says so, too')
})

t.test('SIGN_UP=invite, the default, offers no form to sign up', async (t) => {
  const { url } = await openDashboard(t)
  t.notMatch(await (await fetch(`${url}/app/login`)).text(), '/app/sign-up')
  const page = await (await fetch(`${url}/app/sign-up`)).text()
  t.match(page, 'Signing up needs an invitation')
  t.notMatch(page, '<form')
  const form = { name: 'Kay', email: 'kay@elsewhere.example', password: PASSWORD }
  t.notMatch(await (await submit(url, '/app/sign-up', form)).text(), 'is on its way')
})

t.test('SIGN_UP=closed: an invitation makes no user', async (t) => {
  const dashboard = await openDashboard(t, { ...MAILS, SIGN_UP: 'closed' })
  const { url } = dashboard
  const { token } = await invite(dashboard, 'grace@northwind.example')
  t.equal((await fetch(`${url}/app/invitation?token=${token}`)).status, 410)
  t.equal((await submit(url, '/app/invitation', { token, name: 'G', password: PASSWORD })).status, 410)
})
