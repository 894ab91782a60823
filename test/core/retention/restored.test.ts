import { markRestored } from '@postrider/core'
import t from 'tap'
import { makeQueue } from '../delivery/queue-of.ts'

t.test(
  'mail that was in delivery is held after a restore of a state that is older than the weeks for which it has partitions',
  async (t) => {
    const { service, core, accept, register, claimAll } = await makeQueue(t)
    await accept(['ann@harbor.example'])
    const workerId = await register()
    const [claimed] = await claimAll(workerId)
    if (!claimed) throw new Error('nothing was claimed')
    await core.deliveries.recordEndOfData([{ ...claimed, workerId, host: 'mx1.harbor.example', domainId: 1 }])
    await service.sql.unsafe(
      `create or replace function service_now() returns timestamptz language sql stable as 'select now() + interval ''1 year'''`,
    )
    t.match(await markRestored(service.sql, new Date()), { held: 1, epoch: 2 })
    t.match(await service.sql`select state, waiting_for from delivery_queue`, [
      { state: 'deferred', waiting_for: 'hold' },
    ])
  },
)
