import { BoundSocket } from 'node:net'
import t from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { mail, newDataDir, openSession } from './sandbox.ts'

t.test(
  'a sandbox that is replaced serves sessions that have not sent their message yet, and ends idle ones',
  async (t) => {
    const socket = new BoundSocket({ host: '127.0.0.1' })
    t.teardown(() => socket.close())
    const { port } = socket.address() as { port: number }
    const [http] = await freePorts(1)
    const env = { DATA_DIR: newDataDir(), SANDBOX_HTTP_PORT: String(http) }
    const sandbox = await startProcess(t, 'sandbox', env, { 'sandbox-smtp': socket })
    const idle = await openSession(t, port)
    t.match(await idle.submit('desk@ship.example', 'lena@harbor.example', mail('Subject: Berth 3')), /^250 /)
    const old = await openSession(t, port)
    // Its greeting has not arrived yet.
    const young = await SmtpClient.connect(t, { port })

    sandbox.kill('SIGTERM')
    t.match(await young.reply(), /^220 /)
    t.match(await young.command('EHLO client.test'), /^250/)
    for (const client of [young, old])
      t.match(await client.submit('desk@ship.example', 'lena@harbor.example', mail('Subject: Berth 4')), /^250 /)
    t.match(await idle.reply(), /^421|^\(closed\)$/)
    t.equal(await sandbox.exited, 0)
  },
)
