import t from 'tap'
import { makeMember, newPerson } from '../core/people/people.ts'
import { startLyingProvider } from '../helpers/lying-provider.ts'
import { CLIENT_ID, CLIENT_SECRET, followProvider, startProvider } from '../helpers/openid-provider.ts'
import { isInTime } from '../helpers/pace.ts'
import type { makeService } from '../helpers/service.ts'
import { openDashboard, PASSWORD, sessionCookieOf, submit, visitor } from './dashboard.ts'

const settingsOf = (issuer: string) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: CLIENT_ID,
  OIDC_CLIENT_SECRET: CLIENT_SECRET,
})

/** The cookies that a response sets, as the browser sends them. */
const cookiesOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')

/** Begins a log-in: the URL of the provider, and the cookie that this browser keeps. */
async function begin(url: string, to = '/app') {
  const begun = await fetch(`${url}/app/oidc/begin?to=${encodeURIComponent(to)}`, { redirect: 'manual' })
  return { begun, at: begun.headers.get('location') ?? '', cookie: cookiesOf(begun) }
}

/** Brings the provider's answer, as the browser does. */
const finish = (answer: string, cookie: string) => fetch(answer, { headers: { cookie }, redirect: 'manual' })

/** A dashboard whose users log in through a real provider, with the users of that provider by subject. */
async function withProvider(t: Parameters<typeof makeService>[0], more: Record<string, string> = {}) {
  const claims = new Map<string, Record<string, unknown>>()
  const port = 20_000 + (process.pid % 20_000)
  const publicUrl = `http://localhost:${port}`
  const issuer = await startProvider(t, publicUrl, claims)
  const dashboard = await openDashboard(t, { ...settingsOf(issuer), PUBLIC_URL: publicUrl, ...more })
  /** The whole way of a browser. */
  async function logIn(subject: string, to?: string) {
    const { at, cookie } = await begin(dashboard.url, to)
    const answer = await followProvider(publicUrl, at, subject)
    return finish(answer.replace(publicUrl, dashboard.url), cookie)
  }
  return { ...dashboard, claims, issuer, logIn }
}

t.test('a user logs in through the provider, and comes back to the page they wanted', async (t) => {
  const { service, url, claims, issuer, logIn, owner } = await withProvider(t)
  const { accountId } = await owner()
  const { email, userId } = await makeMember(service, accountId, 'developer')
  claims.set('grace', { email, email_verified: true })
  const shown = await (await fetch(`${url}/app/login?to=/app/${accountId}/keys`)).text()
  t.match(shown, `href="/app/oidc/begin?to=${encodeURIComponent(`/app/${accountId}/keys`)}"`)
  t.match(shown, `Continue with ${new URL(issuer).host}`)
  t.match(shown, 'name="password"')
  const { begun } = await begin(url)
  const kept = begun.headers.getSetCookie().find((one) => one.startsWith('postrider-log-in=')) ?? ''
  for (const flag of ['HttpOnly', 'SameSite=Lax', 'Max-Age=600']) t.match(kept, flag)
  const done = await logIn('grace', `/app/${accountId}/keys`)
  t.equal(done.status, 303)
  t.equal(done.headers.get('location'), `/app/${accountId}/keys`)
  t.match(done.headers.getSetCookie(), [/./, /^postrider-log-in=;/], 'what the browser kept is gone')
  const session = await service.core.people.sessions.find(decodeURIComponent(sessionCookieOf(done).slice(10)))
  t.match(session, { method: 'oidc', user: { id: userId } })
})

t.test('a log-in through the provider leads to no other site', async (t) => {
  const { service, claims, logIn, owner } = await withProvider(t)
  const { accountId } = await owner()
  const { email } = await makeMember(service, accountId, 'viewer')
  claims.set('grace', { email, email_verified: true })
  for (const to of ['https://evil.example/', '//evil.example', '/app//evil.example', 'javascript:alert(1)']) {
    t.equal((await logIn('grace', to)).headers.get('location'), '/app', to)
  }
})

