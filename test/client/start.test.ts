import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import nodemailer from 'nodemailer'
import t from 'tap'
import { Postrider } from '../../packages/client/src/index.ts'
import { descendantsOf, isAlive } from '../cli/postrider.ts'
import { until } from '../helpers/until.ts'
import { CHECKOUT, start } from './started.ts'

const MODULE = new URL('../../packages/client/src/test/index.ts', import.meta.url).href
const STARTS = `import { startPostrider } from ${JSON.stringify(MODULE)}
const { url } = await startPostrider(${JSON.stringify(CHECKOUT)})
console.log(url)
`
const skip = process.platform !== 'linux' && 'processes are looked up in /proc'
const timeout = 200_000

/** The folders of the installations that this process, or another one, has started. */
const foldersOf = (pid = process.pid) =>
  [...new Set([tmpdir(), '/dev/shm'])].flatMap((place) =>
    readdirSync(place)
      .filter((name) => name.startsWith(`postrider-test-${pid}-`))
      .map((name) => join(place, name)),
  )

t.test(
  'several installations run side by side, each with its own mail, until they are stopped',
  { skip },
  async (t) => {
    // The environment's settings are those of the program that is tested.
    process.env.DATABASE_URL = 'postgres://127.0.0.1:1/none'
    t.teardown(() => delete process.env.DATABASE_URL)
    const before = new Set(descendantsOf(process.pid))
    const [one, two] = await Promise.all([start(t), start(t, { settings: { LOG_LEVEL: 'info' } })])
    t.not(one.url, two.url)
    // Other files of the run may be making theirs.
    const copies = readdirSync(CHECKOUT.cache).filter((name) => !name.includes('.'))
    t.equal(copies.length, 1, 'copies of one that was made')

    const client = new Postrider({ baseUrl: one.url, apiKey: one.apiKey })
    const to = one.inbox.address()
    await client.messages.send({ from: 'desk@shop.example', to, subject: 'Berth 4', text: 'Your code is 482913.' })
    t.match(await one.inbox.waitFor({ to, timeout }), { subject: 'Berth 4', codes: ['482913'] })

    const { smtpHost: host, smtpPort: port, apiKey: pass, certificate: ca } = one
    const options = { host, port, requireTLS: true, auth: { user: 'apikey', pass }, tls: { ca } }
    const transport = nodemailer.createTransport(options)
    t.teardown(() => transport.close())
    await transport.sendMail({
      from: 'desk@shop.example',
      to,
      subject: 'By SMTP',
      html: '<a href="https://shop.example/a">a</a>',
    })
    const links = [{ target: 'https://shop.example/a' }]
    t.match(await one.inbox.waitFor({ to, subject: 'smtp', timeout }), { subject: 'By SMTP', links })
    t.strictSame(await two.inbox.list(), [])

    const pids = descendantsOf(process.pid).filter((pid) => !before.has(pid))
    t.ok(pids.length > 10)
    t.equal(foldersOf().length, 2)
    await Promise.all([one.stop(), two.stop()])
    t.strictSame(pids.filter(isAlive), [])
    t.strictSame(foldersOf(), [])
  },
)

t.test(
  'it ends with the process that started it, also when that is killed, and its folder with the next start',
  { skip },
  async (t) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', `${STARTS}setInterval(() => {}, 1000)`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const pids = descendantsOf(child.pid as number)
    t.ok(pids.length > 5)
    child.kill('SIGKILL')
    await until('the end of all its processes', () => !pids.some(isAlive), 30_000)
    const [left = ''] = foldersOf(child.pid)
    t.ok(existsSync(left))

    const settings = { SECRET_KEY: Buffer.alloc(32, 1).toString('base64') }
    await t.rejects(start(t, { settings }), /ended instead of starting:\n.*SECRET_KEY/s, 'it says why')
    t.strictSame(foldersOf(child.pid), [])
    t.strictSame(foldersOf(), [], 'and leaves nothing')
  },
)

t.test('a process that forgets to stop it ends nevertheless', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', STARTS], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  t.strictSame(await once(child, 'exit'), [0, null])
})

t.test('a program that is not that of Postrider is refused', async (t) => {
  for (const program of ['/tmp/none.js', '']) await t.rejects(start(t, { program }), /is not the program of Postrider/)
})
