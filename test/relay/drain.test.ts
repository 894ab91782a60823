import net from 'node:net'
import t from 'tap'
import { isInTime } from '../helpers/pace.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { CLOSED, SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { connectRelay, mail, NOTHING, openSession, queueId, stored } from './session.ts'

t.test('at SIGTERM a message under way is finished and stored, all else gets 421, and the relay exits 0', async (t) => {
  const service = await makeService(t)
  const relay = await startProcess(t, 'relay', service.env)
  const sender = await service.makeSender()
  const desk = `desk@${sender.domain}`
  const message = mail(sender)
  const receiving = await openSession(t, service, sender)
  await receiving.begin(desk, 'lena@harbor.example')
  await receiving.send(message.slice(0, 40))
  const idle = await openSession(t, service, sender, { tls: false })
  const between = await openSession(t, service, sender)
  t.match(await between.command(`MAIL FROM:<${desk}>`), /^250 /)

  const asked = performance.now()
  relay.kill('SIGTERM')
  t.match(await idle.reply(), /^421 4\.3\.2 /)
  t.equal(await idle.reply(), CLOSED)
  t.match(await between.command('RCPT TO:<lena@harbor.example>'), /^421 4\.3\.2 /)
  t.equal(await between.reply(), CLOSED)
  for (const tls of [false, true]) {
    const late = await SmtpClient.connect(t, {
      port: tls ? service.config.relayTlsPort : service.config.relayPort,
      tls,
    })
    t.match(await late.reply(), /^421 4\.3\.2 /, 'instead of a greeting')
    t.equal(await late.reply(), CLOSED)
  }

  await receiving.send(message.slice(40))
  queueId(await receiving.finish(''))
  t.match(await receiving.reply(), /^421 4\.3\.2 /, 'without being asked')
  t.equal(await receiving.reply(), CLOSED)
  t.equal(await relay.exited, 0)
  await t.rejects(connectRelay(t, service), 'no new connection')
  t.ok(isInTime(asked, 30_000))
  t.strictSame(await stored(service, sender), { messages: 1, deliveries: 1 })
})

t.test('at a socket that systemd keeps, new connections wait for the next relay', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const { BoundSocket } = net
  const held = new BoundSocket({ host: '127.0.0.1', port: service.config.relayPort })
  t.teardown(() => held.close())
  const relay = await startProcess(t, 'relay', service.env, { relay: held })
  const client = await openSession(t, service, sender, { tls: false })
  await client.begin(`desk@${sender.domain}`, 'lena@harbor.example')
  relay.kill('SIGTERM')
  await until('the relay to stop', () => relay.log.some(({ msg }) => msg === 'stopping'))
  const waiting = await SmtpClient.connect(t, { port: service.config.relayPort })
  const greeting = waiting.reply()
  queueId(await client.finish(mail(sender)))
  t.match(await client.reply(), /^421 4\.3\.2 /)
  t.equal(await relay.exited, 0)
  await startProcess(t, 'relay', service.env, { relay: held })
  t.match(await greeting, /^220 /)
})

t.test('a client that leaves in the middle of a message is no fault: nothing is logged as one', async (t) => {
  const service = await makeService(t)
  const relay = await startProcess(t, 'relay', service.env)
  const sender = await service.makeSender()
  for (const leave of ['destroy', 'reset'] as const) {
    const client = await openSession(t, service, sender)
    await client.begin(`desk@${sender.domain}`, 'lena@harbor.example')
    await client.send(mail(sender).repeat(50))
    client[leave]()
  }
  const client = await openSession(t, service, sender)
  t.match(
    await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender, 'X-SETTINGS: no\r\n')),
    /^550 /,
  )
  client.destroy()
  t.equal(await relay.stop(), 0)
  t.strictSame(
    relay.log.filter(({ level }) => (level as number) >= 40),
    [],
  )
  t.ok(relay.log.some(({ msg, refusal }) => msg === 'request rejected' && refusal === 'parameterInvalid'))
  const text = JSON.stringify(relay.log)
  for (const secret of [sender.apiKey, 'lena@', 'Berth 4']) t.notOk(text.includes(secret), 'nothing private is logged')
})

t.test('a database that could lose what it acknowledged is not used: 451 4.3.0, and nothing is stored', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const [row] = await service.sql<{ name: string }[]>`select current_database() as name`
  await service.sql.unsafe(`alter database ${row?.name} set synchronous_commit = off`)
  const relay = await startProcess(t, 'relay', service.env)
  const client = await openSession(t, service, sender)
  const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender))
  t.match(reply, /^451 4\.3\.0 /)
  t.match(await client.command('NOOP'), /^250 /)
  t.strictSame(await stored(service, sender), NOTHING)
  await until('the log to say why', () => relay.log.find(({ msg }) => msg === 'not ready'))
})
