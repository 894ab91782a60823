import { allows, type MemberRole, ROLES, SCOPES } from '@postrider/core'
import t from 'tap'
import { holding, untilBlocked } from '../../helpers/blocked.ts'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
const { core } = service
const owner = await firstUser(service)
const BY = { keyId: null, address: null }
const { members } = core.people

t.test('an account keeps an owner who can log in', async (t) => {
  const second = await makeMember(service, owner.accountId, 'developer')
  t.equal(await refused(members.change(owner.accountId, owner.userId, 'viewer', BY)), 'lastOwner')
  t.equal(await refused(members.remove(owner.accountId, owner.userId, BY)), 'lastOwner')
  t.equal(await refused(core.people.users.disable(owner.userId, BY)), 'lastOwner')
  t.equal(await refused(core.people.operators.remove(owner.userId, BY)), 'lastOwner')
  await members.change(owner.accountId, second.userId, 'owner', BY)
  await core.people.users.disable(second.userId, BY)
  t.equal(
    await refused(members.remove(owner.accountId, owner.userId, BY)),
    'lastOwner',
    'one who is disabled does not count',
  )
  await core.people.users.enable(second.userId, BY)
  await members.change(owner.accountId, owner.userId, 'developer', BY)
  await members.change(owner.accountId, owner.userId, 'owner', BY)
  await members.remove(owner.accountId, second.userId, BY)
})

t.test('two owners who remove each other in two processes leave one', async (t) => {
  const { accountId } = await service.makeSender()
  const [a, b] = [await makeMember(service, accountId, 'owner'), await makeMember(service, accountId, 'owner')]
  const other = anotherProcess(t, service).people
  const results = await Promise.all([
    refused(members.remove(accountId, a.userId, BY)),
    refused(other.members.remove(accountId, b.userId, BY)),
  ])
  t.strictSame(results.filter((error) => error === 'lastOwner').length, 1, String(results))
  t.equal((await members.list(accountId)).length, 1)
})

t.test('members of one account are unknown in another', async (t) => {
  const { accountId } = await service.makeSender()
  const { userId } = await makeMember(service, accountId, 'owner')
  t.equal(await refused(members.change(owner.accountId, userId, 'viewer', BY)), 'memberUnknown')
  t.equal(await refused(members.remove(owner.accountId, userId, BY)), 'memberUnknown')
  t.equal(await refused(members.add(accountId, userId, 'viewer', BY)), 'parameterInvalid', 'already a member')
  t.equal(await refused(members.change(accountId, userId, 'root', BY)), 'parameterInvalid')
})

t.test('every role has the rights of the table, as a principal with its scopes', async (t) => {
  const { accountId } = await service.makeSender()
  const expected: Record<MemberRole, { scopes: string[]; team: boolean; resend: boolean }> = {
    owner: { scopes: [...SCOPES], team: true, resend: true },
    developer: {
      scopes: [
        'send',
        'domains',
        'templates',
        'attachments',
        'suppressions',
        'keys',
        'audit',
        'events',
        'stats',
        'webhooks',
        'account',
        'send.read',
        'templates.read',
        'suppressions.read',
        'keys.read',
        'webhooks.read',
        'account.read',
        'content',
      ],
      team: false,
      resend: true,
    },
    support: {
      scopes: ['suppressions', 'events', 'stats', 'send.read', 'suppressions.read'],
      team: false,
      resend: true,
    },
    viewer: { scopes: ['stats'], team: false, resend: false },
  }
  for (const role of ROLES) {
    const { email } = await makeMember(service, accountId, role)
    const session = await sessionOf(
      core,
      tokenOf(await core.people.logIn({ email, password: PASSWORD, ...newClient() })),
    )
    const principal = await core.people.principal(session, accountId)
    const { scopes, team, resend } = expected[role]
    t.strictSame(SCOPES.filter((scope) => allows(principal?.scopes ?? [], scope)).sort(), [...scopes].sort(), role)
    const { people } = core.people.rights(role)
    t.strictSame([people.includes('team'), people.includes('resend')], [team, resend])
    t.equal(await core.people.principal(session, owner.accountId), null, 'of no other account')
  }
})

t.test('a user makes no key with scopes beyond those of their role', async (t) => {
  const { accountId } = await service.makeSender()
  const by = { keyId: null, userId: owner.userId, address: null, scopes: core.people.rights('developer').scopes }
  t.equal(await refused(core.auth.createKey({ accountId, scopes: ['all'] }, by)), 'keyRestricted')
  t.equal(await refused(core.auth.createKey({ accountId, scopes: ['privacy'] }, by)), 'keyRestricted')
  const { key } = await core.auth.createKey({ accountId, scopes: ['send'] }, by)
  const strong = await core.auth.createKey({ accountId, scopes: ['all'] })
  t.equal(await refused(core.auth.rotateKey(strong.key.id, 0, { accountId, by })), 'keyRestricted')
  t.same((await core.auth.createKey({ accountId }, by)).key.scopes, by.scopes, 'by default those of the role')
  t.ok(await core.auth.updateKey(key.id, { name: 'mine' }, { accountId, by }))
})

t.test('two operators who disable each other at once leave one', async (t) => {
  const { accountId } = await service.makeSender()
  const [first, second] = [
    await makeMember(service, accountId, 'viewer'),
    await makeMember(service, accountId, 'viewer'),
  ]
  for (const { userId } of [first, second]) await core.people.operators.add(userId, BY)
  await makeMember(service, owner.accountId, 'owner')
  await core.people.users.disable(owner.userId, BY)
  const disabling = await holding(t, service, async (locker) => {
    // Each is complete, and waits for its entry in the audit log before it is committed.
    await locker`select pg_advisory_xact_lock(7742, 0)`
    const one = refused(core.people.users.disable(first.userId, BY))
    await untilBlocked(locker, 1)
    const other = refused(core.people.users.disable(second.userId, BY))
    await untilBlocked(locker, 2)
    return { one, other }
  })
  t.strictSame([await disabling.one, await disabling.other], [undefined, 'lastOwner'])
  await core.people.users.enable(owner.userId, BY)
})
