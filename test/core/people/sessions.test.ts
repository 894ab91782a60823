import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { isInTime } from '../../helpers/pace.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
const { core, sql } = service
const owner = await firstUser(service)
const BY = { keyId: null, address: null }

async function logIn(email: string) {
  return tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() }))
}

t.test('the database has only the hash of a token', async (t) => {
  const token = await logIn(owner.email)
  const [row] = await sql`
    select count(*)::int as found from sessions s where s::text like ${`%${token}%`} or s::text like ${`%${Buffer.from(token, 'base64url').toString('hex')}%`}`
  t.equal(row?.found, 0)
})

t.test('a token that this installation did not make costs no query', async (t) => {
  const token = await logIn(owner.email)
  const forged = `${token.slice(0, 10)}${token[10] === 'A' ? 'B' : 'A'}${token.slice(11)}`
  const { sessions } = anotherProcess(t, service).people
  await sql`alter table sessions rename to hidden`
  for (const wrong of [forged, '', 'x', 'A'.repeat(54), `${token}A`, 'A'.repeat(100_000)]) {
    t.equal(await sessions.find(wrong), undefined)
  }
  await t.rejects(sessions.find(token), { code: '42P01' })
  await sql`alter table hidden rename to sessions`
})

t.test('a session that is ended is gone in this process at once, and in another one within 5 seconds', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  const other = anotherProcess(t, service).people
  const [kept, ended] = [await logIn(email), await logIn(email)]
  const { sessionId } = await sessionOf(core, ended)
  t.ok(await other.sessions.find(ended))
  t.equal((await core.people.sessions.list(userId)).length, 2)
  t.equal(await core.people.sessions.end(owner.userId, sessionId), false, 'only its user can end it')
  const begin = performance.now()
  t.equal(await core.people.sessions.end(userId, sessionId), true)
  t.equal(await core.people.sessions.find(ended), undefined)
  await until('the other process notices', async () => (await other.sessions.find(ended)) === undefined)
  t.ok(isInTime(begin, 5000))
  t.ok(await other.sessions.find(kept))
  t.equal(await core.people.sessions.endAll(userId), 1)
  t.equal(await core.people.sessions.find(kept), undefined)
})

t.test('a change of role is seen within 5 seconds, and replaces the token', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  const other = anotherProcess(t, service).people
  const token = await logIn(email)
  t.match(await other.sessions.find(token), { accounts: [{ role: 'viewer' }], mustRotate: false })
  await core.people.members.change(owner.accountId, userId, 'developer', BY)
  await until(
    'the other process notices',
    async () => (await other.sessions.find(token))?.accounts[0]?.role === 'developer',
  )
  t.match(await other.sessions.find(token), { mustRotate: true })
  const next = (await other.sessions.rotate(token)) as string
  t.not(next, token)
  t.match(await other.sessions.find(next), { user: { id: userId }, mustRotate: false })
  t.match(await other.sessions.find(token), { user: { id: userId }, mustRotate: false }, 'for requests under way')
  t.equal(await core.people.sessions.rotate(token), undefined, 'the old token gets no successor of its own')
  await sql`update sessions set rotated_at = rotated_at - interval '31 seconds' where user_id = ${userId}`
  t.equal(await anotherProcess(t, service).people.sessions.find(token), undefined)
  t.ok(await anotherProcess(t, service).people.sessions.find(next))
})

t.test('sessions that are requested together are read together, and each is its own', async (t) => {
  const members = await Promise.all(
    ['viewer', 'support', 'developer'].map((role) => makeMember(service, owner.accountId, role)),
  )
  const tokens = await Promise.all(members.map(({ email }) => logIn(email)))
  const [first, , last] = members as [(typeof members)[0], unknown, (typeof members)[0]]
  const another = await core.accounts.create('Another account')
  await core.people.members.add(another.id, last.userId, 'viewer', BY)
  await core.people.sessions.end(first.userId, (await sessionOf(core, tokens[0] as string)).sessionId)
  const { sessions } = anotherProcess(t, service).people
  const found = await sql.begin(async (sql) => {
    await sql`lock table sessions in access exclusive mode`
    const finding = Promise.all(tokens.map((token) => sessions.find(token)))
    const waiting = async () =>
      (
        await sql`
          select count(*)::int as count from pg_locks where not granted and relation = 'sessions'::regclass
             and database = (select oid from pg_database where datname = current_database())`
      )[0]?.count
    await until('a statement to wait', async () => (await waiting()) > 0)
    t.equal(await waiting(), 1)
    return { finding }
  })
  t.match(await found.finding, [
    undefined,
    { user: { id: members[1]?.userId }, accounts: [{ id: owner.accountId, role: 'support' }] },
    {
      user: { id: last.userId },
      accounts: [
        { id: another.id, role: 'viewer' },
        { id: owner.accountId, role: 'developer' },
      ],
    },
  ])
})

