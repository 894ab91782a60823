import t from 'tap'
import { createSessionTime } from '../../../packages/relay/src/returns/session-time.ts'
import { RelayServer } from '../../../packages/relay/src/smtp/connection.ts'
import { runSmtpServers } from '../../../packages/relay/src/smtp/smtp-servers.ts'
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
  const servers = runSmtpServers({
    servers: [{ name: 'returns', server, port }],
    host: '127.0.0.1',
    maxSessionMs: () => 100,
  })
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

t.test('while connections are scarce, sessions that have sent no message are ended early', async (t) => {
  const [port = 0] = await freePorts(1)
  const time = createSessionTime({ maxClients: 4, maxMs: 900_000, crowdedMs: 100 })
  const server = new RelayServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      stream.resume()
      stream.on('end', () => {
        time.noteTaken(session)
        done(null, '2.0.0 Ok')
      })
    },
  })
  const servers = runSmtpServers({
    servers: [{ name: 'returns', server, port }],
    host: '127.0.0.1',
    maxSessionMs: time.of,
  })
  await servers.listen()
  t.teardown(() => servers.close())
  const open = async () => {
    const client = await SmtpClient.connect(t, { port })
    await client.reply()
    await client.command('EHLO client.test')
    return client
  }
  const [productive, inData, idle] = [await open(), await open(), await open()]
  t.match(await productive.submit('desk@ship.example', 'lena@harbor.example', 'Subject: x\r\n\r\nhello'), /^250 /)
  await inData.begin('desk@ship.example', 'lena@harbor.example')
  await new Promise((resolve) => setTimeout(resolve, 6000))
  t.match(await idle.command('NOOP'), /^250 /, 'three of four connections are not scarce')
  await open()
  t.match(await idle.reply(), /^421 4\.7\.0 Session too long/)
  t.match(await inData.finish('Subject: x\r\n\r\nhello'), /^250 /)
  t.match(await productive.command('NOOP'), /^250 /)
})
