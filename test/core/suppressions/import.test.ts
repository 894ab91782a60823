import type { ImportRow } from '@postrider/core'
import t from 'tap'
import { holding, untilBlocked } from '../../helpers/blocked.ts'
import { makeService } from '../../helpers/service.ts'
import { BOUNCED, makeQueue } from '../delivery/queue-of.ts'

const BY = { keyId: null, address: null }

async function* rowsOf(rows: readonly Omit<ImportRow, 'line'>[]): AsyncGenerator<ImportRow[]> {
  yield rows.map((row, at) => ({ ...row, line: at + 1 }))
}

t.test('two imports of the same addresses with other reasons, at once, are both carried out', async (t) => {
  const service = await makeService(t)
  const { core } = service
  const { accountId } = await service.makeSender()
  const rows = rowsOf([
    { email: 'bob@harbor.example', reason: 'manual' },
    { email: 'ann@harbor.example', reason: 'unsubscribe' },
  ])
  const add = (value: string) => `
    insert into suppressions (account_id, scope, value, reason) values (${accountId}, 'address', '${value}', 'manual') on conflict do nothing`
  const importing = await holding(t, service, async (locker) => {
    // So that the other one is ended.
    await locker`set local deadlock_timeout = '1min'`
    await locker.unsafe(add('ann@harbor.example'))
    const importing = core.suppressions.import({ accountId, by: BY, rows, atomic: true })
    await untilBlocked(locker, 1)
    await locker.unsafe(add('bob@harbor.example'))
    return { done: importing }
  })
  t.match(await importing.done, { added: 0, known: 2 })
  t.match(await core.suppressions.holding(accountId, 'ann@harbor.example'), [{ reason: 'unsubscribe' }])
  t.match(await core.suppressions.holding(accountId, 'bob@harbor.example'), [{ reason: 'manual' }])
})

t.test('a long list does not keep the outcomes of deliveries waiting until all of it is imported', async (t) => {
  const { service, core, sender, accept, register, claimAll } = await makeQueue(t)
  const { accountId } = sender
  await accept(['a0@harbor.example'])
  const workerId = await register()
  const [claimed] = await claimAll(workerId)
  if (!claimed) throw new Error('nothing was claimed')
  const rows = rowsOf(
    [...Array.from({ length: 20_000 }, (_, n) => `a${n}`), 'z'].map((name) => ({ email: `${name}@harbor.example` })),
  )
  const importing = await holding(t, service, async (locker) => {
    await locker`insert into suppressions (account_id, scope, value, reason) values (${accountId}, 'address', 'z@harbor.example', 'manual')`
    const importing = core.suppressions.import({ accountId, by: BY, rows, atomic: true })
    await untilBlocked(locker, 1)
    t.strictSame(await core.deliveries.record([{ ...claimed, workerId, outcome: BOUNCED }]), [true])
    return { done: importing }
  })
  t.match(await importing.done, { rows: 20_001, added: 20_000, known: 1 })
})
