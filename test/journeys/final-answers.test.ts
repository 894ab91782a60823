import t, { type Test } from 'tap'
import type { SqlTransaction } from '../../packages/core/src/platform/database/database.ts'
import { holding, untilBlocked } from '../helpers/blocked.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'

const DOORS = ['smtp', 'v2', 'v3']
const ACCEPTED = { smtp: 250, v2: 200, v3: 202 }
const REFUSED = { smtp: 451, v2: 503, v3: 503 }

interface Doors {
  readonly service: TestService
  readonly sender: Sender
  readonly base: string
  /** Sends a message by each door, and returns the codes. */
  send(): Promise<Record<string, number>>
  /** The doors of the stored messages, in order. */
  stored(): Promise<string[]>
}

async function openDoors(t: Test): Promise<Doors> {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const base = await service.openApi()
  await service.openRelay()
  const client = await SmtpClient.connect(t, { port: service.config.relayTlsPort, tls: true })
  await client.reply()
  await client.logIn(sender.apiKey)
  const doors = {
    service,
    sender,
    base,
    async send() {
      const [smtp, v2, v3] = await Promise.all([bySmtp(client, sender), byV2(base, sender), byV3(base, sender)])
      return { smtp, v2, v3 }
    },
    async stored() {
      return (await service.sql<{ door: string }[]>`select door from messages order by door`).map(({ door }) => door)
    },
  }
  // Once without hindrance, so that what is asked for the first time only is known.
  t.strictSame(await doors.send(), ACCEPTED)
  await service.sql`truncate messages, delivery_queue, bodies, events`
  return doors
}

async function bySmtp(client: SmtpClient, { domain }: Sender): Promise<number> {
  const from = `desk@${domain}`
  const reply = await client.submit(from, 'lena@harbor.example', `From: ${from}\r\nSubject: Berth 4\r\n\r\nReady.\r\n`)
  return Number(reply.slice(0, 3))
}

async function byV2(base: string, sender: Sender): Promise<number> {
  return (await sendV2(base, sender.apiKey, v2Body(sender))).status
}

async function byV3(base: string, { apiKey, domain }: Sender): Promise<number> {
  const mail = {
    personalizations: [{ to: [{ email: 'lena@harbor.example' }] }],
    from: { email: `desk@${domain}` },
    subject: 'Berth 4',
    content: [{ type: 'text/plain', value: 'Ready.' }],
  }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  return (await fetch(`${base}/v3/mail/send`, { method: 'POST', headers, body: JSON.stringify(mail) })).status
}

/** Waits until no statement runs that could still store a message: it would have its say after the answers. */
async function untilQuiet({ sql }: TestService): Promise<void> {
  await until('no accept to be running', async () => {
    const rows = await sql`
      select 1 from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and query like '%message as materialized%'`
    return rows.length === 0
  })
}

const accepted = (codes: Record<string, number>): string[] => DOORS.filter((door) => (codes[door] ?? 500) < 300)

for (const table of ['events', 'idempotency_keys', 'finished_deliveries']) {
  t.test(`accepts that wait too long for a lock on ${table} are refused, and nothing of them is stored`, async (t) => {
    const doors = await openDoors(t)
    const { service, sender, base } = doors
    const readiness = async () => {
      const answer = await fetch(`${base}/health/ready`)
      return { ...((await answer.json()) as { reasons?: string[] }), status: answer.status }
    }
    const found = await holding(t, service, async (locker) => {
      await locker`lock table ${locker(table)} in access exclusive mode`
      const sent = doors.send()
      const { reasons } = await until('not ready', async () => {
        const state = await readiness()
        return state.status === 503 && state
      })
      const atOnce = await byV2(base, sender)
      return { codes: await sent, reasons, atOnce }
    })
    t.strictSame(found.codes, REFUSED)
    t.equal(found.atOnce, 503, 'others, at once')
    t.match(found.reasons, [
      new RegExp(
        `^mail cannot be stored: session \\d+ .* has locked the table ${table} since .* UTC; .*pg_terminate_backend`,
      ),
    ])
    await untilQuiet(service)
    t.strictSame(await doors.stored(), [], 'refused is not stored')
    await until('ready again', async () => (await readiness()).status === 200)
    t.strictSame(await doors.send(), ACCEPTED)
  })
}

t.test('accepts that wait for a short lock are accepted, and stored once', async (t) => {
  const doors = await openDoors(t)
  const sent = await holding(t, doors.service, async (locker) => {
    await locker`lock table events in access exclusive mode`
    const codes = doors.send()
    await untilBlocked(locker, 1)
    return { codes }
  })
  t.strictSame(await sent.codes, ACCEPTED)
  t.strictSame(await doors.stored(), DOORS)
})

t.test('the answer to an accept whose session stands still for longer than we wait is its outcome', async (t) => {
  const doors = await openDoors(t)
  const { service, sender, base } = doors
  let pid = 0
  const sent = await holding(t, service, async (locker) => {
    await locker`lock table events in access exclusive mode`
    const code = byV2(base, sender)
    await untilBlocked(locker, 1)
    pid = await pidOf(locker)
    // It stands still before the lock is given to it, and commits afterwards if nothing ends it.
    process.kill(pid, 'SIGSTOP')
    t.teardown(() => go(pid))
    return { code }
  })
  const others = await doors.send()
  t.strictSame(others, ACCEPTED, 'others are accepted meanwhile')
  await until('the silent connection to be replaced', async () => {
    const rows = await service.sql`select 1 from pg_stat_activity where query like '%pg_terminate_backend%'`
    return rows.length > 0
  })
  go(pid)
  const v2 = await sent.code
  await untilQuiet(service)
  t.strictSame(await doors.stored(), [...DOORS, ...accepted({ v2 })].sort(), `stored is what was accepted: ${v2}`)
})

async function pidOf(locker: SqlTransaction): Promise<number> {
  const [blocked] = await locker<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return blocked?.pid ?? 0
}

function go(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It ended meanwhile.
  }
}
