import t from 'tap'
import { passwordHasher } from '../../../packages/core/src/platform/security/passwords.ts'

const COST = { N: 16_384, r: 8, p: 1 }

t.test('accounts whose passwords wait to be hashed take turns', async (t) => {
  const hash = passwordHasher(COST)
  const done: string[] = []
  const hashed = (who: string) => hash('Secret-1', who).then(() => done.push(who))
  await Promise.all([...Array.from({ length: 6 }, () => hashed('account 1')), hashed('account 2')])
  t.ok(done.indexOf('account 2') <= 2, done.join(', '))
})

t.test('passwords that would wait too long are refused, and those of others are not', async (t) => {
  const hash = passwordHasher(COST)
  const many = Array.from({ length: 20 }, () => hash('Secret-1', 'account 1'))
  const other = hash('Secret-1', 'account 2')
  const results = await Promise.allSettled(many)
  const refused = results.filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 11, 'all but the one that is hashed and eight that wait')
  t.match(refused[0], { reason: { message: 'Service temporarily overloaded, try again later' } })
  await other
})
