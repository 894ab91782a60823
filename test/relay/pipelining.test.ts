import t, { type Test } from 'tap'
import { makeService } from '../helpers/service.ts'
import { CLOSED, plainToken, type SmtpClient } from '../helpers/smtp-client.ts'
import { connectRelay, mail, NOTHING, openSession, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const from = `MAIL FROM:<desk@${sender.domain}>\r\n`
const to = 'RCPT TO:<lena@harbor.example>\r\n'
const message = `${mail(sender)}.\r\n`

/** What may not be in one group (RFC 2920 3.1): the reply to the first decides whether the second is a command at all. */
const GROUPS: readonly [what: string, group: string[]][] = [
  ['message data behind DATA', [`${from}${to}DATA\r\n${message}`]],
  ['message data behind DATA and a blank', [`${from}${to}DATA \r\n${message}`]],
  ['message data behind data', [`${from}${to}data\r\n${message}`]],
  ['one octet behind DATA', [`${from}${to}DATA\r\nF`]],
  ['a command behind EHLO', ['EHLO client.test\r\nNOOP\r\n']],
  ['a command behind HELO', ['HELO client.test\r\nNOOP\r\n']],
  ['a command behind AUTH', [`AUTH PLAIN ${plainToken('apikey', sender.apiKey)}\r\n${from}`]],
  ['message data in the next packet, before DATA is answered', [`${from}${to}DATA\r\n`, message]],
  ['half of DATA, then its end with message data', [`${from}${to}DA`, `TA\r\n${message}`]],
]

for (const [what, group] of GROUPS) {
  t.test(`${what} gets 554 5.5.0, nothing of it is executed, and the session ends`, async (t) => {
    const client = /DATA|data/.test(group[0] ?? '') ? await openSession(t, service, sender) : await greeted(t)
    await client.send(...group)
    const replies: string[] = []
    for (let reply = await client.reply(); reply !== CLOSED; reply = await client.reply()) replies.push(reply)
    t.match(replies.at(-1), /^554 5\.5\.0 /)
    t.notOk(
      replies.some((reply) => /^(354|221|235)|queued/.test(reply)),
      replies.join(' / '),
    )
    t.strictSame(await stored(service, sender), NOTHING)
  })
}

async function greeted(t: Test): Promise<SmtpClient> {
  const client = await connectRelay(t, service, { tls: true })
  await client.command('EHLO client.test')
  return client
}
