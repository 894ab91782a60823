import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'

t.test('a message whose stored body is damaged is deferred by itself, and holds up no other', async (t) => {
  const sink = await startSink(t)
  const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  // All are claimed together.
  outbox.worker.kill('SIGSTOP')
  const damaged = await outbox.send('damaged@harbor.example', { content: 'some text that shrinks '.repeat(100) })
  await outbox.service.sql`update bodies set content = 'garbage' where message_id = ${damaged}::uuid`
  const others: string[] = []
  for (let at = 0; at < 5; at++) others.push(await outbox.send(`good${at}@harbor.example`))
  outbox.worker.kill('SIGCONT')
  for (const id of others) await outbox.inState(id, 'delivered')
  t.match(await outbox.inState(damaged, 'deferred'), { attempts: [{ outcome: 'deferred', enhanced: '4.3.0' }] })
  t.equal(sink.messages.length, others.length)
})
