import { createProcessReport } from '@postrider/core'
import t from 'tap'
import { registerWorker } from '../helpers/lease.ts'
import { openDashboard } from './dashboard.ts'
import { member } from './members.ts'

const SOURCES = '/app/operator/sources'
const RETURNS = '/app/operator/returns'
const PROCESSES = '/app/operator/processes'

t.test(
  'a source is shown with its warm-up and checks, and is paused and resumed, with the user in the log',
  async (t) => {
    const { owner, service } = await openDashboard(t)
    const { get, post } = await owner()
    const { core } = service
    t.match(await (await get(SOURCES)).text(), 'No source is set up')
    await core.sources.add({
      name: 'mta-1',
      address: '192.0.2.7',
      helo: 'mta-1.ship.example',
      warmUpPlan: 'gentle',
      force: true,
    })
    await core.sources.add({ name: 'mta-2', address: '192.0.2.8', helo: 'mta-2.ship.example', force: true })
    await core.deliveries.limits.set({
      place: 'yahoo@mta-1',
      accountId: null,
      setting: 'connections',
      value: 2,
      seconds: null,
      rule: 'yahoo-slow',
      reason: '421',
      lasts: 7200,
    })
    const page = await (await get(SOURCES)).text()
    for (const shown of [
      'mta-1',
      '192.0.2.7',
      'Gentle, 45 days',
      'No worker has it',
      'yahoo-slow',
      'at most 2 connections',
    ])
      t.match(page, shown)
    t.equal((await post(`${SOURCES}/pause`, { name: 'mta-1', reason: ' ' })).status, 400)
    t.equal((await post(`${SOURCES}/pause`, { name: 'mta-9', reason: 'x' })).status, 400)
    t.equal((await post(`${SOURCES}/pause`, { name: 'mta-1', reason: '<i>listed</i>' })).status, 303)
    t.match(await (await get(SOURCES)).text(), '&lt;i&gt;listed&lt;/i&gt;')
    t.match((await core.sources.read()).sources, [{ isPaused: true }, { isPaused: false }])
    t.equal((await post(`${SOURCES}/resume`, { name: 'mta-1' })).status, 303)
    t.match((await core.sources.read()).sources[0], { isPaused: false })
    t.equal((await post(`${SOURCES}/check`, { name: 'mta-1' })).status, 303)
    const log = (await core.audit.list(0, { after: 0, limit: 100 })).filter(({ action }) => action === 'source.change')
    t.match(log, [{ userName: 'Ada Lovelace' }, { userName: 'Ada Lovelace' }])
    t.equal(log.length, 2)
  },
)

t.test('mail that came back is listed by kind, and its content is text', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get } = await owner()
  t.match(await (await get(RETURNS)).text(), 'Nothing came back')
  const raw =
    'From: <eve@evil.example>\r\nSubject: <script>alert(1)</script>\r\n\r\nHello \u202Egro <img src=x onerror=alert(2)>\r\n'
  const { kind } = await service.core.returns.take({
    raw: Buffer.from(raw),
    recipients: [`postmaster@${service.config.returnPathHost}`],
    mailFrom: 'eve@evil.example',
  })
  t.equal(kind, 'letter')
  const list = await (await get(RETURNS)).text()
  t.match(list, 'evil.example')
  t.match(await (await get(`${RETURNS}?kind=letter`)).text(), 'evil.example')
  t.match(await (await get(`${RETURNS}?kind=bounce`)).text(), 'Nothing of this kind came back')
  const path = /\/app\/operator\/returns\/[0-9a-f]{32}/.exec(list)?.[0] as string
  const page = await (await get(path)).text()
  t.match(page, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.match(page, '<span class="ctl">U+202E</span>')
  t.notMatch(page, '<img src=x')
  t.match(page, 'eve@evil.example')
  for (const id of ['x', '0'.repeat(32), '%00', 'a'.repeat(40)])
    t.equal((await get(`${RETURNS}/${id}`)).status, 404, id)
  t.equal((await get(`${RETURNS}?kind=x&before=x`)).status, 200)
})

