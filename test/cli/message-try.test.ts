import t from 'tap'
import { DEFERRED, makeQueue } from '../core/delivery/queue-of.ts'
import { postrider } from './postrider.ts'

t.test('message try makes the deferred deliveries of a message due', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  const tryNow = (id: string) => postrider(service.env, 'message', 'try', id)
  const id = await accept(['lena@harbor.example'])
  const hex = id.replaceAll('-', '')
  const workerId = await register()
  await core.deliveries.record((await claimAll(workerId)).map((one) => ({ ...one, workerId, outcome: DEFERRED })))
  t.match(await tryNow(id), { code: 1, stderr: `no delivery of message ${hex} can be tried now: 1 not yet` })
  await service.sql`update attempts set started_at = started_at - interval '2 minutes'`
  t.match(await tryNow(id), { code: 0, stdout: `1 delivery of message ${hex} due now\n` })
  t.equal((await claimAll(workerId)).length, 1)
  t.match(await tryNow('x'), { code: 1, stderr: /message "x" not found/ })
})