t.test('a session ends 12 hours after its last request, and 30 days after log-in', async (t) => {
  const service = await makeService(t)
  const { token } = await firstUser(service)
  const find = () => anotherProcess(t, service).people.sessions.find(token)
  await moveClock(service.sql, '11 hours')
  t.ok(await find())
  await moveClock(service.sql, '22 hours')
  t.ok(await find(), 'the request at 11 hours counts')
  await moveClock(service.sql, '35 hours')
  t.equal(await find(), undefined)
  await service.sql`update sessions set seen_at = created_at + interval '29 days 20 hours'`
  await moveClock(service.sql, '29 days 23 hours')
  t.ok(await find())
  await moveClock(service.sql, '30 days 1 hour')
  t.equal(await find(), undefined)
  await service.core.people.forgetOld()
  t.equal((await service.sql`select id from sessions`).length, 0)
})

t.test('a user proves again who they are with their password', async (t) => {
  const { email } = await makeMember(service, owner.accountId, 'viewer')
  const token = await logIn(email)
  await sql`update sessions set reauthenticated_at = now() - interval '1 hour'`
  core.people.sessions.end(0, 0)
  const session = await sessionOf(core, token)
  t.ok(Date.now() - session.reauthenticatedAt.getTime() > 3_000_000)
  const { address } = newClient()
  t.match(await core.people.reauthenticate(session, 'a wrong password', address), { kind: 'refused' })
  t.match(await core.people.reauthenticate(session, PASSWORD, address), { kind: 'done', at: Date })
  t.ok(Date.now() - (await sessionOf(core, token)).reauthenticatedAt.getTime() < 60_000)
  for (let time = 0; time < 4; time++) await core.people.reauthenticate(session, 'a wrong password', address)
  t.match(await core.people.reauthenticate(session, PASSWORD, address), { kind: 'too-many' })
})

t.test('a new password ends the other sessions of its user', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  const [kept, ended] = [await logIn(email), await logIn(email)]
  const { sessionId } = await sessionOf(core, kept)
  await core.people.users.changePassword(userId, 'another fine secret', { sessionId, address: '192.0.2.1' })
  t.ok(await core.people.sessions.find(kept))
  t.equal(await core.people.sessions.find(ended), undefined)
  t.match(await core.people.logIn({ email, password: PASSWORD, ...newClient() }), { kind: 'refused' })
})

t.test('with REQUIRE_2FA a session by password says that its user must set up a second factor', async (t) => {
  const strict = anotherProcess(t, service, { require2fa: true })
  t.match(await strict.people.sessions.find(await logIn(owner.email)), { mustEnrol: true })
})

t.test('what an open page requests by itself does not delay the end of a session', async (t) => {
  const service = await makeService(t)
  const { token } = await firstUser(service)
  const find = (isPerson: boolean) => anotherProcess(t, service).people.sessions.find(token, { isPerson })
  await moveClock(service.sql, '11 hours')
  t.ok(await find(false))
  await moveClock(service.sql, '13 hours')
  t.equal(await find(false), undefined)
  await moveClock(service.sql, '11 hours')
  const { sessions } = anotherProcess(t, service).people
  t.ok(await sessions.find(token, { isPerson: false }))
  t.ok(await sessions.find(token), 'a request of the user counts, also right after one of the page')
  await moveClock(service.sql, '22 hours')
  t.ok(await find(false))
})
