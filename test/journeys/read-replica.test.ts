import { createCore, createLog, openDatabase, type Reads, readConfig } from '@postrider/core'
import t from 'tap'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { openDashboard } from '../dashboard/dashboard.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { startReplicated } from '../helpers/standby.ts'
import { until } from '../helpers/until.ts'

const servers = await startReplicated(t)
// Replay is paused for as long as the tests take.
const settings = { DATABASE_READ_URL: servers.standbyUrl, DATABASE_READ_MAX_LAG: '3600' }
const dashboard = await openDashboard(t, settings, servers.url)
const { service, url } = dashboard
const { core, sql } = service
const standby = openDatabase({ url: service.env.DATABASE_READ_URL as string, name: 'test', connections: 1 })
t.teardown(() => standby.end({ timeout: 1 }))
const sender = await service.makeSender()
const owner = await dashboard.owner()
const today = new Date().toISOString().slice(0, 10)

async function accept(recipient: string): Promise<string> {
  const { messageId } = await acceptMessage(service, sender, { envelopes: [envelopeTo(recipient)] })
  await numberEvents(service)
  return messageId
}

async function ownerId(): Promise<number> {
  const [user] = await sql<{ id: number }[]>`select id from users`
  return (user as { id: number }).id
}

interface Answer {
  readonly asOf: string | null
  readonly text: string
}

async function ask(path: string): Promise<Answer> {
  const headers = { api_key: sender.apiKey, authorization: `Bearer ${sender.apiKey}` }
  const response = await fetch(`${url}${path}`, { headers })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  return { asOf: response.headers.get('as-of'), text }
}

const askLog = () => ask(`/v2/logs?startdate=${today}&limit=100`)

/** Waits until reads go to the standby, or to the primary. */
const readsFrom = (server: 'standby' | 'primary') =>
  until(`reads from the ${server}`, async () => ((await askLog()).asOf !== null) === (server === 'standby'))

/** What the standby has replayed, in the form of the header. */
async function replayedTo(): Promise<string> {
  const [row] = await standby<{ at: Date }[]>`
    select date_trunc('second', pg_last_xact_replay_timestamp()) as at`
  return (row as { at: Date }).at.toISOString()
}

await accept('first@harbor.example')
await readsFrom('standby')
await until('the first message on the standby', async () => (await askLog()).text.includes('first@harbor.example'))
await standby`select pg_wal_replay_pause()`
await until('replay to pause', async () => {
  const [row] = await standby`select pg_get_wal_replay_pause_state() as state`
  return row?.state === 'paused'
})
const second = await accept('second@harbor.example')

t.test(
  'statistics, event log, export and lists of the dashboard come from the standby, and say as of when',
  async (t) => {
    const asOf = await replayedTo()
    const log = await askLog()
    t.match(log.text, /first@harbor/)
    t.notMatch(log.text, /second@harbor/, 'replay is paused')
    t.equal(log.asOf, asOf)

    const stats = await ask(`/v2/stats?startdate=${today}`)
    t.equal(stats.asOf, asOf)
    const { event } = (JSON.parse(stats.text) as { asOf: { event: number } }).asOf
    t.ok(event < (await core.events.lastNumber(sender.accountId)))
    t.match(await ask(`/v3/stats?start_date=${today}`), { asOf, text: '"requests":1,' })

    const exported = await ask(`/v2/stats/export/stream?startdate=${today}`)
    t.equal(exported.asOf, asOf)
    t.match(exported.text, /first@harbor/)
    t.notMatch(exported.text, /second@harbor/)

    const list = await owner.get(`/app/${sender.accountId}/messages`)
    const page = await list.text()
    t.match(page, /first@harbor/)
    t.notMatch(page, /second@harbor/)
    t.match(page, `As of <time datetime="${asOf}">`)
    const shown = Number(/data-live="[^"]*after=(\d+)"/.exec(page)?.[1])
    t.ok(shown < (await core.events.lastNumber(sender.accountId)), 'the live stream tells what the page lacks')
  },
)

t.test('what must show the change of its caller comes from the primary', async (t) => {
  t.match(await ask('/v2/messages'), { asOf: null, text: /second@harbor/ })
  t.match(await ask(`/v2/messages/${second.replaceAll('-', '')}`), { asOf: null, text: /second@harbor/ })
  const byId = await owner.get(`/app/${sender.accountId}/messages?q=id:${second.replaceAll('-', '')}`)
  t.match(await byId.text(), /second@harbor/)
  const afterChange = await owner.get(`/app/${sender.accountId}/messages?said=cancelled`)
  t.match(await afterChange.text(), /second@harbor/)
})

