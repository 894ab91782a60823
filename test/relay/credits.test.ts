import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { mail, NOTHING, openSession, queueId, stored } from './session.ts'

t.test('mail beyond the credit gets 452 4.7.1, so that the client keeps it and tries again', async (t) => {
  const service = await makeService(t)
  await service.openRelay()
  const sender = await service.makeSender()
  await service.core.credits.limit(sender.accountId, 1)
  const client = await openSession(t, service, sender)
  const send = async (...recipients: readonly string[]) => {
    await client.command(`MAIL FROM:<desk@${sender.domain}>`)
    for (const recipient of recipients) await client.command(`RCPT TO:<${recipient}>`)
    await client.command('DATA')
    return client.command(`${mail(sender)}.`)
  }
  t.match(
    await send('a@harbor.example', 'b@harbor.example'),
    /^452 4\.7\.1 Not enough credits .* Add credits and send again$/,
  )
  t.strictSame(await stored(service, sender), NOTHING)
  await service.core.credits.grant(sender.accountId, 1)
  queueId(await send('a@harbor.example', 'b@harbor.example'))
  t.equal((await service.core.credits.show(sender.accountId)).available, 0)
})

t.test('a disabled subaccount may not log in', async (t) => {
  const service = await makeService(t)
  await service.openRelay()
  const parent = await service.makeSender()
  const child = await service.makeSender()
  await service.sql`
    update accounts set parent_id = ${parent.accountId}, username = 'dock2', state = 'suspended' where id = ${child.accountId}`
  await t.rejects(openSession(t, service, child), /535 5\.7\.1 Account is suspended/)
})
