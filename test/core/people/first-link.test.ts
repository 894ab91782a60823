import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, newClient, newPerson, sessionOf } from './people.ts'

t.test('the first link makes the owner of the account that has no members, who is the operator', async (t) => {
  const service = await makeService(t)
  const { accountId } = await service.makeSender()
  const { core } = service
  t.equal(await core.people.firstLink.isNeeded(), true)
  const made = await firstUser(service)
  t.equal(made.accountId, accountId)
  t.match(await sessionOf(core, made.token), {
    user: { id: made.userId, name: made.name, email: made.email, operator: true, verified: true },
    accounts: [{ id: accountId, role: 'owner', state: 'active' }],
    mustEnrol: false,
  })
  t.equal(await core.people.firstLink.isNeeded(), false)
  t.equal(await refused(core.people.firstLink.create()), 'parameterInvalid', 'nobody becomes owner by another one')
})

t.test('without an account the first link makes one', async (t) => {
  const service = await makeService(t)
  const { accountId } = await firstUser(service)
  t.match(await service.core.accounts.list(), [{ id: accountId, name: 'main' }])
})

t.test('exactly one of many uses of the first link in several processes succeeds', async (t) => {
  const service = await makeService(t)
  const processes = [service.core, anotherProcess(t, service), anotherProcess(t, service)]
  const { token } = await service.core.people.firstLink.create()
  const uses = await Promise.all(
    Array.from({ length: 9 }, (_, n) =>
      refused((processes[n % 3] as typeof service.core).people.firstLink.use(token, newPerson(), newClient())),
    ),
  )
  t.equal(uses.filter((error) => error === undefined).length, 1)
  t.equal(uses.filter((error) => error === 'linkInvalid').length, 8)
  const [row] =
    await service.sql`select count(*)::int as users, (select count(*)::int from operators) as operators from users`
  t.match(row, { users: 1, operators: 1 })
})

t.test(
  'the first link remains usable after a mistake, and ends after 24 hours or when another one is made',
  async (t) => {
    const service = await makeService(t)
    const { firstLink } = service.core.people
    const { token: old } = await firstLink.create()
    const { token } = await firstLink.create()
    t.equal(await firstLink.isValid(old), false)
    const use = (person: object) => refused(firstLink.use(token, { ...newPerson(), ...person }, newClient()))
    t.equal(await use({ password: 'short' }), 'passwordWeak')
    t.equal(await use({ password: 'password1' }), 'passwordWeak', 'one of the most common ones')
    t.equal(await use({ password: 'aaaaaaaaaaaa' }), 'passwordWeak')
    t.equal(await use({ email: 'nowhere' }), 'parameterInvalid')
    t.equal(await use({ name: ' ' }), 'parameterInvalid')
    t.equal(await refused(firstLink.use(`${token}x`, newPerson(), newClient())), 'linkInvalid')
    t.equal(await firstLink.isValid(token), true)
    await moveClock(service.sql, '24 hours 1 second')
    t.equal(await firstLink.isValid(token), false)
    t.equal(await use({}), 'linkInvalid')
  },
)

t.test('the first link ends with the first operator, however that one was made', async (t) => {
  const service = await makeService(t)
  const { people } = service.core
  const { token } = await people.firstLink.create()
  t.equal(await people.firstLink.isValid(token), true)
  await service.sql`
    with u as (insert into users (name, email, email_key) values ('Ada', 'ada@northwind.example', 'ada@northwind.example') returning id)
    insert into operators (user_id) select id from u`
  t.equal(await people.firstLink.isValid(token), false)
  t.equal(await refused(people.firstLink.use(token, newPerson(), newClient())), 'linkInvalid')
  t.match(await service.sql`select count(*)::int as count from operators`, [{ count: 1 }])
})
