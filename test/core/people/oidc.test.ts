import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Core } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, makeMember, newClient, newPerson, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
const { sql, config } = service
await service.makeSender()
const owner = await firstUser(service)

/** The users of the provider, by subject. */
const claims = new Map<string, Record<string, unknown>>()
const issuer = await startProvider()
const settings = {
  issuer,
  clientId: 'postrider',
  clientSecret: 'a secret of the client',
  roleClaim: undefined,
  only: false,
}
const core = anotherProcess(t, service, { oidc: settings })
const { oidc } = core.people

/** A real provider on loopback, which logs in whom the test names. */
async function startProvider(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { default: Provider } = await import('oidc-provider' as string)
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'postrider',
        client_secret: 'a secret of the client',
        redirect_uris: [`${config.publicUrl}/app/oidc`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'roles'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['only for this test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...claims.get(id) }) }),
    async loadExistingGrant(context: { oidc: Record<string, { accountId: string; clientId: string }> }) {
      const grant = new provider.Grant({
        clientId: context.oidc.client?.clientId,
        accountId: context.oidc.session?.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response)
    const accountId = /as=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
    void provider.interactionFinished(request, response, { login: { accountId } })
  })
  return url
}

/** Follows the provider's pages as the user, and returns the URL that the browser is sent back to. */
async function visit(start: string, subject: string): Promise<string> {
  const cookies = new Map([['as', subject]])
  let url = start
  for (let step = 0; step < 10; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (!location) throw new Error(`${answer.status} ${await answer.text()}`)
    url = new URL(location, url).href
    if (url.startsWith(config.publicUrl)) return url
  }
  throw new Error('too many redirects')
}

let subjects = 0

function newSubject(given: Record<string, unknown> = {}) {
  const subject = `subject-${++subjects}`
  const person = { email: newPerson().email, email_verified: true, name: `Subject ${subjects}`, ...given }
  claims.set(subject, person)
  return { subject, ...person }
}

async function logIn(subject: string, people: Core['people'] = core.people) {
  const { url, cookie } = await people.oidc.begin()
  return people.oidc.finish({ url: await visit(url, subject), cookie, ...newClient() })
}

t.test('a user with the verified address logs in, and is known by their subject from then on', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'developer')
  const { subject } = newSubject({ email })
  t.match(await sessionOf(core, tokenOf(await logIn(subject))), {
    user: { id: userId },
    method: 'oidc',
    mustEnrol: false,
  })
  claims.set(subject, { email: 'renamed@people.example', email_verified: true })
  t.match(await logIn(subject), { kind: 'session', userId })
  const { subject: other } = newSubject({ email })
  t.match(await logIn(other), { kind: 'refused' }, 'another subject does not get the same user')
})

t.test('an address that either side has not verified is refused', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  for (const verified of [false, undefined, 'true']) {
    t.match(await logIn(newSubject({ email, email_verified: verified }).subject), { kind: 'refused' })
  }
  await sql`update users set verified_at = null where id = ${userId}`
  t.match(await logIn(newSubject({ email }).subject), { kind: 'refused' }, 'who made the user may be somebody else')
})

t.test('a stranger is refused, and one who was invited becomes a member', async (t) => {
  const { subject, email } = newSubject()
  t.match(await logIn(subject), { kind: 'refused' })
  t.equal(await core.people.users.find(email), undefined)
  const BY = { keyId: null, userId: owner.userId, address: null }
  await core.people.invitations.create(owner.accountId, { email, role: 'support' }, BY)
  const session = await sessionOf(core, tokenOf(await logIn(subject)))
  t.match(session, { user: { email, verified: true }, accounts: [{ id: owner.accountId, role: 'support' }] })
})

t.test('an answer counts only with its cookie, once, and as the provider gave it', async (t) => {
  const { email } = await makeMember(service, owner.accountId, 'viewer')
  const { subject } = newSubject({ email })
  const [one, other] = [await oidc.begin(), await oidc.begin()]
  const finish = (url: string, cookie: string) => oidc.finish({ url, cookie, ...newClient() })
  const answer = await visit(one.url, subject)
  t.match(await finish(answer, other.cookie), { kind: 'refused' }, 'the state of another browser')
  t.match(await finish(answer, ''), { kind: 'refused' })
  t.match(await finish(answer, `${one.cookie.slice(0, -4)}AAAA`), { kind: 'refused' }, 'an altered cookie')
  const withoutState = new URL(answer)
  withoutState.searchParams.delete('state')
  t.match(await finish(withoutState.href, one.cookie), { kind: 'refused' })
  t.match(await finish(answer, one.cookie), { kind: 'session' })
  t.match(await finish(answer, one.cookie), { kind: 'refused' }, 'a replay')
})

t.test('a code that was given for another nonce is refused', async (t) => {
  const { email } = await makeMember(service, owner.accountId, 'viewer')
  const { subject } = newSubject({ email })
  const { url, cookie } = await oidc.begin()
  const altered = new URL(url)
  altered.searchParams.set('nonce', 'the nonce of an attacker')
  t.match(await oidc.finish({ url: await visit(altered.href, subject), cookie, ...newClient() }), { kind: 'refused' })
})

t.test('with OIDC_ROLE_CLAIM the provider gives and takes roles; the last owner remains', async (t) => {
  const { accountId } = await service.makeSender()
  const { people } = anotherProcess(t, service, { oidc: { ...settings, roleClaim: 'roles' } })
  const { subject } = newSubject({ roles: [`owner:${accountId}`, 'viewer', 'operator', 'king', 'owner:1:2', 7] })
  const session = await people.sessions.find(tokenOf(await logIn(subject, people)))
  t.match(session?.user, { operator: true })
  t.match(
    new Map(session?.accounts.map(({ id, role }) => [id, role])),
    new Map([
      [accountId, 'owner'],
      [owner.accountId, 'viewer'],
    ]),
  )
  claims.set(subject, { ...claims.get(subject), roles: 'developer' })
  const later = await people.sessions.find(tokenOf(await logIn(subject, people)))
  t.match(later?.user, { operator: false })
  t.match(
    new Map(later?.accounts.map(({ id, role }) => [id, role])),
    new Map([
      [accountId, 'owner'],
      [owner.accountId, 'developer'],
    ]),
  )
  t.match(await logIn(newSubject({ roles: [] }).subject, people), { kind: 'refused' })
  t.match(await logIn(newSubject().subject, people), { kind: 'refused' })
  t.equal(await core.audit.firstBroken(accountId), null)
})

t.test('with OIDC_ONLY passwords, links and passkeys log no one in', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  const { people } = anotherProcess(t, service, { oidc: { ...settings, only: true }, signUp: 'open' })
  t.match(await people.logIn({ email, password: PASSWORD, ...newClient() }), { kind: 'refused' })
  const { url } = await people.passwordReset.link(userId)
  const token = new URL(url).searchParams.get('token') as string
  t.equal(await refused(people.passwordReset.use(token, 'a new fine secret', newClient())), 'linkInvalid')
  t.equal(people.signUp.isOpen, false)
  t.match(await logIn(newSubject({ email }).subject, people), { kind: 'session', userId })
})

t.test('a provider that cannot be reached is an error of the service', async (t) => {
  const { people } = anotherProcess(t, service, { oidc: { ...settings, issuer: 'http://127.0.0.1:1' } })
  t.equal(await refused(people.oidc.begin()), 'notReady')
})
