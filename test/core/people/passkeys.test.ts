import { createCore, createLog } from '@postrider/core'
import t from 'tap'
import { holding, untilBlocked } from '../../helpers/blocked.ts'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { makeAuthenticator, type Place } from './authenticator.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t, { PUBLIC_URL: 'https://mail.people.example' })
const { core, sql } = service
const owner = await firstUser(service)
const { passkeys } = core.people
const HERE: Place = { origin: 'https://mail.people.example', rpId: 'mail.people.example' }

async function newSession() {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  const session = await sessionOf(core, tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() })))
  return { email, userId, session }
}

async function withPasskey() {
  const user = await newSession()
  const authenticator = makeAuthenticator()
  const { challenge } = await passkeys.beginRegistration(user.session)
  const response = authenticator.register(challenge, HERE) as never
  const made = await passkeys.finishRegistration(user.session, { name: 'Laptop', response }, '192.0.2.1')
  return { ...user, authenticator, ...made }
}

/** The cookie of the browser that began the last log-in. */
let cookie = ''

const logIn = async (response: unknown, people = core.people) =>
  people.passkeys.finishLogIn({ response, cookie, ...newClient() })

async function challenge(): Promise<string> {
  const begun = await passkeys.beginLogIn()
  cookie = begun.cookie
  return begun.options.challenge
}

t.test('a passkey is set up with recovery codes, and logs its user in without name and password', async (t) => {
  const { authenticator, recoveryCodes, userId, email } = await withPasskey()
  t.equal(recoveryCodes?.length, 10)
  t.match(await passkeys.list(userId), [{ id: authenticator.id, name: 'Laptop', usedAt: null }])
  const result = await logIn(authenticator.answer(await challenge(), HERE), anotherProcess(t, service).people)
  t.match(await sessionOf(core, tokenOf(result)), {
    user: { id: userId, secondFactor: true },
    method: 'passkey',
    mustEnrol: false,
  })
  t.match(await passkeys.list(userId), [{ usedAt: Date }])
  t.match(await core.people.logIn({ email, password: PASSWORD, ...newClient() }), {
    kind: 'second-factor',
    methods: ['passkey', 'recovery-code'],
  })
})

t.test(
  'a passkey of another host or another origin, and one without verification of the user, are refused',
  async (t) => {
    const { authenticator, userId } = await withPasskey()
    for (const [name, place, options] of [
      ['another origin', { ...HERE, origin: 'https://mail.people.example.evil.example' }, {}],
      ['plain http', { ...HERE, origin: 'http://mail.people.example' }, {}],
      ['another host', { ...HERE, rpId: 'evil.example' }, {}],
      ['a parent domain', { ...HERE, rpId: 'people.example' }, {}],
      ['user not verified', HERE, { flags: 1 }],
      ['user not present', HERE, { flags: 4 }],
    ] as const) {
      t.match(await logIn(authenticator.answer(await challenge(), place, options)), { kind: 'refused' }, name)
    }
    t.match(await logIn(makeAuthenticator().answer(await challenge(), HERE)), { kind: 'refused' }, 'an unknown passkey')
    t.match(await logIn({ ...makeAuthenticator().answer(await challenge(), HERE), id: authenticator.id }), {
      kind: 'refused',
    })
    for (const nonsense of [{}, { id: 1 }, { id: authenticator.id }, { id: 'x'.repeat(100_000) }]) {
      t.match(await logIn(nonsense), { kind: 'refused' })
    }
    const { session } = await newSession()
    for (const place of [
      { ...HERE, origin: 'https://evil.example' },
      { ...HERE, rpId: 'evil.example' },
    ]) {
      const { challenge } = await passkeys.beginRegistration(session)
      const response = makeAuthenticator().register(challenge, place) as never
      t.equal(await refused(passkeys.finishRegistration(session, { name: 'X', response }, '::1')), 'passkeyInvalid')
    }
    t.equal((await passkeys.list(userId)).length, 1)
  },
)

t.test(
  'a challenge works once, for 5 minutes, for its purpose and its user, and is made by this installation',
  async (t) => {
    const { authenticator, session } = await withPasskey()
    // Synchronized passkeys do not count, so the counter does not stop a replay.
    const answer = authenticator.answer(await challenge(), HERE, { counter: 0 })
    const results = await Promise.all([logIn(answer), logIn(answer, anotherProcess(t, service).people)])
    t.equal(results.filter(({ kind }) => kind === 'session').length, 1, 'a replay is refused')
    t.match(await logIn(authenticator.answer(Buffer.alloc(48).toString('base64url'), HERE)), { kind: 'refused' })
    const other = (await passkeys.beginRegistration(session)).challenge
    t.match(await logIn(authenticator.answer(other, HERE)), { kind: 'refused' }, 'one for registration')
    const { session: stranger } = await newSession()
    const response = makeAuthenticator().register(other, HERE) as never
    t.equal(await refused(passkeys.finishRegistration(stranger, { name: 'X', response }, '::1')), 'passkeyInvalid')
    const clock = { now: () => Date.now() - 301_000, monotonic: () => performance.now() }
    const earlier = createCore({ sql, config: service.config, log: createLog('test', 'silent'), clock })
    t.teardown(() => earlier.readiness.close())
    const old = await earlier.people.passkeys.beginLogIn()
    cookie = old.cookie
    t.match(
      await logIn(authenticator.answer(old.options.challenge, HERE)),
      { kind: 'refused' },
      'one of five minutes ago',
    )
  },
)