t.test('an answer of the provider counts only in the browser that began the log-in, and once', async (t) => {
  const { service, url, claims, owner } = await withProvider(t)
  const { accountId } = await owner()
  const { email } = await makeMember(service, accountId, 'viewer')
  claims.set('eve', { email, email_verified: true })
  const [victim, attacker] = [await begin(url), await begin(url)]
  const answer = await followProvider(service.config.publicUrl, attacker.at, 'eve')
  const here = answer.replace(service.config.publicUrl, url)
  for (const cookie of ['', victim.cookie, 'postrider-log-in=nonsense']) {
    const refused = await finish(here, cookie)
    t.equal(refused.status, 401, cookie)
    t.strictSame(
      refused.headers.getSetCookie().filter((one) => one.startsWith('postrider=')),
      [],
    )
  }
  t.match(await (await finish(here, '')).text(), 'was begun in another browser')
  t.equal((await finish(here, attacker.cookie)).status, 303)
  t.equal((await finish(here, attacker.cookie)).status, 401, 'a replay')
})

t.test('a stranger is told to ask for an invitation, and one who was invited becomes a member', async (t) => {
  const { service, claims, logIn, owner } = await withProvider(t)
  const { accountId } = await owner()
  const { email } = newPerson()
  claims.set('grace', { email, email_verified: true })
  const stranger = await logIn('grace')
  t.equal(stranger.status, 401)
  t.match(await stranger.text(), 'Ask an owner of the account to invite you')
  const by = { keyId: null, address: null }
  await service.core.people.invitations.create(accountId, { email, role: 'support' }, by)
  t.equal((await logIn('grace')).status, 303)
})

t.test('with SIGN_UP=closed an invitation makes no user through the provider', async (t) => {
  const { service, claims, logIn, owner } = await withProvider(t, { SIGN_UP: 'closed' })
  const { accountId } = await owner()
  const { email } = newPerson()
  claims.set('grace', { email, email_verified: true })
  await service.core.people.invitations.create(accountId, { email, role: 'support' }, { keyId: null, address: null })
  t.equal((await logIn('grace')).status, 401)
})

t.test(
  'with OIDC_ONLY no password is requested or accepted; the first link and a link of the operator still work',
  async (t) => {
    const { service, url, claims, logIn, owner } = await withProvider(t, { OIDC_ONLY: '1' })
    const { accountId } = await owner()
    const { email, userId } = await makeMember(service, accountId, 'viewer')
    const shown = await (await fetch(`${url}/app/login`)).text()
    t.match(shown, '/app/oidc/begin')
    t.notMatch(shown, 'name="password"')
    t.notMatch(shown, 'data-passkey')
    t.equal((await fetch(`${url}/app/login/passkey`, { redirect: 'manual' })).headers.get('location'), '/app/login')
    const refused = await submit(url, '/app/login', { email, password: PASSWORD })
    t.equal(refused.status, 403)
    t.match(await refused.text(), 'Passwords are not accepted here')
    t.equal((await fetch(`${url}/app/forgotten`, { redirect: 'manual' })).headers.get('location'), '/app/login')
    t.equal((await submit(url, '/app/forgotten', { email })).headers.get('location'), '/app/login')
    claims.set('grace', { email, email_verified: true })
    t.equal((await logIn('grace')).status, 303)
    const link = new URL((await service.core.people.passwordReset.link(userId)).url)
    const token = link.searchParams.get('token') as string
    const opened = await submit(url, '/app/reset', { token, password: 'a new fine secret' })
    t.equal((await visitor(url, sessionCookieOf(opened), accountId).get(`/app/${accountId}`)).status, 200)
  },
)

t.test('with OIDC_ONLY an invitation leads to the provider', async (t) => {
  const { service, url, owner } = await withProvider(t, { OIDC_ONLY: '1' })
  const { accountId } = await owner()
  const { email } = newPerson()
  const by = { keyId: null, address: null }
  const made = await service.core.people.invitations.create(accountId, { email, role: 'support' }, by)
  const token = new URL(made.url as string).searchParams.get('token') as string
  const shown = await (await fetch(`${url}/app/invitation?token=${token}`)).text()
  t.match(shown, 'href="/app/oidc/begin"')
  t.notMatch(shown, 'name="password"')
  t.equal((await submit(url, '/app/invitation', { token, name: 'Eve', password: 'a new fine secret' })).status, 410)
})

