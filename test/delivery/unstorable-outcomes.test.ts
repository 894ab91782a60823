import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { type DeliveryDetails, startOutbox } from './outbox.ts'

/** In a database that takes no snowmen: they stand for any text that cannot be stored. */
const sink = await startSink(t, {
  rcpt: ({ command }) => (command.includes('<gone') ? '550 5.1.1 no such user ☃' : undefined),
  dot: ({ message }) => (message.to[0]?.startsWith('plain') ? '250 2.0.0 taken' : '250 2.0.0 taken by ☃'),
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { sql } = outbox.service

/** The delivery and how often the message had arrived, an hour after the first attempt and `act`. */
async function anHourLater(
  recipient: string,
  act: () => Promise<unknown> = async () => {},
): Promise<{ delivery: DeliveryDetails; copies: number }> {
  const id = await outbox.send(recipient)
  await outbox.attempted(id)
  await act()
  await outbox.advance(60)
  // What was sent after the clock moved is delivered: so the queue has been looked at.
  await outbox.inState(await outbox.send(`plain-${id}@harbor.example`), 'delivered')
  const [delivery] = (await outbox.story(id)).deliveries
  if (!delivery) throw new Error('the message has no delivery')
  return { delivery, copies: sink.messages.filter(({ to }) => to.includes(recipient)).length }
}

const BY_SERVICE = { enhanced: /\d/, reply: 'the reply could not be stored' }

t.test('a message is delivered once although the reply of its receiver cannot be stored', async (t) => {
  await sql.unsafe("alter table attempts add constraint no_snowmen check (strpos(reply, '☃') = 0) not valid")
  const { delivery, copies } = await anHourLater('once@harbor.example')
  t.equal(copies, 1)
  t.match(delivery.attempts, [{ outcome: 'delivered', stage: 'dot', code: 250, host: '127.0.0.1', ...BY_SERVICE }])
  t.equal(delivery.attempts.length, 1)
})

t.test('a bounce stays one although its reply cannot be stored', async (t) => {
  const { delivery } = await anHourLater('gone@harbor.example')
  t.equal(delivery.state, 'bounced')
  t.match(delivery.attempts, [{ outcome: 'bounced', stage: 'rcpt', code: 550, ...BY_SERVICE }])
  t.equal(sink.commands.filter((line) => line.includes('<gone@')).length, 1)
})

t.test('a message is delivered once although neither attempt nor event of it can be stored', async (t) => {
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
    create trigger refused before insert on attempts for each row execute function refuse()`)
  const { delivery, copies } = await anHourLater('bare@harbor.example', () => sql`drop trigger refused on attempts`)
  t.equal(copies, 1)
  t.match(delivery, { state: 'delivered', attempt: 1, attempts: [], finishedAt: Date })
  const forms = outbox.worker.log.filter(({ msg }) => msg === 'could not record result').map(({ form }) => form)
  t.strictSame(forms.slice(-2), ['whole', 'reduced'])
})
