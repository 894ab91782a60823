import t from 'tap'
import { passTime } from '../helpers/pass-time.ts'
import { makeService } from '../helpers/service.ts'
import { CLOSED } from '../helpers/smtp-client.ts'
import { mail, openSession, queueId, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()

t.test('clients that drip get 421 4.4.2 in their time, and nothing of theirs is stored', async (t) => {
  const sender = await service.makeSender()
  const desk = `desk@${sender.domain}`
  const open = () => openSession(t, service, sender)
  const [idle, midway, dripping, flowing] = [await open(), await open(), await open(), await open()]
  await midway.command(`MAIL FROM:<${desk}>`)
  await midway.send('RCPT TO:<le')
  await dripping.begin(desk, 'lena@harbor.example')
  await dripping.send(mail(sender))
  await flowing.begin(desk, 'lena@harbor.example')
  await flowing.send(`${mail(sender)}${`${'x'.repeat(78)}\r\n`.repeat(2000)}`)

  // A message that has come in at less than 500 octets a second for more than a minute is cut; commands have five minutes.
  passTime(100_000)
  t.match(await dripping.reply(), /^421 4\.4\.2 .*too slow/)
  t.equal(await dripping.reply(), CLOSED)
  t.equal(await idle.command('NOOP'), '250 2.0.0 OK')
  queueId(await flowing.finish(''))

  passTime(250_000)
  t.match(await midway.reply(), /^421 4\.4\.2 /)
  t.equal(await midway.reply(), CLOSED)
  t.equal(await idle.command('NOOP'), '250 2.0.0 OK', 'its five minutes began with its last command')
  t.strictSame(await stored(service, sender), { messages: 1, deliveries: 1 })
})
