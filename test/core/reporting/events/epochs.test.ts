import { markRestored } from '@postrider/core'
import t from 'tap'
import { numberEvents } from '../../../helpers/number-events.ts'
import { makeService, type Sender, type TestService } from '../../../helpers/service.ts'

const read = ({ core }: TestService, { accountId }: Sender, after: number, epoch?: number) =>
  core.events.feed({ accountId, after, epoch, limit: 100, milliseconds: 0, signal: new AbortController().signal })

t.test('a reader that passes its epoch gets every event whose number was given again after a restore', async (t) => {
  const service = await makeService(t)
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  const add = (count: number) => service.sql`
    insert into events (occurred_at, account_id, type)
    select service_now(), ${sender.accountId}, 'domain' from generate_series(1, ${count})`
  await add(3)
  await numberEvents(service)
  const { last, epoch } = await read(service, sender, 0, 1)
  t.equal(epoch, 1)
  await markRestored(service.sql, new Date())
  await add(2)
  await numberEvents(service)
  const ahead = await read(service, sender, last + 2, 1)
  t.strictSame(
    ahead.events.map(({ number }) => number),
    [last + 1, last + 2],
    'the reader had read other events by these numbers',
  )
  t.equal(ahead.epoch, 2)
  const behind = await read(service, sender, 1, 1)
  t.equal(behind.events[0]?.number, 2, 'events before the restore are not repeated')
  t.strictSame((await read(service, sender, last + 2, 2)).events, [], 'the present epoch changes nothing')
  await markRestored(service.sql, new Date())
  t.equal((await read(service, sender, 1000, 1)).events[0]?.number, last + 1, 'the earliest of several restores counts')
  t.equal((await read(service, other, 1000, 1)).epoch, 3)
})
