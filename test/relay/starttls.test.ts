import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { CLOSED, plainToken } from '../helpers/smtp-client.ts'
import { connectRelay, mail, shown } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const logIn = `AUTH PLAIN ${plainToken('apikey', sender.apiKey)}`

/** What somebody on the way puts behind STARTTLS, in the same packet (CVE-2011-0411). */
const INJECTED = ['NOOP\r\n', 'EHLO injected.test\r\n', `EHLO injected.test\r\n${logIn}\r\n`, 'NO', 'E', '\r\n', '\0']

for (const injected of INJECTED) {
  t.test(
    `${JSON.stringify(injected.slice(0, 30))} in the packet of STARTTLS is refused and the session ends`,
    async (t) => {
      for (const segments of [
        [`STARTTLS\r\n${injected}`],
        [`STARTTLS\r`, `\n${injected}`],
        [`starttls \r\n${injected}`],
      ]) {
        const client = await connectRelay(t, service)
        await client.command('EHLO client.test')
        await client.send(...segments)
        t.match(await client.reply(), /^554 5\.5\.0 /)
        t.equal(await client.reply(), CLOSED)
      }
    },
  )
}

t.test('plain text between 220 and the handshake ends the session', async (t) => {
  const client = await connectRelay(t, service)
  await client.command('EHLO client.test')
  t.match(await client.command('STARTTLS'), /^220 /)
  await client.send('EHLO injected.test\r\n')
  await t.rejects(client.handshake())
})

t.test('a command in the packet after STARTTLS is not executed, whenever it arrives', async (t) => {
  for (const group of ['STARTTLS\r\n', `${'RSET\r\n'.repeat(15)}STARTTLS\r\n`]) {
    const client = await connectRelay(t, service)
    await client.command('EHLO client.test')
    await client.send(group, 'EHLO injected.test\r\n')
    let reply = await client.reply()
    while (reply.startsWith('250 ')) reply = await client.reply()
    if (reply.startsWith('554 ')) continue
    t.match(reply, /^220 /)
    // It was plain text in the middle of a handshake, or it was dropped.
    const secured = await client.handshake().then(
      () => true,
      () => false,
    )
    if (secured) t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^503 5\.5\.1 /)
  }
})

t.test('after STARTTLS the session starts again: EHLO is needed, and nothing said before counts', async (t) => {
  const client = await connectRelay(t, service)
  await client.command('EHLO before.test')
  await client.startTls()
  t.match(await client.command(logIn), /^503 5\.5\.1 /)
  t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^503 5\.5\.1 /)
  await client.logIn(sender.apiKey)
  const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender))
  await shown(service, reply)
})

t.test('STARTTLS with a parameter gets 501, and the session stays as it was', async (t) => {
  const client = await connectRelay(t, service)
  await client.command('EHLO client.test')
  t.match(await client.command('STARTTLS now'), /^501 /)
  t.match(await client.command('NOOP'), /^250 /)
  await client.startTls()
  await client.logIn(sender.apiKey)
})

t.test('under TLS, STARTTLS is neither offered nor taken', async (t) => {
  const client = await connectRelay(t, service, { tls: true })
  t.notMatch(await client.command('EHLO client.test'), /STARTTLS/)
  t.match(await client.command('STARTTLS'), /^503 /)
})

t.test('a handshake that fails ends the session and nothing else', async (t) => {
  const client = await connectRelay(t, service)
  await client.command('EHLO client.test')
  t.match(await client.command('STARTTLS'), /^220 /)
  await client.send(Buffer.from('160301000501000001ff', 'hex'))
  client.reset()
  const other = await connectRelay(t, service)
  t.match(await other.command('NOOP'), /^250 /)
})
