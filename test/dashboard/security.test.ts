import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { openDashboard, PASSWORD, sessionCookieOf, submit, type TestDashboard, visitor } from './dashboard.ts'

const EMAIL = `ada-${process.pid}@northwind.example`

/** The owner with one-time codes: the secret of the app and the recovery codes, as the pages show them. */
async function withCodes({ service, owner }: TestDashboard) {
  const ada = await owner()
  const shown = await (await ada.post('/app/security/codes')).text()
  const secret = /data-copy="([A-Z2-7]{32})"/.exec(shown)?.[1] as string
  const codeOf = (steps: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.core.clock.now() + steps * 30_000 })
  const confirmed = await ada.post('/app/security/codes/confirm', { code: codeOf(-1) })
  const recovery = [...(await confirmed.text()).matchAll(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){5}\b/g)].map(([code]) => code)
  return { ada, shown, codeOf, recovery: [...new Set(recovery)] }
}

/** The challenge of a log-in by password that waits for the second factor. */
async function challengeOf(url: string): Promise<string> {
  const asked = await (
    await submit(url, '/app/login', { email: EMAIL, password: PASSWORD, to: '/app/security' })
  ).text()
  return /name="challenge" value="([^"]+)"/.exec(asked)?.[1] as string
}

t.test('an authenticator app is set up by a QR code and a code, with recovery codes that are shown once', async (t) => {
  const { ada, shown, recovery } = await withCodes(await openDashboard(t))
  t.match(shown, /<svg role="img" aria-label="QR code[^>]*width="200"/)
  t.equal(recovery.length, 10)
  const page = await (await ada.get('/app/security')).text()
  t.match(page, '10 recovery codes are left')
  t.notMatch(page, recovery[0] as string)
})

t.test('a wrong code does not turn the second factor on', async (t) => {
  const { owner } = await openDashboard(t)
  const ada = await owner()
  await ada.post('/app/security/codes')
  const refused = await ada.post('/app/security/codes/confirm', { code: '000000' })
  t.equal(refused.status, 400)
  t.match(await refused.text(), 'The code is invalid')
  t.match(await (await ada.get('/app/security')).text(), 'Set up an authenticator app')
})

t.test('the log-in asks for a code, which works once and leads to the page requested', async (t) => {
  const dashboard = await openDashboard(t)
  const { url } = dashboard
  const { codeOf } = await withCodes(dashboard)
  const challenge = await challengeOf(url)
  const wrong = await submit(url, '/app/login/code', { challenge, code: '000000', to: '/app/security' })
  t.equal(wrong.status, 401)
  t.strictSame(wrong.headers.getSetCookie(), [])
  const code = codeOf(0)
  const right = await submit(url, '/app/login/code', { challenge, code, to: '/app/security' })
  t.equal(right.headers.get('location'), '/app/security')
  t.equal((await visitor(url, sessionCookieOf(right), 0).get('/app/security')).status, 200)
  const replayed = await submit(url, '/app/login/code', { challenge: await challengeOf(url), code })
  t.equal(replayed.status, 401, 'a code that was seen by others works no second time')
  const elsewhere = { challenge: await challengeOf(url), code: codeOf(1), to: 'https://evil.example/' }
  t.equal((await submit(url, '/app/login/code', elsewhere)).headers.get('location'), '/app')
})

t.test('a recovery code replaces the app once', async (t) => {
  const dashboard = await openDashboard(t)
  const { url } = dashboard
  const { recovery } = await withCodes(dashboard)
  const code = recovery[0] as string
  const used = await submit(url, '/app/login/code', { challenge: await challengeOf(url), code })
  t.equal(used.status, 303)
  const again = await submit(url, '/app/login/code', { challenge: await challengeOf(url), code })
  t.equal(again.status, 401)
  t.match(await (await visitor(url, sessionCookieOf(used), 0).get('/app/security')).text(), '9 recovery codes are left')
})

t.test('a session that is not fresh must give the password before log-ins change', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  await service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
  await service.core.people.sessions.endAll(0)
  const next = 'another horse with letters'
  const asked = await ada.post('/app/security/password', { password: next })
  const text = await asked.text()
  t.match(text, 'Confirm that it is you')
  t.notMatch(text, next, 'a page shows no password')
  t.match(text, 'The new password, once more')
  const wrong = await ada.post('/app/security/password', { password: next, proof: 'not it' })
  t.equal(wrong.status, 401)
  t.notMatch(await wrong.text(), next)
  t.match(await (await ada.post('/app/security/codes')).text(), 'Confirm that it is you')
  const right = await ada.post('/app/security/password', { password: next, proof: PASSWORD })
  t.equal(right.headers.get('location'), '/app/security?said=saved')
  t.match(await (await ada.post('/app/security/codes')).text(), 'QR code', 'not asked again for 10 minutes')
})

