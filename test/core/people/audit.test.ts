import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
const { core, sql } = service
const owner = await firstUser(service)

t.test('the audit log names the user and the agent, and its chain covers entries of all versions', async (t) => {
  const { accountId } = await service.makeSender()
  const noteOld = () => sql`select audit_note(${accountId}, 3, null, 'template.create', 'template 12', null, null)`
  const insertVersion = (version: number) => sql`
    insert into audit_log
    select (e).*
      from (select (jsonb_populate_record(l, jsonb_build_object('number', l.number + 1, 'version', ${version}::int, 'actor_user_id', null,
                    'previous_hash', l.hash, 'hash', l.hash))) as e
              from audit_log l where account_id = ${accountId} order by number desc limit 1) made`
  await insertVersion(1)
  await sql`alter table audit_log disable trigger audit_log_append_only`
  await sql`
    update audit_log l set hash = sha256(l.previous_hash || convert_to(jsonb_build_array(l.account_id, l.number,
           (extract(epoch from l.at) * 1000000)::bigint, l.actor_key_id, host(l.actor_address), l.action, l.object, l.before, l.after)::text, 'UTF8'))
     where account_id = ${accountId} and version = 1`
  await insertVersion(2)
  await sql`
    update audit_log l set hash = sha256('\\x02'::bytea || l.previous_hash || convert_to(jsonb_build_array(l.account_id, l.number,
           (extract(epoch from l.at) * 1000000)::bigint, l.actor_key_id, host(l.actor_address), l.action, l.object, l.before, l.after,
           l.actor_user_id)::text, 'UTF8'))
     where account_id = ${accountId} and version = 2`
  await noteOld()
  await core.auth.createKey({ accountId, name: 'by an agent' }, { keyId: null, address: null, agent: 'harbor-agent 1' })
  const agents = (await core.audit.latest(accountId, { limit: 2 })).map(({ agent }) => agent)
  t.same(agents, ['harbor-agent 1', null])
  const by = { keyId: null, userId: owner.userId, address: '192.0.2.7' }
  await core.auth.createKey({ accountId, name: 'by a person' }, by)
  const entries = await core.audit.list(accountId, { after: 0, limit: 100 })
  t.match(entries.at(-1), {
    keyId: null,
    userId: owner.userId,
    userName: owner.name,
    address: '192.0.2.7',
    action: 'key.create',
  })
  const [row] =
    await sql`select array_agg(distinct version order by version) as versions from audit_log where account_id = ${accountId}`
  t.same(row?.versions, [1, 2, 3])
  t.equal(await core.audit.firstBroken(accountId), null)
  const last = entries.at(-1)?.number as number
  await sql`update audit_log set actor_user_id = ${owner.userId + 1} where account_id = ${accountId} and number = ${last}`
  t.equal(await core.audit.firstBroken(accountId), last, 'another user')
  await sql`update audit_log set actor_user_id = ${owner.userId}, agent = 'x' where account_id = ${accountId} and number = ${last}`
  t.equal(await core.audit.firstBroken(accountId), last, 'an agent')
  await sql`update audit_log set agent = null where account_id = ${accountId} and number = ${last}`
  t.equal(await core.audit.firstBroken(accountId), null)
  await sql`update audit_log set version = 1 where account_id = ${accountId} and number = ${last}`
  t.equal(await core.audit.firstBroken(accountId), last, 'another version')
})

t.test('an operator looks at an account without changing it, and its owner sees that they did', async (t) => {
  const { accountId } = await service.makeSender()
  const token = tokenOf(await core.people.logIn({ email: owner.email, password: PASSWORD, ...newClient() }))
  const session = await sessionOf(core, token)
  t.equal(await core.people.principal(session, accountId), null)
  await core.people.lookAs(session, accountId, '192.0.2.9')
  const looking = await sessionOf(core, token)
  t.match(looking, { looksAt: accountId })
  t.match(
    looking.accounts.filter(({ id }) => id === accountId),
    [{ role: 'observer' }],
  )
  const { scopes, people } = core.people.rights('observer')
  t.same(people, ['domains.see'], 'neither bodies nor members')
  t.notOk(scopes.some((scope) => ['all', 'send', 'keys', 'domains', 'privacy', 'account', 'webhooks'].includes(scope)))
  const entries = await core.audit.list(accountId, { after: 0, limit: 100 })
  t.match(entries.at(-1), { action: 'operator.look', userId: owner.userId, userName: owner.name, address: '192.0.2.9' })
  await core.people.lookAs(looking, null, '192.0.2.9')
  t.notOk((await sessionOf(core, token)).accounts.some(({ id }) => id === accountId))
})

t.test('who is no operator looks at no account, and who is no longer one sees nothing more', async (t) => {
  const { accountId } = await service.makeSender()
  const member = await makeMember(service, owner.accountId, 'owner')
  const token = tokenOf(await core.people.logIn({ email: member.email, password: PASSWORD, ...newClient() }))
  t.equal(await refused(core.people.lookAs(await sessionOf(core, token), accountId, '::1')), 'scopeMissing')
  const BY = { keyId: null, address: null }
  await core.people.operators.add(member.userId, BY)
  await core.people.lookAs(await sessionOf(core, token), accountId, '::1')
  t.match(await sessionOf(core, token), { looksAt: accountId })
  await core.people.operators.remove(member.userId, BY)
  const session = await anotherProcess(t, service).people.sessions.find(token)
  t.match(session, { looksAt: null, user: { operator: false } })
  t.notOk(session?.accounts.some(({ id }) => id === accountId))
})
