import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { makeAuthenticator } from './authenticator.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const ADDRESS = '192.0.2.1'

t.test(
  'a session that was ended changes nothing about how its user logs in, even in a process that does not know yet',
  async (t) => {
    const service = await makeService(t, { PUBLIC_URL: 'https://mail.people.example' })
    const { core } = service
    const owner = await firstUser(service)
    const { email, userId } = await makeMember(service, owner.accountId, 'viewer')
    const token = tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() }))
    const other = anotherProcess(t, service)
    const session = await sessionOf(other, token)
    const { secret } = await other.people.totp.begin(session)
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: core.clock.now() })
    const { challenge } = await other.people.passkeys.beginRegistration(session)
    const place = { origin: 'https://mail.people.example', rpId: 'mail.people.example' }
    const response = makeAuthenticator().register(challenge, place)

    t.equal(await core.people.sessions.endAll(userId), 1)
    const { passkeys, totp, users } = other.people
    const { sessionId } = session
    for (const [what, change] of [
      ['password', () => users.changePassword(userId, 'another fine secret', { sessionId, address: ADDRESS })],
      ['codes', () => totp.confirm(session, code, ADDRESS)],
      ['no codes', () => totp.remove(session, ADDRESS)],
      ['passkey', () => passkeys.finishRegistration(session, { name: 'Phone', response }, ADDRESS)],
      ['no passkey', () => passkeys.remove(session, 'x', ADDRESS)],
    ] as const)
      t.equal(await refused(change()), 'reauthenticationNeeded', what)
    t.equal((await core.people.logIn({ email, password: PASSWORD, ...newClient() })).kind, 'session')
  },
)
