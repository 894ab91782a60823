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

t.test('a stored body that lacks octets or a part is never sent, whatever it was stored as', async (t) => {
  const sink = await startSink(t)
  const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const { sql } = outbox.service
  const { domain } = outbox.sender
  const relay = await outbox.openRelay(t)
  outbox.worker.kill('SIGSTOP')
  const letter = (length: number) =>
    `From: desk@${domain}\r\nSubject: Berth 4\r\n\r\n${'your berth\r\n'.repeat(length / 12)}`
  const attachments = [{ fileName: 'plan.txt', fileContent: Buffer.from('of the harbour').toString('base64') }]
  const short = await relay.submit(`desk@${domain}`, 'short@harbor.example', letter(1200))
  const large = await relay.submit(`desk@${domain}`, 'large@harbor.example', letter(1_200_000))
  const part = await outbox.send('part@harbor.example', { attachments })
  const sound = await outbox.send('sound@harbor.example', { attachments })
  await sql`
    update bodies set content = substring(content from 1 for octet_length(content) - 12)
     where message_id = any(${[short, large]}::uuid[])`
  t.equal((await sql`delete from bodies where message_id = ${part}::uuid and part = 1`).count, 1)
  outbox.worker.kill('SIGCONT')
  await outbox.inState(sound, 'delivered')
  for (const id of [short, large, part])
    t.match(await outbox.inState(id, 'deferred'), { attempts: [{ outcome: 'deferred', enhanced: '4.3.0' }] })
  t.equal(sink.messages.length, 1)
})
