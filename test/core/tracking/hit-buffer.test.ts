import { randomUUID } from 'node:crypto'
import { createLog, openDatabase } from '@postrider/core'
import t from 'tap'
import { createHitBuffer } from '../../../packages/core/src/tracking/hit-buffer.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { acceptMessage } from '../submission.ts'

const WAIT_MS = 1200

t.test('a hit that waits for a connection keeps the time at which it arrived', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const { messageId } = await acceptMessage(service, sender)
  const sql = openDatabase({ url: service.env.DATABASE_URL as string, name: 'hits', connections: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  await sql`select 1`
  const buffer = createHitBuffer({ sql, log: createLog('test', 'silent') })

  const busy = sql`select pg_sleep(${WAIT_MS / 1000})`.execute()
  const [arrived] = await service.sql<{ at: Date }[]>`select service_now() as at`
  await buffer.take({
    id: randomUUID(),
    arrived: performance.now(),
    accountId: sender.accountId,
    messageId,
    recipientNo: 0,
    kind: 'opened',
    link: null,
    url: null,
    ip: '192.0.2.9',
    userAgent: null,
    machine: null,
  })
  await busy
  // It may be written after the response, which waits for two seconds.
  const hit = await until('the hit', async () => {
    const [row] = await service.sql<{ at: Date }[]>`select at from hits where account_id = ${sender.accountId}`
    return row
  })
  const late = hit.at.getTime() - (arrived?.at.getTime() ?? 0)
  t.ok(Math.abs(late) < WAIT_MS / 2, `${late} ms after it arrived`)
})
