import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'
import { anotherProcess, firstUser, makeMember, newClient, PASSWORD, sessionOf, tokenOf } from './people.ts'

const service = await makeService(t)
// A hash takes as long as for an installation.
const another = anotherProcess(t, service)
const { logIn, users } = another.people
const owner = await firstUser(service)
const { accountId } = await service.makeSender()
const { email } = await makeMember(service, accountId, 'viewer')

const { sessionId } = await sessionOf(service.core, owner.token)

const change = (n: number) =>
  users.changePassword(owner.userId, `a horse of number ${n}`, { sessionId, address: '192.0.2.1' })

t.test('forty password changes of one user delay the log-in of another by one turn', async (t) => {
  let changed = 0
  const flood = Array.from({ length: 40 }, (_, n) =>
    refused(change(n)).then((error) => {
      if (error === undefined) changed++
      return error
    }),
  )
  // The first change is under way, and the others wait.
  await Promise.any(flood)
  const before = changed
  t.equal((await logIn({ email, password: PASSWORD, ...newClient() })).kind, 'session')
  t.ok(changed - before <= 2, `${changed - before} changes were first`)
  const errors = await Promise.all(flood)
  t.ok(changed <= 10, `${changed} changes were made`)
  t.same([...new Set(errors)].sort(), ['overloaded', 'rateLimited', undefined])
})

t.test('a user sets ten passwords in 15 minutes, others go on', async (t) => {
  const other = await makeMember(service, accountId, 'viewer')
  let error: string | undefined
  for (let n = 0; n < 11 && error === undefined; n++) error = await refused(change(n))
  t.equal(error, 'rateLimited')
  const token = tokenOf(await logIn({ ...other, ...newClient() }))
  const { sessionId } = await sessionOf(another, token)
  const set = users.changePassword(other.userId, 'a horse of its own', { sessionId, address: '192.0.2.1' })
  t.equal(await refused(set), undefined)
})

t.test('strangers from a hundred networks do not keep out a user who has logged in from theirs', async (t) => {
  const client = newClient()
  const known = await makeMember(service, accountId, 'viewer')
  t.equal((await logIn({ email: known.email, password: PASSWORD, ...client })).kind, 'session')
  let isOver = false
  const results = new Map<string, number>()
  const strangers = Array.from({ length: 100 }, async (_, n) => {
    for (let attempt = 0; !isOver; attempt++) {
      const address = `198.51.${n}.${attempt % 250}`
      const { kind } = await logIn({
        email: `nobody-${n}@elsewhere.example`,
        password: 'wrong',
        address,
        agent: undefined,
      })
      results.set(kind, (results.get(kind) ?? 0) + 1)
      // Refused at once, it comes again at once.
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
  for (let n = 0; n < 5; n++) {
    const before = results.get('refused') ?? 0
    t.equal((await logIn({ email: known.email, password: PASSWORD, ...client })).kind, 'session')
    const between = (results.get('refused') ?? 0) - before
    // Of the strangers, 24 wait.
    t.ok(between <= 10, `${between} others had a turn`)
  }
  isOver = true
  await Promise.all(strangers)
  t.ok((results.get('too-many') ?? 0) > 0, 'the strangers had to wait for each other')
})
