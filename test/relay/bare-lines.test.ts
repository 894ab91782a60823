import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { CLOSED, plainToken } from '../helpers/smtp-client.ts'
import { connectRelay, NOTHING, openSession, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()

const COMMANDS = [
  'EHLO bare.test',
  'HELO bare.test',
  `AUTH PLAIN ${plainToken('apikey', sender.apiKey)}`,
  `MAIL FROM:<desk@${sender.domain}>`,
  'RSET',
  'NOOP',
  'QUIT',
  'VRFY lena',
]

for (const command of COMMANDS) {
  t.test(`${command.slice(0, 4)} ended by a bare LF gets 500 5.5.2, not executed, and the session ends`, async (t) => {
    for (const text of [`${command}\n`, `${command}\nNOOP\r\n`, `NOOP\r\n${command}\n`, `\n${command}\r\n`]) {
      const client = await openSession(t, service, sender)
      await client.send(text)
      t.match(await client.reply(), /^500 5\.5\.2 /)
      t.equal(await client.reply(), CLOSED)
    }
  })
}

t.test('RCPT and DATA ended by a bare LF are not executed', async (t) => {
  for (const text of ['RCPT TO:<b@harbor.example>\n', 'DATA\n', 'RSET\nDATA\r\n', 'RSET\n']) {
    const client = await openSession(t, service, sender)
    await client.command(`MAIL FROM:<desk@${sender.domain}>`)
    await client.command('RCPT TO:<a@harbor.example>')
    await client.send(text)
    t.match(await client.reply(), /^500 5\.5\.2 /)
    t.equal(await client.reply(), CLOSED)
  }
  t.strictSame(await stored(service, sender), NOTHING)
})

t.test('a bare CR ends no command: what follows it is not a command', async (t) => {
  const client = await openSession(t, service, sender)
  await client.send('NOOP\rRSET\r\n')
  t.match(await client.reply(), /^(250|500) /)
  await client.send(`RSET\rMAIL FROM:<desk@${sender.domain}>\r\n`)
  t.match(await client.reply(), /^500 /)
  t.match(await client.command('RCPT TO:<a@harbor.example>'), /^503 /, 'there was no MAIL')
})

t.test('a line whose CR and LF come apart is one command', async (t) => {
  const client = await openSession(t, service, sender)
  await client.send('NOO', 'P\r', '\n')
  t.equal(await client.reply(), '250 2.0.0 OK')
  await client.send(...'NOOP\r\n')
  t.equal(await client.reply(), '250 2.0.0 OK')
})

t.test('a bare LF is seen before TLS as well', async (t) => {
  const client = await connectRelay(t, service)
  await client.send('EHLO bare.test\n')
  t.match(await client.reply(), /^500 5\.5\.2 /)
  t.equal(await client.reply(), CLOSED)
})
