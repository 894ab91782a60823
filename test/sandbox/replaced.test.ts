import { BoundSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import type { SmtpClient } from '../helpers/smtp-client.ts'
import { mail, newDataDir, openSession } from './sandbox.ts'

t.test('while a sandbox is replaced, each session gets its first message accepted, and an idle one ends', async (t) => {
  const socket = new BoundSocket({ host: '127.0.0.1' })
  t.teardown(() => socket.close())
  const { port } = socket.address()
  const [http, next] = await freePorts(2)
  const folder = newDataDir()
  const start = (port: number | undefined) =>
    startProcess(t, 'sandbox', { DATA_DIR: folder, SANDBOX_HTTP_PORT: String(port) }, { 'sandbox-smtp': socket })
  const submit = (client: SmtpClient): Promise<string> =>
    client.submit('desk@ship.example', 'lena@harbor.example', mail('Subject: Berth 4'))
  const sandbox = await start(http)
  const idle = await openSession(t, port)
  t.match(await submit(idle), /^250 /)

  const sessions: Promise<string>[] = []
  for (let at = 0; at < 30; at++) {
    if (at === 15) sandbox.kill('SIGTERM')
    sessions.push(openSession(t, port).then(submit))
    await sleep(10)
  }
  await start(next)
  for (const reply of await Promise.all(sessions)) t.match(reply, /^250 /)
  t.match(await idle.reply(), /^421|^\(closed\)$/)
  t.equal(await sandbox.exited, 0)
})
