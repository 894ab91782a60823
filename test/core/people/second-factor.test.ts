import type { Session } from '@postrider/core'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
const { core, sql } = service
const owner = await firstUser(service)
const { totp } = core.people

function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: core.clock.now() + steps * 30_000 })
}

/** Waits until a code that is made now is checked in the same step, which may be about to end. */
async function untilStepLasts(): Promise<void> {
  await until('the next step', () => core.clock.now() % 30_000 < 27_000)
}

/** A user with codes. The step of the confirmation counts as used, so it is one of the past. */
async function withCodes() {
  const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
  const token = tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() }))
  const session = await sessionOf(core, token)
  const { secret } = await totp.begin(session)
  await untilStepLasts()
  const { recoveryCodes } = await totp.confirm(session, codeOf(secret, -1), '192.0.2.1')
  return { email, userId, token, session, secret, recoveryCodes }
}

async function challengeFor(email: string, people = core.people) {
  const result = await people.logIn({ email, password: PASSWORD, ...newClient() })
  if (result.kind !== 'second-factor') throw new Error(result.kind)
  return result.challenge
}

t.test('after codes are confirmed, the password alone gives a challenge and no session', async (t) => {
  const { email, session, secret, recoveryCodes } = await withCodes()
  t.equal(new Set(recoveryCodes).size, 10)
  t.match(recoveryCodes, Array(10).fill(/^([a-z2-9]{4}-){5}[a-z2-9]{4}$/))
  t.match(await core.people.logIn({ email, password: PASSWORD, ...newClient() }), {
    kind: 'second-factor',
    methods: ['code', 'recovery-code'],
  })
  const challenge = await challengeFor(email)
  t.match(await core.people.secondFactor({ challenge, code: '000000', ...newClient() }), { kind: 'refused' })
  const result = await core.people.secondFactor({ challenge, code: codeOf(secret), ...newClient() })
  t.match(await sessionOf(core, tokenOf(result)), {
    user: { id: session.user.id, secondFactor: true },
    mustEnrol: false,
  })
  t.match(await core.people.secondFactor({ challenge, code: codeOf(secret, 1), ...newClient() }), { kind: 'refused' })
})

t.test('a code is used once, in all processes, and so is none before it', async (t) => {
  const { email, secret } = await withCodes()
  const processes = [core, anotherProcess(t, service)]
  const challenges = await Promise.all(Array.from({ length: 4 }, () => challengeFor(email)))
  const code = codeOf(secret)
  const results = await Promise.all(
    challenges.map((challenge, n) =>
      (processes[n % 2] as typeof core).people.secondFactor({ challenge, code, ...newClient() }),
    ),
  )
  t.equal(results.filter(({ kind }) => kind === 'session').length, 1, 'a replay is refused')
  const next = await challengeFor(email)
  t.match(await core.people.secondFactor({ challenge: next, code: codeOf(secret, -1), ...newClient() }), {
    kind: 'refused',
  })
  await untilStepLasts()
  t.match(await core.people.secondFactor({ challenge: next, code: codeOf(secret, 2), ...newClient() }), {
    kind: 'refused',
  })
  t.match(await core.people.secondFactor({ challenge: next, code: codeOf(secret, 1), ...newClient() }), {
    kind: 'session',
  })
})

t.test('a recovery code works once, in any spelling, also in two processes at once', async (t) => {
  const { email, userId, recoveryCodes } = await withCodes()
  const code = (recoveryCodes[0] as string).replaceAll('-', ' ').toUpperCase()
  const processes = [core, anotherProcess(t, service)]
  const challenges = [await challengeFor(email), await challengeFor(email)]
  const results = await Promise.all(
    challenges.map((challenge, n) =>
      (processes[n] as typeof core).people.secondFactor({ challenge, code, ...newClient() }),
    ),
  )
  t.equal(results.filter(({ kind }) => kind === 'session').length, 1)
  t.equal(await totp.recoveryCodesLeft(userId), 9)
})

t.test('ten wrong codes in 15 minutes are the limit for a user, from anywhere', async (t) => {
  const { email, secret } = await withCodes()
  const challenge = await challengeFor(email)
  const kinds = []
  for (let n = 0; n < 12; n++) {
    kinds.push((await core.people.secondFactor({ challenge, code: '000000', ...newClient() })).kind)
  }
  t.equal(kinds.filter((kind) => kind === 'refused').length, 10)
  t.match(await core.people.secondFactor({ challenge, code: codeOf(secret), ...newClient() }), { kind: 'too-many' })
})

t.test('codes are set up and removed only by a user who has just proved who they are', async (t) => {
  const { session, email, userId } = await withCodes()
  const stale: Session = { ...session, reauthenticatedAt: new Date(core.clock.now() - 601_000) }
  t.equal(await refused(totp.remove(stale, '::1')), 'reauthenticationNeeded')
  t.equal(await refused(totp.begin(stale)), 'reauthenticationNeeded')
  t.equal(await refused(totp.newRecoveryCodes(stale, '::1')), 'reauthenticationNeeded')
  t.equal(await refused(totp.begin(session)), 'parameterInvalid', 'they are set up already')
  await totp.remove(session, '::1')
  t.equal(await totp.recoveryCodesLeft(userId), 0)
  t.equal((await core.people.logIn({ email, password: PASSWORD, ...newClient() })).kind, 'session')
})

t.test('the secret is stored encrypted, for this user only', async (t) => {
  const { userId, secret } = await withCodes()
  const [row] = await sql`select encode(totp_secret, 'hex') as box from users where id = ${userId}`
  t.notMatch(row?.box, Buffer.from(Secret.fromBase32(secret).bytes).toString('hex'))
  const other = await withCodes()
  await sql`update users set totp_secret = (select totp_secret from users where id = ${userId}) where id = ${other.userId}`
  await t.rejects(
    challengeFor(other.email).then((challenge) =>
      core.people.secondFactor({ challenge, code: codeOf(secret), ...newClient() }),
    ),
  )
})

t.test('the operator resets the second factor of a user, which ends their sessions', async (t) => {
  const { email, userId, token, recoveryCodes } = await withCodes()
  const challenge = await challengeFor(email)
  await core.people.users.resetSecondFactor(userId, { keyId: null, address: null })
  t.equal(await core.people.sessions.find(token), undefined)
  const old = await core.people.secondFactor({ challenge, code: recoveryCodes[1] as string, ...newClient() })
  t.match(old, { kind: 'refused' })
  t.equal((await core.people.logIn({ email, password: PASSWORD, ...newClient() })).kind, 'session')
})
