import type { Core } from '@postrider/core'
import t from 'tap'
import { followProvider, startProvider } from '../../helpers/openid-provider.ts'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, makeMember, newClient, newPerson, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
const { sql, config } = service
await service.makeSender()
const owner = await firstUser(service)

/** The users of the provider, by subject. */
const claims = new Map<string, Record<string, unknown>>()
const issuer = await startProvider(t, config.publicUrl, claims)
const settings = {
  issuer,
  clientId: 'postrider',
  clientSecret: 'a secret of the client',
  roleClaim: undefined,
  only: false,
}
const core = anotherProcess(t, service, { oidc: settings })
const { oidc } = core.people

let subjects = 0

function newSubject(given: Record<string, unknown> = {}) {
  const subject = `subject-${++subjects}`
  const person = { email: newPerson().email, email_verified: true, name: `Subject ${subjects}`, ...given }
  claims.set(subject, person)
  return { subject, ...person }
}

async function logIn(subject: string, people: Core['people'] = core.people) {
  const { url, cookie } = await people.oidc.begin()
  return people.oidc.finish({ url: await followProvider(config.publicUrl, url, subject), cookie, ...newClient() })
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
  t.match(await logIn(other), { kind: 'refused', reason: 'unlinked' }, 'another subject does not get the same user')
})

t.test('an address that either side has not verified is refused', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  for (const verified of [false, undefined, 'true']) {
    t.match(await logIn(newSubject({ email, email_verified: verified }).subject), { kind: 'refused' })
  }
  await sql`update users set verified_at = null where id = ${userId}`
  t.match(
    await logIn(newSubject({ email }).subject),
    { kind: 'refused', reason: 'unlinked' },
    'who made the user may be somebody else',
  )
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

t.test('with SIGN_UP=open a stranger gets an account on trial, and one who was invited gets none', async (t) => {
  const { people, accounts } = anotherProcess(t, service, { oidc: settings, signUp: 'open' })
  const { subject, email, name } = newSubject()
  t.match(await logIn(newSubject({ email_verified: false }).subject, people), { kind: 'refused', reason: 'unverified' })
  const token = tokenOf(await logIn(subject, people))
  const session = await people.sessions.find(token)
  t.match(session, { user: { email, name, verified: true, operator: false }, accounts: [{ name, role: 'owner' }] })
  const id = session?.accounts[0]?.id as number
  t.match(await sql`select trial_address from accounts where id = ${id}`, [{ trial_address: email }])
  t.match(await core.audit.list(id, { after: 0, limit: 5 }), [{ action: 'account.create', userId: session?.user.id }])
  await logIn(subject, people)
  t.equal((await people.sessions.find(token))?.accounts.length, 1, 'the second log-in makes no other account')
  t.ok(await accounts.settings.show(id))

  const invited = newSubject()
  const BY = { keyId: null, userId: owner.userId, address: null }
  await people.invitations.create(owner.accountId, { email: invited.email, role: 'support' }, BY)
  const joined = await people.sessions.find(tokenOf(await logIn(invited.subject, people)))
  t.strictSame(
    joined?.accounts.map(({ id, role }) => [id, role]),
    [[owner.accountId, 'support']],
  )
})

t.test('new users of one network are limited, and those who are known are not', async (t) => {
  const { people } = anotherProcess(t, service, { oidc: settings, signUp: 'open' })
  const client = newClient()
  const comes = async (subject: string) => {
    const { url, cookie } = await people.oidc.begin()
    return people.oidc.finish({ url: await followProvider(config.publicUrl, url, subject), cookie, ...client })
  }
  const { subject } = newSubject()
  for (const one of [subject, subject, newSubject().subject]) t.match(await comes(one), { kind: 'session' })
  t.match(await sql`select taken from allowances where name = ${`log-in from ${client.address}`}`, [{ taken: 2 }])
})

t.test('an answer counts only with its cookie, once, and as the provider gave it', async (t) => {
  const { email } = await makeMember(service, owner.accountId, 'viewer')
  const { subject } = newSubject({ email })
  const [one, other] = [await oidc.begin(), await oidc.begin()]
  const finish = (url: string, cookie: string) => oidc.finish({ url, cookie, ...newClient() })
  const answer = await followProvider(config.publicUrl, one.url, subject)
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
  t.match(
    await oidc.finish({ url: await followProvider(config.publicUrl, altered.href, subject), cookie, ...newClient() }),
    { kind: 'refused' },
  )
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

t.test(
  'with OIDC_ONLY passwords and mailed links log no one in; a link that the operator hands over does',
  async (t) => {
    const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
    const { people } = anotherProcess(t, service, { oidc: { ...settings, only: true }, signUp: 'open' })
    t.match(await people.logIn({ email, password: PASSWORD, ...newClient() }), { kind: 'refused' })
    const { url } = await people.passwordReset.link(userId)
    const token = new URL(url).searchParams.get('token') as string
    const use = () => people.passwordReset.use(token, 'a new fine secret', newClient())
    await sql`update one_time_links set data = '{"mailed": true}' where user_id = ${userId}`
    t.equal(await refused(use()), 'linkInvalid')
    await sql`update one_time_links set data = '{}' where user_id = ${userId}`
    t.match(await use(), { kind: 'session', userId })
    t.equal(people.signUp.isOpen, false)
    t.match(await logIn(newSubject({ email }).subject, people), { kind: 'session', userId })
  },
)

t.test(
  "with OIDC_ONLY the provider's word is enough for an address that was not confirmed here, and earlier log-ins end",
  async (t) => {
    const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
    const before = tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() }))
    await sql`update users set verified_at = null where id = ${userId}`
    const { people } = anotherProcess(t, service, { oidc: { ...settings, only: true } })
    t.match(await logIn(newSubject({ email, email_verified: false }).subject, people), { reason: 'unverified' })
    const { subject } = newSubject({ email })
    const session = await sessionOf(core, tokenOf(await logIn(subject, people)))
    t.match(session, { user: { id: userId, verified: true }, accounts: [{ id: owner.accountId, role: 'viewer' }] })
    t.equal(await people.sessions.find(before), undefined)
    t.match(
      await core.people.logIn({ email, password: PASSWORD, ...newClient() }),
      { kind: 'refused' },
      'also without OIDC_ONLY later',
    )
    t.match(await logIn(newSubject({ email }).subject, people), { kind: 'refused', reason: 'unlinked' })
  },
)

t.test('a provider that cannot be reached is an error of the service', async (t) => {
  const { people } = anotherProcess(t, service, { oidc: { ...settings, issuer: 'http://127.0.0.1:1' } })
  t.equal(await refused(people.oidc.begin()), 'notReady')
})
