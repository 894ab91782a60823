import t from 'tap'
import { holding, untilBlocked } from '../../../helpers/blocked.ts'
import { makeService, type TestService } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'

/** An account with these suppressions, and the erasure of these recipients before its last step, which replaces them by hashes. */
async function makeErasure({ core, sql, makeSender }: TestService, emails: readonly string[]): Promise<number> {
  const { accountId } = await makeSender()
  await core.suppressions.addAll({ accountId, emails: [...emails] })
  await core.privacy.forget(accountId, emails)
  await until('the last stage of the erasure', async () => {
    await core.privacy.forgetSome()
    const [request] = await sql<{ stage: string }[]>`select stage from forget_requests where account_id = ${accountId}`
    return request?.stage === 'last'
  })
  // As if all processes had had the time to learn that the account has hashes.
  await sql`update forgotten_accounts set since = since - interval '1 minute' where account_id = ${accountId}`
  await sql`update forget_requests set due_at = service_now() where account_id = ${accountId}`
  return accountId
}

t.test('an entry that is removed while it is replaced by a hash is removed', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const accountId = await makeErasure(service, ['ann@harbor.example'])
  const { erasing, removing } = await holding(t, service, async (locker) => {
    await locker`select from suppressions where account_id = ${accountId} for update`
    const erasing = core.privacy.forgetSome()
    await untilBlocked(locker, 1)
    const removing = core.suppressions.removeAll({ accountId, emails: ['ann@harbor.example'] })
    await untilBlocked(locker, 2)
    return { erasing, removing }
  })
  t.equal(await erasing, true)
  t.equal(await removing, 1)
  t.equal((await sql`select from forgotten where account_id = ${accountId}`).count, 0)
  t.strictSame(await core.suppressions.holding(accountId, 'ann@harbor.example'), [])
})

t.test(
  'entries are replaced by hashes in the order in which all others change them, so that none is ended for a deadlock',
  async (t) => {
    const service = await makeService(t)
    const accountId = await makeErasure(service, ['bob@harbor.example', 'ann@harbor.example'])
    const erasing = await holding(t, service, async (locker) => {
      await locker`select from suppressions where account_id = ${accountId} and value = 'ann@harbor.example' for update`
      const erasing = service.core.privacy.forgetSome()
      await untilBlocked(locker, 1)
      await locker`select from suppressions where account_id = ${accountId} and value = 'bob@harbor.example' for update`
      return { done: erasing }
    })
    t.equal(await erasing.done, true)
    t.equal((await service.sql`select from forgotten where account_id = ${accountId}`).count, 2)
  },
)
