import t from 'tap'
import type { Sql } from '../../../../packages/core/src/platform/database/database.ts'
import { createPendingWork } from '../../../../packages/core/src/platform/database/pending-work.ts'
import { makeDatabase } from '../../../helpers/database.ts'
import { until } from '../../../helpers/until.ts'

const database = await makeDatabase()
t.teardown(() => database.drop())

t.test('there is work when a row of it is stored, and none when it is gone', async (t) => {
  const pending = createPendingWork(database.sql)
  t.equal(await pending.has('hits'), false)
  await database.sql`
    insert into hits (id, at, account_id, message_id, recipient_no, kind, rules)
    values (gen_random_uuid(), now(), 1, gen_random_uuid(), 1, 'opened', 1)`
  await until('the hit', () => pending.has('hits'))
  t.equal(await pending.has('webhooks'), false, 'of another kind there is none')
  await database.sql`delete from hits`
  await until('none', async () => !(await pending.has('hits')))
})

t.test('those who ask at the same time share a statement', async (t) => {
  let statements = 0
  const counted = new Proxy(database.sql, {
    apply(target, _, given) {
      statements++
      return Reflect.apply(target, undefined, given)
    },
  }) as Sql
  const pending = createPendingWork(counted)
  await Promise.all([pending.has('hits'), pending.has('queue_jobs'), pending.has('export_jobs')])
  t.equal(statements, 1)
})

t.test('the failure of a statement is that of all who share it, and the next one is not', async (t) => {
  let fails = true
  const failing = new Proxy(database.sql, {
    apply: (target, _, given) => (fails ? Promise.reject(new Error('away')) : Reflect.apply(target, undefined, given)),
  }) as Sql
  const pending = createPendingWork(failing)
  for (const result of await Promise.allSettled([pending.has('hits'), pending.has('webhooks')]))
    t.equal(result.status, 'rejected')
  fails = false
  await until('an answer', () =>
    pending.has('hits').then(
      () => true,
      () => false,
    ),
  )
})
