import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { makeTemplateDatabase, moveClock } from '../helpers/database.ts'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { metric, missingForPages, openSection, ruleOf, threshold } from './page.ts'

const skip = missingForPages() ?? false
// Of its own: settings of the server are changed.
const server = await startEmbeddedPostgres({
  dataDir: mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'database-')),
})
t.teardown(() => server.stop())
await makeTemplateDatabase(server.url)
const sink = await startSink(t)
const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` }, server.url)
const { env, sql, config } = service
const [metricsPort = 0] = await freePorts(1)
const sender = await service.makeSender()
await startProcess(t, 'api', env)
await startProcess(t, 'delivery', { ...env, METRICS_PORT: String(metricsPort) })
const send = () => sendV2(`http://127.0.0.1:${config.apiPort}`, sender.apiKey, v2Body(sender))

/** A session of another program, which keeps a transaction open after `statement`. */
async function leaveOpen(t: Test, name: string, statement: string): Promise<void> {
  const other = postgres(env.DATABASE_URL as string, {
    max: 1,
    connection: { application_name: name },
    onclose: () => {},
  })
  t.teardown(() => other.end({ timeout: 1 }))
  await new Promise<void>((resolve, reject) => {
    const open = other.begin(async (transaction) => {
      await transaction.unsafe(statement)
      resolve()
      // Until the session is ended.
      await transaction`select pg_sleep(300)`
    })
    open.catch(reject)
  })
}

const rowsOf = (stdout: string) => stdout.split('\n').map((line) => line.split(' | '))

t.test(
  'nothing is ready with a setting of the database that loses mail, and doctor names the statement',
  { skip },
  async (t) => {
    const page = openSection('Nothing is ready', env)
    const HOST = { 'HOST:8080': `127.0.0.1:${config.apiPort}` }
    const health = async () => (await page.run('curl', HOST)).stdout
    t.match(await health(), '"ready"')
    await sql.unsafe('alter system set fsync = off')
    await sql`select pg_reload_conf()`
    await until('no process to be ready', async () => (await health()).includes('the database has fsync = off'))
    t.equal((await send()).status, 503)

    const { code, stdout } = await page.run('postrider doctor')
    t.equal(code, 1)
    const fix = /^ *bad +durability.*\n +fix: (.*); also/m.exec(stdout)?.[1]
    t.ok(fix, stdout)
    for (const statement of (fix as string).split('; ')) await sql.unsafe(statement)
    await until('all to be ready', async () => (await health()).includes('"ready"'))
    const sent = await page.run('postrider message send', {
      ACCOUNT: String(sender.accountId),
      KEY: sender.apiKey,
      ADDRESS: 'ann@harbor.example',
    })
    t.equal(sent.code, 0, sent.stderr)
    page.done(t)
  },
)

t.test('mail waits for a lock of another program, and is accepted once its session is ended', { skip }, async (t) => {
  const page = openSection('The database is slow', env)
  t.match(ruleOf('PostriderCommitsSlow', 'the-database-is-slow'), 'postrider_accept_commit_seconds_bucket')
  await leaveOpen(t, 'nightly report', 'lock table messages in share mode')
  const waiting = send()
  const row = await until('a session that waits', async () =>
    rowsOf((await page.run('select pid')).stdout).find(
      ([, program = '', , type]) => /^postrider/.test(program) && type === 'Lock',
    ),
  )
  const PID = /\d+/.exec(row[5] ?? '')?.[0] as string
  const [, culprit] = rowsOf((await page.run('select pid')).stdout).find(([pid]) => pid === PID) ?? []
  t.equal(culprit, 'nightly report')
  t.match((await page.run('select pg_terminate_backend', { PID })).stdout, 't')
  t.ok([200, 503].includes((await waiting).status), 'it was accepted, or refused in time')
  await until('mail to be accepted', async () => (await send()).status === 200)
  page.done(t)
})

t.test('events wait for a transaction that was left open, and are numbered once it is ended', { skip }, async (t) => {
  const page = openSection('Events are late', env)
  const alert = threshold('PostriderEventsLate', 'events-are-late')
  const numbered = () => service.core.events.lastNumber(sender.accountId)
  await until('the events of before to be numbered', async () => {
    const left =
      await sql`select from events where transaction > (select transaction from event_cursors where name = 'numbers') limit 1`
    return left.length === 0
  })
  await leaveOpen(
    t,
    'repair by hand',
    `insert into events (occurred_at, account_id, type) values (service_now(), ${sender.accountId}, 'domain')`,
  )
  const before = await numbered()
  t.equal((await send()).status, 200)
  await moveClock(sql, '10 minutes')
  await until('the alert', async () => (await metric(metricsPort, alert.metric)) > alert.above, 60_000)
  t.equal(await numbered(), before)
  const [[PID = '', program] = []] = rowsOf((await page.run('select pid')).stdout)
  t.equal(program, 'repair by hand')
  await page.run('select pg_terminate_backend', { PID })
  await until('the events', async () => (await numbered()) > before)
  await until('the alert to end', async () => (await metric(metricsPort, alert.metric)) < 5, 60_000)
  page.done(t)
})
