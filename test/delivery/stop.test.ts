import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { startOutboxProcess } from './outbox.ts'

t.test('a worker that stops leaves no connection slots behind, which others would wait for', async (t) => {
  const sink = await startSink(t)
  const { service, send, inState, worker } = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  for (let count = 0; count < 3; count++) await inState(await send('lena@harbor.example'), 'delivered')
  const slots = () => service.sql`select place from connection_slots`
  t.not((await slots()).length, 0, 'it keeps its session for the next message')
  t.equal(await worker.stop(), 0)
  t.strictSame([...(await slots())], [])
})
