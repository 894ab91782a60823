import t from 'tap'
import { holding, untilBlocked } from '../../helpers/blocked.ts'
import { stopClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import {
  anotherProcess,
  firstUser,
  makeMember,
  newClient,
  PASSWORD,
  sessionOf,
  setPassword,
  tokenOf,
} from './people.ts'

const service = await makeService(t)
await stopClock(service.sql)
const { core } = service
const owner = await firstUser(service)

t.test('a user logs in with their address, in any case, and their password', async (t) => {
  const token = tokenOf(
    await core.people.logIn({ email: owner.email.toUpperCase(), password: PASSWORD, ...newClient() }),
  )
  t.match(await sessionOf(core, token), { user: { id: owner.userId }, method: 'password' })
  t.match(await core.people.sessions.find(owner.token), { user: { id: owner.userId } }, 'other sessions go on')
})

t.test('a wrong password, an unknown user and a disabled user get the same answer', async (t) => {
  const gone = await makeMember(service, owner.accountId, 'viewer')
  await core.people.users.disable(gone.userId, { keyId: null, address: null })
  const attempts = [
    { email: owner.email, password: `${PASSWORD}.` },
    { email: 'unknown@people.example', password: PASSWORD },
    { email: gone.email, password: PASSWORD },
    { email: 'not an address', password: PASSWORD },
    { email: '', password: '' },
    { email: owner.email, password: 'x'.repeat(1_000_000) },
  ]
  for (const attempt of attempts) {
    t.strictSame(await core.people.logIn({ ...attempt, ...newClient() }), { kind: 'refused' }, attempt.email)
  }
})

t.test('the time does not show whether a user exists', async (t) => {
  // Another process hashes as an installation does.
  const another = anotherProcess(t, service)
  const { people } = another
  const member = await makeMember(service, owner.accountId, 'viewer')
  await setPassword(another, member.userId)
  const time = async (email: string): Promise<number> => {
    const begin = process.cpuUsage()
    await people.logIn({ email, password: 'a wrong password', ...newClient() })
    const { user, system } = process.cpuUsage(begin)
    return user + system
  }
  const known: number[] = []
  const unknown: number[] = []
  for (let round = 0; round < 7; round++) {
    known.push(await time(member.email))
    unknown.push(await time(`unknown${round}@people.example`))
  }
  const median = (times: number[]) => times.sort((a, b) => a - b)[3] as number
  const ratio = median(known) / median(unknown)
  t.ok(ratio > 0.67 && ratio < 1.5, `processor time of a known user by that of an unknown one: ${ratio}`)
})

t.test('passwords are stored as scrypt, at the cost that OWASP recommends', async (t) => {
  const another = anotherProcess(t, service)
  const { userId } = await makeMember(service, owner.accountId, 'viewer')
  await setPassword(another, userId)
  const [account] = (await core.accounts.list()).filter(({ id }) => id === owner.accountId)
  if (!account) throw new Error('no account')
  const holder = { username: 'quay', email: 'quay@people.example', password: 'Quay2026' }
  await another.subaccounts.create(account, { ...holder, creditType: 'unlimited' })
  const stored = await service.sql<{ password: string }[]>`
    select password from users where id = ${userId}
    union all select password from accounts where username = 'quay'`
  t.equal(stored.length, 2)
  for (const { password } of stored) t.match(password, /^scrypt\$16384\$8\$5\$[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}$/)
})

t.test('a log-in ends the session that the browser had, and its token is never one that a client chose', async (t) => {
  const client = newClient()
  const first = tokenOf(await core.people.logIn({ email: owner.email, password: PASSWORD, ...client }))
  const second = tokenOf(
    await core.people.logIn({ email: owner.email, password: PASSWORD, ...client, replaces: first }),
  )
  t.not(second, first)
  t.equal(await core.people.sessions.find(first), undefined)
  const chosen = 'A'.repeat(54)
  const third = tokenOf(
    await core.people.logIn({ email: owner.email, password: PASSWORD, ...client, replaces: chosen }),
  )
  t.not(third, chosen)
  t.equal(await core.people.sessions.find(chosen), undefined)
})

t.test(
  'five failures of one name from one network are the limit over all processes; successes do not count',
  async (t) => {
    const { email } = await makeMember(service, owner.accountId, 'viewer')
    const client = newClient()
    const processes = [core, anotherProcess(t, service)]
    const attempt = (n: number, password: string, from = client) =>
      (processes[n % 2] as typeof core).people.logIn({ email, password, ...from })
    for (let time = 0; time < 8; time++) t.equal((await attempt(0, PASSWORD)).kind, 'session')
    const kinds = []
    for (let time = 0; time < 8; time++) kinds.push((await attempt(time, 'a wrong password')).kind)
    t.equal(kinds.filter((kind) => kind === 'refused').length, 5)
    t.equal(kinds.filter((kind) => kind === 'too-many').length, 3)
    const last = await attempt(0, PASSWORD)
    t.match(last, { kind: 'too-many', until: Date })
    t.equal((await attempt(0, PASSWORD, newClient())).kind, 'session', 'from elsewhere the user is not locked out')
  },
)

t.test('fifty failures from one network are the limit, whatever the names', async (t) => {
  const processes = [core, anotherProcess(t, service)]
  const kinds: string[] = []
  for (let time = 0; time < 54; time++) {
    const client = { address: `2001:db8:7:7::${time + 1}` }
    const process = processes[time % 2] as typeof core
    kinds.push(
      (await process.people.logIn({ email: `none${time}@people.example`, password: 'wrong one', ...client })).kind,
    )
  }
  t.equal(kinds.filter((kind) => kind === 'refused').length, 50)
})

t.test('a flood of log-ins is turned away before its passwords are checked', async (t) => {
  const { people } = anotherProcess(t, service)
  const results = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      people.logIn({ email: `flood${n}@people.example`, password: 'wrong one', ...newClient() }),
    ),
  )
  const kinds = results.map(({ kind }) => kind)
  t.equal(kinds.filter((kind) => kind === 'refused').length, 25)
  t.equal(kinds.filter((kind) => kind === 'too-many').length, 35)
})

