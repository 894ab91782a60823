import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { embeddedUrlFile, openDatabase } from '@postrider/core'
import { createTransport } from 'nodemailer'
import t from 'tap'
import { commandLine, descendantsOf, KEY, startUp, upSettings } from '../cli/postrider.ts'
import { freePorts } from '../helpers/ports.ts'
import { until } from '../helpers/until.ts'

const skip = process.platform !== 'linux' && 'processes are looked up in /proc'
const PROGRAMS = /packages\/(?:api|relay|delivery|sandbox)\/src\/[a-z-]+\.ts/

/** What clients see while the processes behind the ports are replaced. */
interface Load {
  accepted: number
  readonly failures: string[]
  stop(): Promise<void>
}

/** The first of some free ports that follow each other. */
async function portsInARow(count: number): Promise<number> {
  for (;;) {
    const [first = 0, ...others] = await freePorts(count)
    if (others.every((port, at) => port === first + at + 1)) return first
  }
}

/** The status of a call, on a connection of its own or on one that is kept. */
function send(port: string, key: string, agent: Agent | false): Promise<number> {
  const body = JSON.stringify({
    personalizations: [{ recipient: 'lena@harbor.example' }],
    from: { fromEmail: 'hello@demo.example' },
    subject: 'Berth 4',
    content: 'Your berth is ready.',
  })
  const headers = { api_key: key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const call = request(
      { port, host: '127.0.0.1', path: '/v2/sendEmail', method: 'POST', headers, agent },
      (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
        answer.once('error', reject)
      },
    )
    call.once('error', reject)
    call.end(body)
  })
}

/** Clients that send by HTTP and SMTP, some 40 messages per second. */
function startLoad(env: Record<string, string>, key: string): Load {
  let stopping = false
  const load: Load = { accepted: 0, failures: [], stop: async () => {} }
  const lane = async (name: string, act: () => Promise<unknown>): Promise<void> => {
    while (!stopping) {
      await act().then(
        () => load.accepted++,
        (error: unknown) => load.failures.push(`${name}: ${(error as Error).message}`),
      )
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const byHttp = async (agent: Agent | false): Promise<void> => {
    const status = await send(env.API_PORT as string, key, agent)
    if (status !== 200) throw new Error(`status ${status}`)
  }
  const bySmtp = async (secure: boolean): Promise<void> => {
    const port = Number(secure ? env.RELAY_TLS_PORT : env.RELAY_PORT)
    const auth = { user: 'apikey', pass: key }
    const transport = createTransport({ host: '127.0.0.1', port, secure, auth, tls: { rejectUnauthorized: false } })
    await transport.sendMail({
      from: 'hello@demo.example',
      to: 'lena@harbor.example',
      subject: 'Berth 4',
      text: 'Ready.',
    })
  }
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  const lanes = [
    lane('HTTP', () => byHttp(false)),
    lane('HTTP', () => byHttp(false)),
    lane('HTTP, kept connection', () => byHttp(kept)),
    lane('SMTP', () => bySmtp(false)),
    lane('SMTP over TLS', () => bySmtp(true)),
  ]
  load.stop = async () => {
    stopping = true
    await Promise.all(lanes)
    kept.destroy()
  }
  return load
}

t.test('SIGHUP replaces every process twice under load: no call fails, no message is lost', { skip }, async (t) => {
  const metrics = await portsInARow(5)
  const env = await upSettings({ API_PROCESSES: '2', METRICS_PORT: String(metrics) })
  const installation = await startUp(t, env)
  const key = KEY.exec(installation.stdout)?.[0] as string
  const running = (): number[] => descendantsOf(installation.pid).filter((pid) => PROGRAMS.test(commandLine(pid)))
  const rolled = (): number => installation.stdout.split('all processes are replaced').length - 1
  const before = running()
  t.equal(before.length, 6)

  const load = startLoad(env, key)
  t.teardown(() => load.stop())
  for (const times of [1, 2]) {
    process.kill(installation.pid, 'SIGHUP')
    await until('all to be replaced', () => rolled() === times, 120_000)
  }
  await load.stop()
  t.strictSame(load.failures, [])
  t.comment(`${load.accepted} messages accepted`)
  t.ok(load.accepted > 100)
  const after = running()
  t.equal(after.length, 6)
  t.notOk(after.some((pid) => before.includes(pid)))

  for (let port = metrics; port < metrics + 5; port++)
    t.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200, 'each process has metrics')

  const url = readFileSync(embeddedUrlFile(env.DATA_DIR as string), 'utf8').trim()
  const sql = openDatabase({ url, name: 'test', connections: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  const delivered = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from finished_deliveries where state = 'delivered'`
    return row?.count ?? 0
  }
  await until('all to be delivered', async () => (await delivered()) >= load.accepted, 60_000).catch(() => undefined)
  const waiting = await sql`
    select state, outcome, stage, code, reply from delivery_queue left join attempts using (message_id, recipient_no)`
  t.strictSame([...waiting], [])
  t.equal(await delivered(), load.accepted)
  t.equal(installation.stderr, '')
})