t.test('a page of the event log that follows one of the primary is not older', async (t) => {
  await accept('third@harbor.example')
  const question = { accountId: sender.accountId, first: today, sort: 'desc', limit: 1 } as const
  const recipients = async (scroll: string | undefined, reads?: Reads) => {
    const page = await core.eventLog.page({ ...question, ...(scroll ? { scroll } : {}) }, (row) => row.recipient, reads)
    return { recipient: page.rows[0], scroll: page.scroll }
  }
  const first = await recipients(undefined)
  t.equal(first.recipient, 'third@harbor.example')
  const reads = core.oldReads()
  t.equal((await recipients(first.scroll, reads)).recipient, 'second@harbor.example')
  t.equal(reads.asOf(), undefined)
  // One that follows a page of the standby may come from it, too.
  const ofStandby = await recipients(undefined, core.oldReads())
  t.equal(ofStandby.recipient, 'first@harbor.example')
  await standby`select pg_wal_replay_resume()`
  await until('the third message on the standby', async () => (await askLog()).text.includes('third@harbor.example'))
  const onStandby = await recipients(undefined, core.oldReads())
  await until('the standby to have replayed a second more', async () => {
    await accept('more@harbor.example')
    const later = core.oldReads()
    t.equal((await recipients(onStandby.scroll, later)).recipient, 'second@harbor.example')
    return later.asOf() !== undefined
  })
  await standby`select pg_wal_replay_pause()`
})

t.test('an export has all events up to its request, although the standby lacks them', async (t) => {
  const last = await accept('last@harbor.example')
  const exported = await core.exports.create(
    sender.accountId,
    {
      startDate: today,
      endDate: today,
      events: ['processed'],
      format: 'json',
      callbackUrl: undefined,
      email: undefined,
    },
    { keyId: null, userId: await ownerId(), scopes: ['all'], address: '127.0.0.1' },
  )
  await until('the export', async () => {
    await core.exports.workSome()
    return (await core.exports.show(sender.accountId, exported.id)).state === 'done'
  })
  const { rows } = await core.exports.show(sender.accountId, exported.id)
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int from events where account_id = ${sender.accountId} and type = 'processed'`
  t.equal(rows, row?.count)
  t.ok(last)
})

t.test('the primary answers while the standby lags too far behind', async (t) => {
  await until('the last replayed commit to be old', async () => Date.now() - Date.parse(await replayedTo()) > 4000)
  const config = readConfig({ ...service.env, DATABASE_READ_MAX_LAG: '3' })
  const impatient = createCore({
    sql: openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 }),
    standby: openDatabase({ url: service.env.DATABASE_READ_URL as string, name: 'test', connections: 1 }),
    config,
    log: createLog('test', 'silent'),
  })
  t.teardown(() => impatient.close())
  await impatient.readiness.check()
  const reads = impatient.oldReads()
  const { total } = await impatient.eventLog.page(
    { accountId: sender.accountId, first: today, limit: 1 },
    (row) => row,
    reads,
  )
  t.equal(reads.asOf(), undefined)
  const [row] = await sql<{ count: number }[]>`select count(*)::int from messages`
  t.equal(total, row?.count)
})

t.test('a server that is not a standby is not read', async (t) => {
  const direct = createCore({
    sql: openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 }),
    standby: openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 }),
    config: service.config,
    log: createLog('test', 'silent'),
  })
  t.teardown(() => direct.close())
  const reads = direct.oldReads()
  t.equal((await direct.stats.tags({ accountId: sender.accountId, prefix: '', limit: 1, offset: 0 }, reads)).total, 0)
  t.equal(reads.asOf(), undefined)
})

t.test('the primary answers while the standby is stopped, and the standby once it is back', async (t) => {
  await standby`select pg_wal_replay_resume()`
  await readsFrom('standby')
  const [stopped] = await Promise.all([servers.stopStandby(), ...Array.from({ length: 20 }, askLog)])
  t.equal(stopped, undefined, 'each of the calls meanwhile was answered')
  t.match(await askLog(), { asOf: null, text: /last@harbor/ })
  await servers.startStandby()
  await accept('again@harbor.example')
  await readsFrom('standby')
  t.pass()
})
