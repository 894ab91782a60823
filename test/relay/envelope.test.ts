import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { mail, openSession, queueId, shown, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`

t.test('the envelope decides who gets a message, and its header does not', async (t) => {
  const client = await openSession(t, service, sender)
  const fields = 'Cc: cc@harbor.example\r\nBcc: bcc@harbor.example\r\n'
  const reply = await client.submit(desk, ['one@harbor.example', 'two@quay.example'], mail(sender, fields))
  const { deliveries, door, from } = await shown(service, reply)
  t.strictSame(
    deliveries.map(({ recipient, kind, state }) => [recipient, kind, state]),
    [
      ['one@harbor.example', 'to', 'queued'],
      ['two@quay.example', 'to', 'queued'],
    ],
  )
  t.strictSame([door, from], ['smtp', desk])
})

t.test('a recipient named twice, in another case too, gets one copy', async (t) => {
  const client = await openSession(t, service, sender)
  const named = ['lena@harbor.example', 'ann@harbor.example', 'Lena@HARBOR.example', '"lena"@harbor.example']
  const { deliveries } = await shown(service, await client.submit(desk, named, mail(sender)))
  t.strictSame(deliveries.map(({ recipient }) => recipient.toLowerCase()).sort(), [
    'ann@harbor.example',
    'lena@harbor.example',
  ])
})

t.test('1,000 recipients are accepted in one transaction, and the 1,001st gets 452 4.5.3', async (t) => {
  const own = await service.makeSender()
  const client = await openSession(t, service, own)
  t.match(await client.command(`MAIL FROM:<desk@${own.domain}>`), /^250 /)
  const numbers = Array.from({ length: 1001 }, (_, at) => at)
  await client.send(numbers.map((number) => `RCPT TO:<r${number}@harbor.example>\r\n`).join(''))
  const replies = await client.replies(1001)
  t.ok(replies.slice(0, 1000).every((reply) => reply.startsWith('250 2.1.5 ')))
  t.match(replies[1000], /^452 4\.5\.3 /)
  t.match(await client.command('RCPT TO:<r7@harbor.example>'), /^250 /, 'one that is named already is no new one')
  await client.command('DATA')
  queueId(await client.finish(mail(own)))
  t.strictSame(await stored(service, own), { messages: 1, deliveries: 1000 })
})

t.test('the null sender is accepted', async (t) => {
  const client = await openSession(t, service, sender)
  const { from } = await shown(service, await client.submit('', 'lena@harbor.example', mail(sender)))
  t.equal(from, desk)
})
