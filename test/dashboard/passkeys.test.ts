import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { type Authenticator, makeAuthenticator } from '../core/people/authenticator.ts'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import {
  openDashboard,
  PASSWORD,
  sessionCookieOf,
  submit,
  type TestDashboard,
  type TestVisitor,
  visitor,
} from './dashboard.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const EMAIL = `ada-${process.pid}@northwind.example`

/** The place that passkeys of the installation are for. */
const placeOf = ({ service }: TestDashboard) => ({ origin: service.config.publicUrl, rpId: 'localhost' })

/** The options of the form for a passkey that a page has. */
function optionsOf(page: string): { challenge: string; allowCredentials?: readonly { id: string }[] } {
  const attribute = /data-options="([^"]+)"/.exec(page)?.[1] ?? 'null'
  return JSON.parse(attribute.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

async function register(dashboard: TestDashboard, user: TestVisitor, authenticator: Authenticator, name = 'Laptop') {
  const { challenge } = optionsOf(await (await user.post('/app/security/passkeys/new')).text())
  const passkey = JSON.stringify(authenticator.register(challenge, placeOf(dashboard)))
  return user.post('/app/security/passkeys', { name, passkey })
}

/** The owner with a passkey. */
async function withPasskey(dashboard: TestDashboard) {
  const ada = await dashboard.owner()
  const authenticator = makeAuthenticator()
  const made = await register(dashboard, ada, authenticator)
  return { ada, authenticator, made }
}

/** The options for a log-in, and the cookie that the browser keeps. */
async function begin(url: string) {
  const begun = await fetch(`${url}/app/login/passkey`)
  const { challenge } = (await begun.json()) as { challenge: string }
  return { challenge, cookie: begun.headers.getSetCookie()[0]?.split(';')[0] as string }
}

t.test(
  'a passkey is added, logs in, is the second factor, proves who one is, and is removed, in a browser',
  skipWithoutBrowser,
  async (t) => {
    const { service, url, owner } = await openDashboard(t)
    await owner()
    const at = service.config.publicUrl
    const context = await openBrowser(t)
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    const complaints: string[] = []
    async function check(name: string) {
      await page.evaluate(AXE)
      const violations = await page.evaluate('axe.run().then((result) => result.violations.map(({ id }) => id))')
      t.strictSame(violations, [], `${name} is accessible`)
    }
    page.on('console', (message) => /Content Security|Refused/.test(message.text()) && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${at}/app/login?to=/app/security`)
    await page.fill('[name=email]', EMAIL)
    await page.fill('[name=password]', PASSWORD)
    await page.click('form[action="/app/login"] button')
    await page.waitForURL(`${at}/app/security`)
    await page.click('form[action="/app/security/passkeys/new"] button')
    await check('the form for a new passkey')
    await page.fill('[name=name]', 'Laptop of Ada')
    await page.click('[data-passkey=create] button')
    await page.click('text=I have stored them')
    await page.waitForURL(`${at}/app/security`)
    t.match(await page.textContent('#passkeys'), 'Laptop of Ada')
    await check('the list of passkeys')

    const logOut = () => context.clearCookies()
    await logOut()
    await page.goto(`${at}/app/login?to=/app/security`)
    await page.click('text=Use a passkey')
    await page.waitForURL(`${at}/app/security`)
    t.match(await page.textContent('#passkeys'), 'last used')

    await logOut()
    await page.goto(`${at}/app/login?to=/app/security`)
    await page.fill('[name=email]', EMAIL)
    await page.fill('[name=password]', PASSWORD)
    await page.click('form[action="/app/login"] button')
    await page.waitForSelector('[name=code]')
    await check('the second step')
    await page.click('text=Use a passkey')
    await page.waitForURL(`${at}/app/security`)

    await service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
    await service.core.people.sessions.endAll(0)
    await page.click('#passkeys button:has-text("Remove")')
    await page.click('#passkeys [popover] button:has-text("Remove")')
    await page.waitForSelector('text=Confirm that it is you')
    await check('the question who one is')
    await page.click('text=Use a passkey instead')
    await page.waitForURL(`${at}/app/security?said=removed`)
    t.notMatch(await page.textContent('#passkeys'), 'Laptop of Ada')
    t.strictSame(complaints, [])
    t.match(url, 'http')
  },
)

t.test('without script a page offers no button that does nothing, and says what passkeys need', async (t) => {
  const { url, owner } = await openDashboard(t)
  const ada = await owner()
  const shown = await (await fetch(`${url}/app/login`)).text()
  t.match(shown, /<form[^>]*data-passkey="get"[^>]* hidden>/)
  t.match(shown, /passkey\.[\w-]+\.js/)
  const added = await (await ada.post('/app/security/passkeys/new')).text()
  t.match(added, /<form[^>]*data-passkey="create"[^>]* hidden>/)
  t.match(added, /<p data-no-passkey>This browser cannot create a passkey here/)
  t.notMatch(await (await ada.get('/app/security')).text(), 'passkey.js', 'only pages that need it load the script')
})

t.test('the first passkey comes with recovery codes, and its name is shown as it is', async (t) => {
  const dashboard = await openDashboard(t)
  const { ada, made } = await withPasskey(dashboard)
  t.match(await made.text(), /\b[a-z2-9]{4}(?:-[a-z2-9]{4}){5}\b/)
  const second = await register(dashboard, ada, makeAuthenticator(), '<b onclick="x">Phone</b>')
  t.equal(second.headers.get('location'), '/app/security?said=added')
  const page = await (await ada.get('/app/security')).text()
  t.match(page, '&lt;b onclick=&quot;x&quot;&gt;Phone&lt;/b&gt;')
  t.notMatch(page, '<b onclick')
  t.match(page, '10 recovery codes are left')
  t.match(page, 'Set up an authenticator app', 'the app remains a further way')
})

t.test('a passkey of another host or origin, or none at all, is not added', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const { origin } = placeOf(dashboard)
  const options = async () => optionsOf(await (await ada.post('/app/security/passkeys/new')).text())
  for (const place of [
    { origin: 'https://evil.example', rpId: 'localhost' },
    { origin: `${origin}1`, rpId: 'localhost' },
    { origin, rpId: 'evil.example' },
  ]) {
    const passkey = JSON.stringify(makeAuthenticator().register((await options()).challenge, place))
    const refused = await ada.post('/app/security/passkeys', { name: 'X', passkey })
    t.equal(refused.status, 400, JSON.stringify(place))
    t.match(await refused.text(), 'The passkey could not be verified')
  }
  for (const passkey of ['', 'null', '7', '{', '{"id":{}}', '[]', `"${'x'.repeat(100_000)}"`]) {
    t.equal((await ada.post('/app/security/passkeys', { name: 'X', passkey })).status, 400, passkey.slice(0, 20))
  }
  t.match(await (await ada.get('/app/security')).text(), 'none')
})

t.test('a passkey of another host, of another browser, or used before logs no one in', async (t) => {
  const dashboard = await openDashboard(t)
  const { url } = dashboard
  const { authenticator } = await withPasskey(dashboard)
  const here = placeOf(dashboard)
  const logIn = (passkey: string, cookie: string) =>
    submit(url, '/app/login/passkey', { passkey, to: 'https://evil.example/' }, { cookie })
  const answer = (challenge: string, place = here) =>
    JSON.stringify(authenticator.answer(challenge, place, { counter: 0 }))
  const [own, other] = [await begin(url), await begin(url)]
  for (const [name, passkey, cookie] of [
    ['another host', answer(own.challenge, { ...here, rpId: 'evil.example' }), own.cookie],
    ['another origin', answer(own.challenge, { ...here, origin: 'https://evil.example' }), own.cookie],
    ['another browser', answer(own.challenge), other.cookie],
    ['no browser', answer(own.challenge), ''],
    ['nothing', '', own.cookie],
    ['nonsense', '{"id":"x","response":{}}', own.cookie],
  ] as const) {
    const refused = await logIn(passkey, cookie)
    t.equal(refused.status, 401, name)
    t.match(await refused.text(), 'This passkey is not known here', name)
    // Five failures of one network are the limit.
    await dashboard.service.sql`delete from allowances`
  }
  const done = await logIn(answer(own.challenge), own.cookie)
  t.equal(done.headers.get('location'), '/app', 'and to no other site')
  t.equal((await visitor(url, sessionCookieOf(done), 0).get('/app/security')).status, 200)
  t.equal((await logIn(answer(own.challenge), own.cookie)).status, 401, 'a replay')
})

t.test('after the password a passkey of this user completes the log-in, and one of another does not', async (t) => {
  const dashboard = await openDashboard(t)
  const { url, member } = dashboard
  const { ada, authenticator } = await withPasskey(dashboard)
  const eve = { user: await member(ada.accountId, 'viewer'), authenticator: makeAuthenticator() }
  await register(dashboard, eve.user, eve.authenticator)
  const asked = await (
    await submit(url, '/app/login', { email: EMAIL, password: PASSWORD, to: '/app/security' })
  ).text()
  const challenge = /name="challenge" value="([^"]+)"/.exec(asked)?.[1] as string
  const options = optionsOf(asked)
  t.match(options.allowCredentials, [{ id: authenticator.id }])
  const complete = (by: Authenticator, challengeOfPasskey: string) =>
    submit(url, '/app/login/code/passkey', {
      challenge,
      to: '/app/security',
      passkey: JSON.stringify(by.answer(challengeOfPasskey, placeOf(dashboard))),
    })
  const wrong = await complete(eve.authenticator, options.challenge)
  t.equal(wrong.status, 401)
  const again = optionsOf(await wrong.text())
  const right = await complete(authenticator, again.challenge)
  t.equal(right.headers.get('location'), '/app/security')
  t.ok(sessionCookieOf(right))
})

t.test('a passkey is removed by its user only, and no longer logs in', async (t) => {
  const dashboard = await openDashboard(t)
  const { url, member } = dashboard
  const { ada, authenticator } = await withPasskey(dashboard)
  const eve = await member(ada.accountId, 'owner')
  t.equal((await eve.post('/app/security/passkeys/remove', { id: authenticator.id })).status, 404)
  t.equal((await ada.post('/app/security/passkeys/remove', { id: authenticator.id })).status, 303)
  const { challenge, cookie } = await begin(url)
  const passkey = JSON.stringify(authenticator.answer(challenge, placeOf(dashboard)))
  t.equal((await submit(url, '/app/login/passkey', { passkey }, { cookie })).status, 401)
})

t.test('REQUIRE_2FA is satisfied by a passkey', async (t) => {
  const dashboard = await openDashboard(t, { REQUIRE_2FA: '1' })
  const ada = await dashboard.owner()
  t.equal((await ada.get(`/app/${ada.accountId}`)).headers.get('location'), '/app/security')
  t.equal((await register(dashboard, ada, makeAuthenticator())).status, 200)
  t.equal((await ada.get(`/app/${ada.accountId}`)).status, 200)
})

t.test('a passkey is added only by a user who has just proved who they are, by a passkey as well', async (t) => {
  const dashboard = await openDashboard(t)
  const { ada, authenticator } = await withPasskey(dashboard)
  await dashboard.service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
  await dashboard.service.core.people.sessions.endAll(0)
  const asked = await (await ada.post('/app/security/passkeys/new')).text()
  t.match(asked, 'Confirm that it is you')
  const { challenge } = await begin(dashboard.url)
  const answer = (of: string) => JSON.stringify(authenticator.answer(of, placeOf(dashboard)))
  const prove = (of: string) => ada.post('/app/security/passkeys/new', { 'proof-passkey': answer(of) })
  t.equal((await prove(challenge)).status, 401, 'an answer for a log-in proves nothing')
  t.match(await (await prove(optionsOf(asked).challenge)).text(), 'data-passkey="create"')
})

t.test('where browsers have no passkeys, the pages say so and offer none', async (t) => {
  const { url, owner } = await openDashboard(t, { PUBLIC_URL: 'http://192.0.2.1:8080' })
  const ada = await owner()
  t.notMatch(await (await fetch(`${url}/app/login`)).text(), 'data-passkey')
  t.match(await (await ada.get('/app/security')).text(), 'Passkeys need https and the name of a host')
  t.equal((await ada.post('/app/security/passkeys/new')).headers.get('location'), '/app/security')
})
