import { BULK, createAnnouncer, createCore, createLog, NORMAL, openDatabase, readConfig, URGENT } from '@postrider/core'
import t from 'tap'
import { parkedAt } from '../../helpers/claim.ts'
import { makeService } from '../../helpers/service.ts'
import { nodesOf, planOf, recordStatements } from '../../helpers/statements.ts'
import { until } from '../../helpers/until.ts'
import { acceptMessage } from '../submission.ts'

const service = await makeService(t)
const { sql } = service
const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
const recorded = openDatabase({ url: recorder.url, name: 'test', connections: 1 })
const core = createCore({ sql: recorded, config: readConfig(service.env), log: createLog('test', 'silent') })
t.teardown(async () => {
  core.readiness.close()
  await recorded.end({ timeout: 1 })
})
const lease = await core.deliveries.register({ host: 'flows.test', pid: 1 })
const { workerId } = lease

/** Accounts that exist in the queue only. */
async function fill(accountId: number, of: number, rows: number, dueInMinutes = -1): Promise<void> {
  await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, class, state, recipient, recipient_key, recipient_domain, kind,
           next_at, expires_at)
    select uuidv7(), number, ${accountId}, ${of}, 'queued', 'a', 'a', 'd' || number % 50 || '.example', 'to',
           now() + make_interval(mins => ${dueInMinutes}), now() + interval '1 day'
      from generate_series(1, ${rows}::int) as number`
}

await fill(1, NORMAL, 20_000)
await fill(1, BULK, 10)
await fill(2, NORMAL, 5)
await fill(3, URGENT, 1)
await fill(4, NORMAL, 10, 60)
await sql`analyze delivery_queue`
await sql`update pg_class set reltuples = reltuples * 200, relpages = relpages * 200 where relname ~ '^delivery_queue'`

t.test('the flows with due mail are found, each once', async (t) => {
  const flows = await core.deliveries.dueFlows()
  t.same(
    flows.map(({ accountId, class: of }) => [accountId, of]),
    [
      [1, NORMAL],
      [1, BULK],
      [2, NORMAL],
      [3, URGENT],
    ],
  )
})

t.test('a claim takes of each flow what it is given, and reads no mail of others', async (t) => {
  const shares = [
    { accountId: 1, class: NORMAL, limit: 20 },
    { accountId: 2, class: NORMAL, limit: 20 },
    { accountId: 3, class: URGENT, limit: 20 },
  ] as const
  const claimed = await core.deliveries.claim({ workerId, shares })
  const counted = (accountId: number): number => claimed.filter((one) => one.accountId === accountId).length
  t.same([1, 2, 3].map(counted), [20, 5, 1])
  t.equal(claimed.find(({ accountId }) => accountId === 3)?.class, URGENT)

  await core.deliveries.claim({ workerId, shares: [{ accountId: 1, class: NORMAL, limit: 20 }] })
  await core.deliveries.park(workerId, parkedAt(claimed, { place: 'd', waitingFor: 'connections' }))
  const parked = { workerId, place: 'd', shares: [{ accountId: 1, class: NORMAL, limit: 20 }] } as const
  t.equal((await core.deliveries.claim(parked)).length, 20)
  await core.deliveries.dueFlows()
  await core.deliveries.parkedFlows()
  const statements = recorder.statements().filter(({ text }) => text.includes('delivery_queue'))
  t.equal(statements.length, 5)
  for (const statement of statements) {
    const scans = nodesOf(await planOf(sql, statement)).filter(
      ({ node }) => node['Relation Name'] === 'delivery_queue' && node['Node Type'] !== 'ModifyTable',
    )
    for (const { node } of scans) t.match(node['Index Name'], /^delivery_queue_(flow|parked|pkey)$/)
  }
})

t.teardown(() => lease.release().catch(() => {}))

t.test('workers hear of which flows mail was queued, and whose turn it is to look for it', async (t) => {
  const heard: unknown[] = []
  const listening = await core.deliveries.listen((queued) => heard.push(queued))
  t.teardown(() => listening.close())
  heard.length = 0
  const flows = [
    { accountId: 12, class: NORMAL },
    { accountId: 7, class: URGENT },
  ]
  for (const payload of [`123456:12.${NORMAL} 7.${URGENT}`, `12.${NORMAL} 7.${URGENT}`, '', '1:7.9'])
    await sql`select pg_notify('postrider_queue', ${payload})`
  await until('four notifications', () => heard.length === 4)
  t.same(heard, [{ flows, turn: 123456 }, { flows, turn: 0 }, undefined, undefined])
  const { announce } = createAnnouncer(sql)
  announce({ accountId: 12, class: NORMAL })
  await until('a notification', () => heard.length === 5)
  t.match(heard[4], { flows: [{ accountId: 12, class: NORMAL }], turn: Number })
})

t.test('each accept wakes the workers once, and the first one on its connection, too', async (t) => {
  const sender = await service.makeSender()
  const flow = { accountId: sender.accountId, class: NORMAL }
  const heard: unknown[] = []
  const listening = await core.deliveries.listen((queued) => heard.push(queued?.flows))
  t.teardown(() => listening.close())
  heard.length = 0
  for (const number of [1, 2, 3]) {
    await acceptMessage(service, sender)
    await until('a notification', () => heard.length === number)
  }
  t.same(heard, [[flow], [flow], [flow]])
})

t.test('mail is announced while a statement that has a notification behind it waits for a lock', async (t) => {
  const waiting = { accountId: 21, class: NORMAL } as const
  const other = { accountId: 22, class: NORMAL } as const
  const heard: unknown[] = []
  const listening = await core.deliveries.listen((queued) => heard.push(queued?.flows))
  t.teardown(() => listening.close())
  await sql`create table held (number int)`
  await sql`insert into held values (1)`
  const pool = openDatabase({ url: service.config.databaseUrl ?? '', name: 'test', connections: 2 })
  t.teardown(() => pool.end())
  const update = () => pool`update held set number = number + ${1}::int`
  await update()
  heard.length = 0
  const { announce, announceBehind } = createAnnouncer(pool)
  await sql.begin(async (transaction) => {
    await transaction`select from held for update`
    const updated = update()
    const isAnnounced = announceBehind(updated, [waiting])
    void updated.then(() => t.ok(isAnnounced()))
    await until('the statement to wait', async () => {
      const [row] =
        await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'update held%'`
      return row !== undefined
    })
    announce(other)
    await until('its notification', () => heard.length === 1)
  })
  await until('the notification behind the statement', () => heard.length === 2)
  t.same(heard, [[other], [waiting]])
})

t.test('a notification that is lost with the connection of its statement is sent on another one', async (t) => {
  const flow = { accountId: 23, class: NORMAL } as const
  const heard: unknown[] = []
  const listening = await core.deliveries.listen((queued) => heard.push(queued?.flows))
  t.teardown(() => listening.close())
  const pool = openDatabase({ url: service.config.databaseUrl ?? '', name: 'test', connections: 1 })
  t.teardown(() => pool.end())
  const sleep = (seconds: number) => pool`select pg_sleep(${seconds}::float8)`
  await sleep(0)
  heard.length = 0
  const sleeping = sleep(10)
  createAnnouncer(pool).announceBehind(sleeping, [flow])
  const lost = t.rejects(sleeping)
  await until('the statement to sleep and be ended', async () => {
    // Other tests use the same server.
    const ended = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`
    return ended.length > 0
  })
  await lost
  await until('the notification', () => heard.length === 1)
  t.same(heard, [[flow]])
})
