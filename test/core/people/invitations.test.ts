import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { mailedLink, mailedText } from './mailed.ts'
import { anotherProcess, firstUser, makeMember, newClient, newPerson, PASSWORD, sessionOf } from './people.ts'

const service = await makeService(t)
const { sql } = service
const { accountId, domain } = await service.makeSender()
const core = anotherProcess(t, service, { serviceDomain: domain })
await core.readiness.check()
const owner = await firstUser(service)
const BY = { keyId: null, userId: owner.userId, address: '192.0.2.1' }

async function invite(role = 'developer', email = newPerson().email) {
  const { invitation, url } = await core.people.invitations.create(accountId, { email, role }, BY)
  t.equal(url, undefined, 'the maker does not get the link')
  t.match(invitation, { email, role, mailed: true, invitedBy: owner.name })
  return { ...invitation, token: await mailedLink(sql, email, 'invitation') }
}

t.test('an invitation is sent by mail, and makes a member with a verified address who is logged in', async (t) => {
  const { token, email, id } = await invite()
  t.match(await core.people.invitations.find(token), { accountId, role: 'developer', email, hasUser: false })
  t.ok((await core.people.invitations.list(accountId)).some((one) => one.id === id))
  const made = await core.people.invitations.accept(token, { name: 'New', password: PASSWORD }, newClient())
  t.match(await sessionOf(core, made.token), {
    user: { name: 'New', email, verified: true, operator: false },
    accounts: [{ id: accountId, role: 'developer' }],
  })
  t.notOk((await core.people.invitations.list(accountId)).some((one) => one.id === id))
  const again = core.people.invitations.accept(token, { name: 'Again', password: PASSWORD }, newClient())
  t.equal(await refused(again), 'linkInvalid', 'it works once')
})

t.test('exactly one of many uses of an invitation in two processes succeeds', async (t) => {
  const { token } = await invite()
  const processes = [core, anotherProcess(t, service)]
  const results = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      refused(
        (processes[n % 2] as typeof core).people.invitations.accept(
          token,
          { name: `P${n}`, password: PASSWORD },
          newClient(),
        ),
      ),
    ),
  )
  t.equal(results.filter((error) => error === undefined).length, 1, String(results))
})

t.test('an invitation ends when it is revoked, replaced or 7 days old', async (t) => {
  const revoked = await invite()
  t.equal(await core.people.invitations.revoke(accountId + 1000, revoked.id, BY), false, 'not by another account')
  t.equal(await core.people.invitations.revoke(accountId, revoked.id, BY), true)
  t.equal(await core.people.invitations.find(revoked.token), undefined)
  const { email, token: old } = await invite()
  const { token } = await invite('viewer', email)
  t.equal(await core.people.invitations.find(old), undefined)
  t.ok(await core.people.invitations.find(token))
  await moveClock(sql, '7 days 1 second')
  t.equal(await core.people.invitations.find(token), undefined)
  const late = core.people.invitations.accept(token, { name: 'Late', password: PASSWORD }, newClient())
  t.equal(await refused(late), 'linkInvalid')
  await moveClock(sql, '0 days')
})

t.test('a user accepts only what was sent to their own address, and no one accepts for them', async (t) => {
  const other = await service.makeSender()
  const user = await makeMember(service, other.accountId, 'owner')
  const { token } = await invite('support', user.email)
  const stranger = await makeMember(service, other.accountId, 'viewer')
  const asNew = core.people.invitations.accept(token, { name: 'Thief', password: PASSWORD }, newClient())
  t.equal(await refused(asNew), 'parameterInvalid', 'the user must log in')
  t.equal(
    await refused(core.people.invitations.acceptAs(token, { id: stranger.userId, email: stranger.email }, '::1')),
    'parameterInvalid',
  )
  t.equal(await core.people.invitations.acceptAs(token, { id: user.userId, email: user.email }, '::1'), accountId)
  t.match(
    (await core.people.members.list(accountId)).filter(({ userId }) => userId === user.userId),
    [{ role: 'support' }],
  )
})

