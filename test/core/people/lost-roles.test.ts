import { rightsOf, type Session } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const BY = { keyId: null, address: null }

/** An owner of an account, as the dashboard says who acts. */
function ownerIn(accountId: number, { sessionId, user }: Session) {
  const role = { sessionId, accountId, name: 'owner' }
  return { keyId: null, userId: user.id, scopes: rightsOf('owner').scopes, role, address: '192.0.2.1' }
}

t.test('who has lost a role does nothing with it, even in a process that does not know yet', async (t) => {
  const service = await makeService(t)
  const { core } = service
  const { accountId } = await firstUser(service)
  const third = await makeMember(service, accountId, 'viewer')
  const other = anotherProcess(t, service)
  const losses: readonly (readonly [string, (userId: number) => Promise<unknown>])[] = [
    ['a lesser role', (userId) => core.people.members.change(accountId, userId, 'viewer', BY)],
    ['no role', (userId) => core.people.members.remove(accountId, userId, BY)],
    ['no session', (userId) => core.people.sessions.endAll(userId)],
    ['disabled', (userId) => core.people.users.disable(userId, BY)],
  ]
  const entries = async () => (await core.audit.list(accountId, { after: 0, limit: 1000 })).length
  for (const [what, lose] of losses) {
    const { email, userId } = await makeMember(service, accountId, 'owner')
    const token = tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() }))
    const by = ownerIn(accountId, await sessionOf(other, token))
    const { key } = await other.auth.createKey({ accountId, name: what }, by)
    await lose(userId)
    const before = await entries()
    const { auth, people, accounts } = other
    for (const [act, attempt] of [
      ['make a key', () => auth.createKey({ accountId }, by)],
      ['rotate a key', () => auth.rotateKey(key.id, 0, { accountId, by })],
      ['revoke a key', () => auth.revokeKey(key.id, { accountId, by })],
      ['invite', () => people.invitations.create(accountId, { email: `${userId}@souq.example`, role: 'owner' }, by)],
      ['change a role', () => people.members.change(accountId, third.userId, 'support', by)],
      ['change settings', () => accounts.settings.change(accountId, { footerText: 'Hello' }, by)],
    ] as const)
      t.equal(await refused(attempt()), 'roleChanged', `${what}: ${act}`)
    t.equal(await entries(), before)
    const keys = await core.auth.listKeys(accountId)
    t.match(keys.at(-1), { id: key.id, revokedAt: null, replacedBy: null })
    t.equal((await core.people.invitations.list(accountId)).length, 0)
  }
})

t.test('an owner gives up the role, and leaves the account', async (t) => {
  const service = await makeService(t)
  const { core } = service
  const { accountId } = await firstUser(service)
  for (const act of ['change', 'remove'] as const) {
    const { email, userId } = await makeMember(service, accountId, 'owner')
    const token = tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() }))
    const by = ownerIn(accountId, await sessionOf(core, token))
    if (act === 'change') t.match(await core.people.members.change(accountId, userId, 'viewer', by), { role: 'viewer' })
    else await core.people.members.remove(accountId, userId, by)
  }
  t.equal((await core.people.members.list(accountId)).filter(({ role }) => role === 'owner').length, 1)
})
