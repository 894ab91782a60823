import t from 'tap'
import { startOutbox } from '../../delivery/outbox.ts'
import { startSink } from '../../helpers/sink.ts'

const REPLIES: Readonly<Record<string, readonly [reply: string, isBlocked: boolean | null]>> = {
  listed: ['451 4.7.1 Client host blocked using zen.spamhaus.org', true],
  rate: ['421 4.7.28 Our system has detected an unusual rate of mail', true],
  greylisted: ['451 4.7.1 Greylisted, please try again later', null],
  full: ['452 4.2.2 Mailbox full', null],
  refused: ['550 5.7.1 blocked by policy', null],
}

t.test('an attempt notes whether a filter or policy of the receiver deferred it', async (t) => {
  const sink = await startSink(t, { rcpt: ({ command }) => REPLIES[/<(\w+)@/.exec(command)?.[1] ?? '']?.[0] })
  const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  for (const [local, [reply, isBlocked]] of Object.entries(REPLIES)) {
    const id = await outbox.send(`${local}@harbor.example`)
    await outbox.attempted(id)
    const rows = await outbox.service.sql`select blocked from attempts where replace(message_id::text, '-', '') = ${id}`
    t.strictSame([...rows], [{ blocked: isBlocked }], reply)
  }
})
