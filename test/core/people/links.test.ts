import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { mailedLink, mailedText } from './mailed.ts'
import { anotherProcess, firstUser, makeMember, newClient, newPerson, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
const { sql } = service
const { accountId, domain } = await service.makeSender()
const core = anotherProcess(t, service, { serviceDomain: domain, signUp: 'open' })
await core.readiness.check()
await firstUser(service)
const { passwordReset, signUp } = core.people

t.test('a user sets a new password by a link, which works once, ends all sessions and logs them in', async (t) => {
  const { email, userId } = await makeMember(service, accountId, 'viewer')
  const session = tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() }))
  t.same(await passwordReset.request(email, newClient()), { kind: 'sent' })
  await core.people.close()
  const token = await mailedLink(sql, email, 'reset')
  t.equal(await refused(passwordReset.use(token, '12345678', newClient())), 'passwordWeak')
  const changed = tokenOf(await passwordReset.use(token, 'a new fine secret', newClient()))
  t.match(await sessionOf(core, changed), { user: { id: userId } })
  t.equal(await core.people.sessions.find(session), undefined)
  t.equal(await refused(passwordReset.use(token, 'yet another secret', newClient())), 'linkInvalid')
  t.equal((await core.people.logIn({ email, password: 'a new fine secret', ...newClient() })).kind, 'session')
})

t.test('an unknown address gets the same answer, before anything is looked up', async (t) => {
  const { email } = await makeMember(service, accountId, 'viewer')
  await sql`alter table users rename to hidden`
  const answers = [
    await passwordReset.request(email, newClient()),
    await passwordReset.request('unknown@people.example', newClient()),
  ]
  t.same(answers, [{ kind: 'sent' }, { kind: 'sent' }])
  await sql`alter table hidden rename to users`
  await core.people.close()
})

t.test(
  'of two processes that use a link, one succeeds; a link ends after an hour, and a password change ends the others',
  async (t) => {
    const { email, userId } = await makeMember(service, accountId, 'viewer')
    const other = anotherProcess(t, service).people.passwordReset
    const tokenOfUrl = (url: string) => new URL(url).searchParams.get('token') as string
    const [first, second] = [await passwordReset.link(userId), await passwordReset.link(userId)]
    const results = await Promise.all(
      [passwordReset, other, passwordReset, other].map((one) =>
        refused(one.use(tokenOfUrl(first.url), 'a new fine secret', newClient())),
      ),
    )
    t.equal(results.filter((error) => error === undefined).length, 1, String(results))
    t.equal(await passwordReset.isValid(tokenOfUrl(second.url)), false)
    await passwordReset.request(email, newClient())
    await core.people.close()
    const token = await mailedLink(sql, email, 'reset')
    t.equal(await passwordReset.isValid(token), true)
    await moveClock(sql, '61 minutes')
    t.equal(await refused(passwordReset.use(token, 'a new fine secret', newClient())), 'linkInvalid')
    await moveClock(sql, '0 minutes')
  },
)

t.test('three links an hour go to one address', async (t) => {
  const { email } = await makeMember(service, accountId, 'viewer')
  const kinds = []
  for (let n = 0; n < 5; n++) kinds.push((await passwordReset.request(email, newClient())).kind)
  t.same(kinds, ['sent', 'sent', 'sent', 'too-many', 'too-many'])
})

t.test('sign-up makes a user and an account once the address is verified, and nothing before', async (t) => {
  const person = newPerson()
  const client = newClient()
  t.same(await signUp.request(person.email, client), { kind: 'sent' })
  await core.people.close()
  t.equal(await core.people.users.find(person.email), undefined)
  const token = await mailedLink(sql, person.email, 'verify')
  const made = await signUp.verify(token, person, client)
  const session = await sessionOf(core, made.token)
  t.match(session, { user: { email: person.email, verified: true, operator: false }, accounts: [{ role: 'owner' }] })
  const [row] = await sql`select trial_address from accounts where id = ${made.accountId}`
  t.equal(row?.trial_address, person.email)
  t.equal(await refused(signUp.verify(token, person, client)), 'linkInvalid')
})

t.test('a link that cannot be used for a weak password or a bad name remains usable', async (t) => {
  const person = newPerson()
  await signUp.request(person.email, newClient())
  await core.people.close()
  const token = await mailedLink(sql, person.email, 'verify')
  t.equal(await refused(signUp.verify(token, { ...person, password: 'password1' }, newClient())), 'passwordWeak')
  t.equal(await refused(signUp.verify(token, { ...person, name: '' }, newClient())), 'parameterInvalid')
  t.ok(await signUp.verify(token, person, newClient()))
})

t.test('sign-up with the address of a user answers the same, and tells the user only', async (t) => {
  const known = await makeMember(service, accountId, 'viewer')
  t.same(await signUp.request(known.email, newClient()), { kind: 'sent' })
  await core.people.close()
  t.match(await mailedText(sql, known.email), /already has a user/)
  t.notMatch(await mailedText(sql, known.email), /token=/)
})

t.test('two people who have the same name get accounts of different names', async (t) => {
  const ids = []
  for (const person of [newPerson(), newPerson()]) {
    await signUp.request(person.email, newClient())
    await core.people.close()
    const token = await mailedLink(sql, person.email, 'verify')
    ids.push((await signUp.verify(token, { ...person, name: 'Same / Name' }, newClient())).accountId)
  }
  t.not(ids[0], ids[1])
})

t.test('without SIGN_UP=open no one can sign up, and links that were sent before are invalid', async (t) => {
  const person = newPerson()
  await signUp.request(person.email, newClient())
  await core.people.close()
  const invite = anotherProcess(t, service, { signUp: 'invite' }).people.signUp
  t.equal(invite.isOpen, false)
  t.equal(await refused(invite.request(newPerson().email, newClient())), 'signUpClosed')
  t.equal(
    await refused(invite.verify(await mailedLink(sql, person.email, 'verify'), person, newClient())),
    'linkInvalid',
  )
})
