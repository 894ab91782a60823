import t from 'tap'
import { RelayServer } from '../../../packages/relay/src/connection.ts'
import { runSmtpServers } from '../../../packages/relay/src/smtp-servers.ts'
import { freePorts } from '../../helpers/ports.ts'
import { CLOSED, SmtpClient } from '../../helpers/smtp-client.ts'

t.test('a session that lasts too long is ended, and one that waits for its reply gets it first', async (t) => {
  const answered = Promise.withResolvers<void>()
  const [port = 0] = await freePorts(1)
  const server = new RelayServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      stream.resume()
      void answered.promise.then(() => done(null, '2.0.0 Ok'))
    },
  })
  const servers = runSmtpServers([{ server, port }], '127.0.0.1', 100)
  await servers.listen()
  t.teardown(() => servers.close())
  const open = async () => {
    const client = await SmtpClient.connect(t, { port })
    await client.reply()
    await client.command('EHLO client.test')
    return client
  }
  const [idle, waiting] = [await open(), await open()]
  await waiting.begin('desk@ship.example', 'lena@harbor.example')
  await waiting.send('Subject: x\r\n\r\nhello\r\n.\r\n')
  t.match(await idle.reply(), /^421 4\.7\.0 Session too long/)
  t.equal(await idle.reply(), CLOSED)
  answered.resolve()
  t.match(await waiting.reply(), /^250 2\.0\.0 Ok/)
})