t.test('a new password replaces the old one, ends other sessions, and must not be a common one', async (t) => {
  const { url, owner } = await openDashboard(t)
  const ada = await owner()
  const other = visitor(url, sessionCookieOf(await submit(url, '/app/login', { email: EMAIL, password: PASSWORD })), 0)
  for (const password of ['password1', 'Postrider', 'postrider2026!', 'POSTMASTER1', EMAIL]) {
    const weak = await ada.post('/app/security/password', { password })
    t.equal(weak.status, 400, password)
  }
  t.equal((await other.get('/app/security')).status, 200)
  const next = ' a horse with spaces '
  t.equal((await ada.post('/app/security/password', { password: next })).status, 303)
  t.equal((await other.get('/app/security')).status, 303)
  t.equal((await ada.get('/app/security')).status, 200)
  t.equal((await submit(url, '/app/login', { email: EMAIL, password: PASSWORD })).status, 401)
  t.equal((await submit(url, '/app/login', { email: EMAIL, password: next })).status, 303)
})

t.test('sessions are listed and ended one by one or all but this one, and only by their user', async (t) => {
  const { service, url, owner, member } = await openDashboard(t)
  const ada = await owner()
  const logIn = async (agent: string) => {
    const form = { email: EMAIL, password: PASSWORD }
    return visitor(url, sessionCookieOf(await submit(url, '/app/login', form, { 'user-agent': agent })), 0)
  }
  const firefox = await logIn('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0')
  const hostile = await logIn('<img src=x onerror=alert(1)>')
  const shown = await (await ada.get('/app/security')).text()
  t.match(shown, 'Firefox on Linux')
  t.match(shown, '&lt;img src=x onerror=alert(1)&gt;')
  const [user] = await service.sql<{ id: number }[]>`select id from users`
  const listed = await service.core.people.sessions.list(user?.id as number)
  const id = listed.find(({ agent }) => agent?.includes('Firefox'))?.id
  t.equal((await ada.post(`/app/security/sessions/${id}/end`)).status, 303)
  t.equal((await firefox.get('/app/security')).status, 303)
  const eve = await member(ada.accountId, 'viewer')
  const [theirs] = await service.core.people.sessions.list(eve.userId)
  for (const other of [theirs?.id, 999999, 'x']) {
    t.equal((await ada.post(`/app/security/sessions/${other}/end`)).status, 404)
  }
  t.equal((await eve.get('/app/security')).status, 200)
  t.equal((await hostile.get('/app/security')).status, 200)
  t.equal((await ada.post('/app/security/sessions/end-others')).status, 303)
  t.equal((await hostile.get('/app/security')).status, 303)
  t.equal((await ada.get('/app/security')).status, 200)
})

t.test('a log-in replaces the session that the browser had', async (t) => {
  const { url, owner } = await openDashboard(t)
  const planted = await owner()
  const form = { email: EMAIL, password: PASSWORD }
  const own = await submit(url, '/app/login', form, { cookie: planted.cookie })
  t.not(sessionCookieOf(own), planted.cookie)
  t.equal((await planted.get('/app/security')).status, 303, 'whoever knows the old token has nothing')
})

t.test('REQUIRE_2FA leads to the second factor before any other page', async (t) => {
  const { owner } = await openDashboard(t, { REQUIRE_2FA: '1' })
  const ada = await owner()
  for (const path of ['/app', `/app/${ada.accountId}`, `/app/${ada.accountId}/keys`, '/app/accounts']) {
    t.equal((await ada.get(path)).headers.get('location'), '/app/security', path)
  }
  t.equal((await ada.post(`/app/${ada.accountId}/keys`, { name: 'x', scopes: 'send' })).status, 303)
  t.match(await (await ada.get('/app/security')).text(), 'Set up a second factor to continue')
})

t.test('the name is changed, shown as it is, and not left empty', async (t) => {
  const { owner } = await openDashboard(t)
  const ada = await owner()
  const name = '<b>Ada</b> & "Co"'
  t.equal((await ada.post('/app/security/name', { name })).status, 303)
  const page = await (await ada.get('/app/security')).text()
  t.match(page, 'value="&lt;b&gt;Ada&lt;/b&gt; &amp; &quot;Co&quot;"')
  t.notMatch(page, '<b>Ada</b>')
  t.equal((await ada.post('/app/security/name', { name: ' ' })).status, 400)
})
