import t from 'tap'
import { openDashboard, PASSWORD, sessionCookieOf, submit, visitor } from './dashboard.ts'

t.test('a page asks for the log-in, which leads back to it', async (t) => {
  const { url, owner } = await openDashboard(t)
  const { accountId } = await owner()
  const page = `/app/${accountId}/keys`
  const asked = await fetch(`${url}${page}`, { redirect: 'manual' })
  t.equal(asked.status, 303)
  t.equal(asked.headers.get('location'), `/app/login?to=${encodeURIComponent(page)}`)
  const email = `ada-${process.pid}@northwind.example`
  const wrong = await submit(url, '/app/login', { email, password: 'not it', to: page })
  t.equal(wrong.status, 401)
  t.match(await wrong.text(), 'E-mail and password do not match')
  const right = await submit(url, '/app/login', { email, password: PASSWORD, to: page })
  t.equal(right.headers.get('location'), page)
  const shown = await visitor(url, sessionCookieOf(right), accountId).get(page)
  t.equal(shown.status, 200)
})

t.test('the log-in leads to no other site', async (t) => {
  const { url, owner } = await openDashboard(t)
  await owner()
  const email = `ada-${process.pid}@northwind.example`
  for (const to of [
    'https://evil.example/',
    '//evil.example',
    '/app//evil.example',
    '/app\\evil',
    'javascript:alert(1)',
    '/application',
  ]) {
    const response = await submit(url, '/app/login', { email, password: PASSWORD, to })
    t.equal(response.headers.get('location'), '/app', to)
  }
})

t.test('the session cookie is for this host and no script, and log-out ends the session', async (t) => {
  const { url, owner } = await openDashboard(t)
  const ada = await owner()
  const response = await submit(url, '/app/login', {
    email: `ada-${process.pid}@northwind.example`,
    password: PASSWORD,
  })
  const cookie = response.headers.getSetCookie()[0] ?? ''
  for (const flag of ['HttpOnly', 'SameSite=Lax', 'Path=/']) t.match(cookie, flag)
  const second = visitor(url, sessionCookieOf(response), ada.accountId)
  t.equal((await second.post('/app/logout')).status, 303)
  t.equal((await second.get(`/app/${ada.accountId}`)).status, 303)
  t.equal((await ada.get(`/app/${ada.accountId}`)).status, 200)
})

t.test('a link for the first owner works once', async (t) => {
  const { url, service } = await openDashboard(t)
  const { token } = await service.core.people.firstLink.create()
  const form = { token, name: 'Ada', email: 'ada@northwind.example', password: PASSWORD }
  t.equal((await fetch(`${url}/app/first?token=${token}`)).status, 200)
  t.equal((await submit(url, '/app/first', { ...form, password: 'password' })).status, 400)
  t.equal((await submit(url, '/app/first', form)).status, 303)
  t.equal((await submit(url, '/app/first', { ...form, email: 'eve@evil.example' })).status, 410)
  t.equal((await fetch(`${url}/app/first?token=${token}`)).status, 410)
})