/** A dashboard whose provider lies, with a member whom it knows. */
async function withLies(t: Parameters<typeof makeService>[0]) {
  let claims: Record<string, unknown> = {}
  const provider = await startLyingProvider(t, CLIENT_ID, () => claims)
  const { service, url, owner } = await openDashboard(t, settingsOf(provider.issuer))
  const { accountId } = await owner()
  const { email } = await makeMember(service, accountId, 'viewer')
  /** Logs in with the answer that the provider gives now. `query`: replaces what its redirect has. */
  async function logIn(query: Record<string, string> = {}) {
    const { at, cookie } = await begin(url)
    const { state = '', nonce = '' } = Object.fromEntries(new URL(at).searchParams)
    claims = { sub: 'grace', nonce, email, email_verified: true }
    return finish(`${url}/app/oidc?${new URLSearchParams({ code: 'any', state, ...query })}`, cookie)
  }
  return { provider, url, logIn }
}

t.test(
  'a wrong state, nonce, audience, issuer, time or signature, and an address that is not verified, are refused',
  async (t) => {
    const { provider, logIn } = await withLies(t)
    t.equal((await logIn()).status, 303, 'the truth')
    const now = Math.floor(Date.now() / 1000)
    for (const [name, lie, query, sentence] of [
      ['state', {}, { state: 'another' }, 'could not be verified'],
      ['nonce', { claims: { nonce: 'another' } }, {}, 'could not be verified'],
      ['no nonce', { claims: { nonce: undefined } }, {}, 'could not be verified'],
      ['audience', { claims: { aud: 'another client' } }, {}, 'could not be verified'],
      ['issuer', { claims: { iss: 'https://evil.example' } }, {}, 'could not be verified'],
      ['issuer of the redirect', {}, { iss: 'https://evil.example' }, 'could not be verified'],
      ['expired', { claims: { iat: now - 900, exp: now - 600 } }, {}, 'could not be verified'],
      ['signature', { foreignKey: true }, {}, 'could not be verified'],
      ['no signature', { algorithm: 'none' }, {}, 'could not be verified'],
      ['signed with what the client knows', { algorithm: { HS256: CLIENT_SECRET } }, {}, 'could not be verified'],
      ['not verified', { claims: { email_verified: false } }, {}, 'has not verified your e-mail address'],
      ['verified as a text', { claims: { email_verified: 'true' } }, {}, 'has not verified your e-mail address'],
      ['no address', { claims: { email: undefined } }, {}, 'has not verified your e-mail address'],
      ['cancelled', {}, { error: 'access_denied', error_description: '<b>no</b>' }, 'did not log you in'],
    ] as const) {
      provider.tell(lie)
      const refused = await logIn(query)
      t.equal(refused.status, 401, name)
      t.match(await refused.text(), sentence, name)
      t.notOk(
        refused.headers.getSetCookie().some((one) => one.startsWith('postrider=')),
        name,
      )
    }
  },
)

t.test('a provider that describes itself as another one is not asked', async (t) => {
  const { provider, url } = await withLies(t)
  provider.tell({ describes: 'https://accounts.example' })
  const refused = await fetch(`${url}/app/oidc/begin`, { redirect: 'manual' })
  t.equal(refused.status, 503)
  t.equal(refused.headers.get('location'), null)
})

t.test('a provider that answers without end, or not at all, is given up', { timeout: 60_000 }, async (t) => {
  const { provider, logIn } = await withLies(t)
  provider.tell({ endless: true })
  t.equal((await logIn()).status, 401)
  provider.tell({ stalls: true })
  const since = performance.now()
  t.equal((await logIn()).status, 401)
  t.ok(isInTime(since, 20_000))
})

t.test('a provider that cannot be reached is said to be so, and the log-in by password goes on', async (t) => {
  const { url } = await openDashboard(t, settingsOf('http://127.0.0.1:1'))
  const refused = await fetch(`${url}/app/oidc/begin`, { redirect: 'manual' })
  t.equal(refused.status, 503)
  const shown = await refused.text()
  t.match(shown, '127.0.0.1:1 cannot be reached at present')
  t.match(shown, 'name="password"')
})

t.test('without a provider its pages lead to the log-in', async (t) => {
  const { url } = await openDashboard(t)
  for (const path of ['/app/oidc', '/app/oidc?code=x&state=y', '/app/oidc/begin']) {
    t.equal((await fetch(`${url}${path}`, { redirect: 'manual' })).headers.get('location'), '/app/login', path)
  }
  t.notMatch(await (await fetch(`${url}/app/login`)).text(), 'oidc')
})