t.test('processes of all hosts are shown with version, memory and start, and those without news', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get } = await owner()
  await service.sql`
    insert into processes (program, host, pid, version, memory, seen_at) values
      ('relay', 'mail-a.<b>.example', 4711, '0.2.0', 123456789, service_now()),
      ('worker', 'mail-b.example', 4712, '0.1.9', 5000000, service_now()),
      ('returns', 'mail-c.example', 4713, '0.2.0', 5000000, service_now() - interval '10 minutes')`
  const page = await (await get(PROCESSES)).text()
  t.match(page, /relay<\/b>.*mail-a\.&lt;b&gt;\.example.*process 4711.*Running.*0\.2\.0.*123\.5 MB/s)
  t.match(page, /mail-c\.example.*Without news/s)
  t.match(page, /class="state wait">[\s\S]{0,200}<span><bdi>0\.1\.9/, 'versions that differ are marked')
})

t.test('a process is listed while it runs, also while the clock is moved', async (t) => {
  const { service } = await openDashboard(t)
  const report = createProcessReport(service.sql, 'relay')
  await report.report()
  await report.report()
  const [one, ...others] = await service.core.listProcesses()
  t.match(one, { program: 'relay', pid: process.pid, alive: true, version: /^\d+\.\d+/ })
  t.ok(one && one.memory > 1_000_000)
  t.strictSame(others, [])

  await service.core.serviceTime.move({ advance: '4h' })
  const [moved] = await service.core.listProcesses()
  t.match(moved, { alive: true, startedAt: one?.startedAt }, 'a clock that was moved makes no process silent')
  t.ok(
    Number(moved?.seenAt) > Number(one?.startedAt) + 3 * 3_600_000,
    'when it was seen is by the clock that pages show',
  )
  await report.report()
  t.match(await service.core.listProcesses(), [{ startedAt: one?.startedAt }], 'nor does it start anew')
  await report.end()
  t.equal((await service.core.listProcesses()).length, 0)
})

t.test('workers of all hosts and the state of the database are shown', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get } = await owner()
  t.match(await (await get(PROCESSES)).text(), 'No delivery worker is running')
  const { core, sql } = service
  await registerWorker(t, core, 'mail-a.ship.example')
  await sql`insert into workers (host, pid) values ('mail-b.<b>ship</b>.example', 77)`
  const page = await (await get(PROCESSES)).text()
  for (const shown of ['mail-a.ship.example', 'mail-b.&lt;b&gt;ship', 'Running', 'Presumed dead', 'PostgreSQL'])
    t.match(page, shown)
  await core.cleanUp()
  const health = await core.databaseHealth()
  t.ok(health.oldestTransaction === null || health.oldestTransaction < 60)
  t.match(health.version, /^1\d/)
  t.ok(health.size > 1e6 && health.connections > 0 && health.maxConnections >= health.connections)
  t.ok(health.weeksAhead >= 5 && health.weeksAhead <= 7, `${health.weeksAhead} weeks`)
})

t.test('to a user who does not operate the installation, none of it is there', async (t) => {
  const dashboard = await openDashboard(t)
  const { accountId } = await dashboard.owner()
  const eve = await member(dashboard, { accountId })
  for (const path of [SOURCES, RETURNS, `${RETURNS}/${'0'.repeat(32)}`, PROCESSES])
    t.equal((await eve.get(path)).status, 404, path)
  for (const action of ['check', 'pause', 'resume'])
    t.equal((await eve.post(`${SOURCES}/${action}`, { name: 'mta-1', reason: 'x' })).status, 404, action)
})

t.test('the clock of a sandbox is moved by buttons; every page says so, and no session ends', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post } = await owner()
  const { core } = service
  const before = await (await get(PROCESSES)).text()
  for (const shown of ['Clock of the sandbox', 'as in the world', 'A week on']) t.match(before, shown)
  t.notMatch(before, 'the clock is')
  t.equal((await post(`${PROCESSES}/clock`, { advance: '7d' })).status, 303)
  const page = await get('/app/security')
  t.equal(page.status, 200)
  t.match(await page.text(), 'Sandbox: the clock is 7 days fast')
  t.equal((await post(`${PROCESSES}/clock`, { speed: '60' })).status, 303)
  t.match(await (await get(PROCESSES)).text(), '60 times as fast as in the world')
  t.match(await core.serviceTime.show(), { speed: 60 })
  t.equal((await post(`${PROCESSES}/clock`, { advance: 'soon' })).status, 400)
  t.equal((await post(`${PROCESSES}/clock`, {})).status, 400)
  t.match(
    (await core.audit.list(0, { after: 0, limit: 100 })).filter(({ action }) => action === 'clock.move'),
    [{ userName: 'Ada Lovelace', address: '127.0.0.1' }, {}],
  )
  t.equal((await post(`${PROCESSES}/clock`, { to: 'real' })).status, 303)
  t.match(await core.serviceTime.show(), { ahead: 0 })
})