t.test('the holder of a subaccount logs in with its full name and the password that its parent set', async (t) => {
  const [account] = (await core.accounts.list()).filter(({ id }) => id === owner.accountId)
  if (!account) throw new Error('no account')
  const email = 'holder@people.example'
  const password = 'Holder2026'
  await core.subaccounts.create(account, { username: 'Shop', email, password, creditType: 'unlimited' })
  const name = `${account.name}/shop`
  const logIn = (given: string, login = name) => core.people.logIn({ email: login, password: given, ...newClient() })
  t.equal((await logIn('wrong one')).kind, 'refused')
  t.equal((await logIn(password, 'shop')).kind, 'refused', 'user names are not unique without the parent')
  const [none] = await service.sql`select count(*)::int as users from users where holder_of is not null`
  t.equal(none?.users, 0, 'a failed log-in makes no user')
  const token = tokenOf(await logIn(password))
  t.match((await sessionOf(core, token)).accounts, [{ name: `${account.name}/Shop`, role: 'owner' }])
  await core.subaccounts.update(account.id, 'shop', { password: 'Changed2026' })
  t.equal(await anotherProcess(t, service).people.sessions.find(token), undefined, 'a new password ends the session')
  t.equal((await logIn(password)).kind, 'refused')
  const again = tokenOf(await logIn('Changed2026'))
  await core.subaccounts.setDisabled(account.id, 'shop', true)
  t.match(await anotherProcess(t, service).people.sessions.find(again), { accounts: [] })
  t.equal((await logIn('Changed2026')).kind, 'refused')
})

t.test('a log-in whose password was right when it began is refused once the password has changed', async (t) => {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  const { sessionId } = await sessionOf(
    core,
    tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() })),
  )
  const NEW_PASSWORD = 'another horse battery'
  const { changing, loggingIn } = await holding(t, service, async (locker) => {
    // The change is complete, and waits for its entry in the audit log before it is committed.
    await locker`select pg_advisory_xact_lock(7742, 0)`
    const changing = core.people.users.changePassword(userId, NEW_PASSWORD, { sessionId, address: '192.0.2.1' })
    await untilBlocked(locker, 1)
    let isOver = false
    const loggingIn = core.people.logIn({ email, password: PASSWORD, ...newClient() }).finally(() => {
      isOver = true
    })
    await untilBlocked(locker, 2, () => isOver)
    return { changing, loggingIn }
  })
  await changing
  t.strictSame(await loggingIn, { kind: 'refused' })
  t.match(await core.people.sessions.list(userId), [{ id: sessionId }])
  t.ok(tokenOf(await core.people.logIn({ email, password: NEW_PASSWORD, ...newClient() })))
})