t.test('a passkey whose counter goes back, a copy, is refused', async (t) => {
  const { authenticator } = await withPasskey()
  t.match(await logIn(authenticator.answer(await challenge(), HERE, { counter: 5 })), { kind: 'session' })
  t.match(await logIn(authenticator.answer(await challenge(), HERE, { counter: 5 })), { kind: 'refused' })
  t.match(await logIn(authenticator.answer(await challenge(), HERE, { counter: 6 })), { kind: 'session' })
})

t.test('a passkey of a disabled user is refused, and one that was removed', async (t) => {
  const { authenticator, userId } = await withPasskey()
  const BY = { keyId: null, address: null }
  await core.people.users.disable(userId, BY)
  t.match(await logIn(authenticator.answer(await challenge(), HERE)), { kind: 'refused' })
  await core.people.users.enable(userId, BY)
  const session = await sessionOf(core, tokenOf(await logIn(authenticator.answer(await challenge(), HERE))))
  const { session: stranger } = await newSession()
  t.equal(await passkeys.remove(stranger, authenticator.id, '::1'), false)
  t.equal(await passkeys.remove(session, authenticator.id, '::1'), true)
  t.match(await logIn(authenticator.answer(await challenge(), HERE)), { kind: 'refused' })
  t.equal(await core.people.totp.recoveryCodesLeft(userId), 0)
})

t.test('a log-in leaves no session if its passkey is removed with all sessions at the same moment', async (t) => {
  const { authenticator, userId } = await withPasskey()
  // Its session is made, and waits.
  await sql`create function hold() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(4711); return new; end'`
  await sql`create trigger hold before insert on sessions for each row execute function hold()`
  const both = await holding(t, service, async (locker) => {
    await locker`select pg_advisory_xact_lock(4711)`
    const loggingIn = logIn(authenticator.answer(await challenge(), HERE))
    await untilBlocked(locker, 1)
    let isOver = false
    const resetting = core.people.users.resetSecondFactor(userId, { keyId: null, address: null }).finally(() => {
      isOver = true
    })
    await untilBlocked(locker, 2, () => isOver)
    return { loggingIn, resetting }
  })
  await Promise.all([both.loggingIn, both.resetting])
  t.equal((await core.people.sessions.list(userId)).length, 0)
  await sql`drop function hold() cascade`
})

t.test('a user proves again who they are with their passkey, and not with that of another', async (t) => {
  const [own, other] = [await withPasskey(), await withPasskey()]
  const begin = async () => (await passkeys.beginReauthentication(own.session))?.challenge as string
  const prove = (response: unknown) => passkeys.reauthenticate(own.session, response, '192.0.2.1')
  t.match(await prove(other.authenticator.answer(await begin(), HERE)), { kind: 'refused' })
  t.match(await prove(own.authenticator.answer(await challenge(), HERE)), { kind: 'refused' }, 'an answer for a log-in')
  const theirs = (await passkeys.beginReauthentication(other.session))?.challenge as string
  t.match(await prove(own.authenticator.answer(theirs, HERE)), { kind: 'refused' }, 'options of another session')
  t.match(await prove(own.authenticator.answer(await begin(), HERE)), { kind: 'done', at: Date })
  t.equal(await passkeys.beginReauthentication((await newSession()).session), undefined)
})

t.test('an answer for a log-in counts only in the browser that began it', async (t) => {
  const { authenticator } = await withPasskey()
  const answer = authenticator.answer(await challenge(), HERE)
  const own = cookie
  for (const stranger of ['', (await passkeys.beginLogIn()).cookie]) {
    cookie = stranger
    t.match(await logIn(answer), { kind: 'refused' })
  }
  cookie = own
  t.match(await logIn(answer), { kind: 'session' })
})

t.test('a passkey is the second factor after the password of its own user, once', async (t) => {
  const [own, other] = [await withPasskey(), await withPasskey()]
  const begin = async ({ email }: typeof own) => {
    const result = await core.people.logIn({ email, password: PASSWORD, ...newClient() })
    if (result.kind !== 'second-factor') throw new Error(result.kind)
    const options = await passkeys.beginSecondFactor(result.challenge)
    return { challenge: result.challenge, asked: options?.challenge as string, options }
  }
  const finish = (challenge: string, response: unknown) =>
    passkeys.finishSecondFactor({ challenge, response, ...newClient() })
  const first = await begin(own)
  t.match(first.options?.allowCredentials, [{ id: own.authenticator.id }])
  t.match(await finish(first.challenge, other.authenticator.answer(first.asked, HERE)), { kind: 'refused' })
  const elsewhere = await begin(other)
  t.match(await finish(first.challenge, own.authenticator.answer(elsewhere.asked, HERE)), { kind: 'refused' })
  t.match(await finish('x'.repeat(43), own.authenticator.answer(first.asked, HERE)), { kind: 'refused' })
  const { asked } = { asked: (await passkeys.beginSecondFactor(first.challenge))?.challenge as string }
  const answer = own.authenticator.answer(asked, HERE)
  t.match(await finish(first.challenge, answer), { kind: 'session', userId: own.userId })
  t.match(await finish(first.challenge, answer), { kind: 'refused' }, 'a replay')
  t.equal(await passkeys.beginSecondFactor(first.challenge), undefined)
})

t.test('passkeys are offered at https and at localhost, for a name and not for an IP address', async (t) => {
  for (const [publicUrl, isOn] of [
    ['https://mail.people.example', true],
    ['http://localhost:8080', true],
    ['http://mail.people.example', false],
    ['https://192.0.2.1', false],
    ['https://[2001:db8::1]', false],
  ] as const) {
    t.equal(anotherProcess(t, service, { publicUrl }).people.passkeys.isOn, isOn, publicUrl)
  }
})
