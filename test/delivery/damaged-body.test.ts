import t, { type Test } from 'tap'
import { startSink } from '../helpers/sink.ts'
import { startOutboxProcess } from './outbox.ts'

const attachments = [{ fileName: 'plan.txt', fileContent: Buffer.from('of the harbour').toString('base64') }]

/** A worker that stands still, and a relay that takes letters of so many octets meanwhile. */
async function openHalted(t: Test) {
  const sink = await startSink(t)
  const outbox = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const relay = await outbox.openRelay(t)
  outbox.worker.kill('SIGSTOP')
  const from = `desk@${outbox.sender.domain}`
  const submit = (to: string, octets: number) =>
    relay.submit(from, to, `From: ${from}\r\nSubject: Berth 4\r\n\r\n${'your berth\r\n'.repeat(octets / 12)}`)
  return { sink, outbox, submit }
}

t.test('a message whose stored body is damaged is deferred by itself, and holds up no other', async (t) => {
  const sink = await startSink(t)
  const outbox = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
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
  const { sink, outbox, submit } = await openHalted(t)
  const { sql } = outbox.service
  const short = await submit('short@harbor.example', 1200)
  const large = await submit('large@harbor.example', 1_200_000)
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

t.test(
  'a stored body that was changed at its length is not sent, the reason is shown, and restored it is delivered',
  async (t) => {
    const { sink, outbox, submit } = await openHalted(t)
    const { sql } = outbox.service
    const changed = [
      await submit('short@harbor.example', 1200),
      // Above 16 kB it lies deflated, above 128 kB it is read in slices, above 1 MB it came by COPY.
      await submit('deflated@harbor.example', 60_000),
      await submit('sliced@harbor.example', 600_000),
      await submit('copied@harbor.example', 3_000_000),
      await outbox.send('content@harbor.example', { attachments }),
    ]
    // Written by a version that kept no digest.
    const older = await outbox.send('older@harbor.example', { attachments })
    await sql`update bodies set digest = null where message_id = ${older}::uuid`
    const turnLastOctet = () => sql`
    update bodies set content = set_byte(content, octet_length(content) - 3, 255 - get_byte(content, octet_length(content) - 3))
     where message_id = any(${changed}::uuid[])`
    await turnLastOctet()
    outbox.worker.kill('SIGCONT')
    await outbox.inState(older, 'delivered')
    for (const id of changed) {
      const [attempt] = (await outbox.inState(id, 'deferred')).attempts
      t.match(attempt, {
        enhanced: '4.3.0',
        reply: /the stored body of this message was changed after it was accepted/,
      })
    }
    t.equal(sink.messages.length, 1)
    await turnLastOctet()
    await outbox.advance(20)
    for (const id of changed) await outbox.inState(id, 'delivered')
    t.equal(sink.messages.length, 1 + changed.length)
  },
)

t.test("another message's body, digest and all, is not sent in the place of its own", async (t) => {
  const sink = await startSink(t)
  const outbox = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  outbox.worker.kill('SIGSTOP')
  const [own, other] = [await outbox.send('lena@harbor.example'), await outbox.send('mina@harbor.example')]
  await outbox.service.sql`
    update bodies b set content = o.content, digest = o.digest, encoding = o.encoding from bodies o
     where b.message_id = ${own}::uuid and o.message_id = ${other}::uuid`
  outbox.worker.kill('SIGCONT')
  await outbox.inState(other, 'delivered')
  t.match((await outbox.inState(own, 'deferred')).attempts, [
    { reply: /this message was changed after it was accepted/ },
  ])
  t.equal(sink.messages.length, 1)
})