t.test('without mail of the service the maker gets the link, and the address does not count as verified', async (t) => {
  const quiet = anotherProcess(t, service, { serviceDomain: undefined }).people
  const { email } = newPerson()
  const { url, invitation } = await quiet.invitations.create(accountId, { email, role: 'viewer' }, BY)
  t.match(url, /^http:\/\/localhost:\d+\/app\/invitation\?token=[\w-]{43}$/)
  t.equal(invitation.mailed, false)
  const token = new URL(url as string).searchParams.get('token') as string
  const made = await quiet.invitations.accept(token, { name: 'Handed', password: PASSWORD }, newClient())
  t.match(await sessionOf(core, made.token), { user: { verified: false } })
})

t.test('with SIGN_UP=closed an invitation makes no user', async (t) => {
  const { token } = await invite()
  const closed = anotherProcess(t, service, { signUp: 'closed' }).people
  t.equal(
    await refused(closed.invitations.accept(token, { name: 'New', password: PASSWORD }, newClient())),
    'linkInvalid',
  )
})

t.test(
  'members, wrong roles and wrong addresses are not invited, and an account invites 50 times per hour',
  async (t) => {
    const { accountId } = await service.makeSender()
    const create = (email: string, role = 'viewer') =>
      refused(core.people.invitations.create(accountId, { email, role }, BY))
    const { email } = await makeMember(service, accountId, 'viewer')
    t.equal(await create(email), 'parameterInvalid')
    t.equal(await create('nowhere'), 'parameterInvalid')
    t.equal(await create(newPerson().email, 'root'), 'parameterInvalid')
    const results = []
    for (let n = 0; n < 52; n++) results.push(await create(`many${n}@people.example`))
    t.equal(results.filter((error) => error === undefined).length, 49, 'one was that of a member')
    t.equal(results.at(-1), 'rateLimited')
  },
)

t.test('an address gets three invitations per day from all accounts together, in both spellings', async (t) => {
  const { email } = newPerson()
  const results = []
  for (const spelling of [email, email.toUpperCase(), email, email]) {
    const { id } = await service.core.accounts.create(`inviting ${results.length}`)
    results.push(await refused(core.people.invitations.create(id, { email: spelling, role: 'viewer' }, BY)))
  }
  t.same(results, [undefined, undefined, undefined, 'rateLimited'])
})

t.test('an account on trial invites five times per day, whatever becomes of the invitations', async (t) => {
  const { id } = await service.core.accounts.create('on trial')
  await sql`update accounts set trial_address = 'lena@harbor.example' where id = ${id}`
  const results = []
  for (let n = 0; n < 6; n++) {
    const made = core.people.invitations.create(id, { email: newPerson().email, role: 'viewer' }, BY)
    results.push(await refused(made))
    const { invitation } = (await made.catch(() => undefined)) ?? {}
    if (invitation) await core.people.invitations.revoke(id, invitation.id, BY)
  }
  t.same(results, [undefined, undefined, undefined, undefined, undefined, 'parameterInvalid'])
})

t.test('the mail of an invitation has the names of strangers in quotes, on one line and without links', async (t) => {
  const name = `Win now: https://evil.example/x "or" www.evil.example, ${'very '.repeat(6)}long`
  const { id } = await core.accounts.create(name.replaceAll('/', '\u2044'))
  const email = newPerson().email
  await core.people.invitations.create(id, { email, role: 'viewer' }, BY)
  const mail = (await mailedText(sql, email)) ?? ''
  t.match(mail, 'You are invited to an account of this service, as viewer.')
  t.match(mail, /for the account “Win now: https [^.:/]{10,60}…”\./)
  t.equal(mail.match(/https?:\/\/\S+/g)?.length, 1, 'the only link is that of the invitation')
  t.notMatch(mail, 'evil.example')
})
