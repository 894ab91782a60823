import t from 'tap'
import { fillQueue } from '../core/delivery/filled-queue.ts'
import { makeBusyQueue } from './busy-queue.ts'
import { openDashboard } from './dashboard.ts'
import { member } from './members.ts'

const QUEUE = '/app/operator/queue'
const OLD_MILL = 'mx.old-mill.example'

t.test('the queue shows what waits, with the refusals that slow it down, as they are', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, accountId } = await owner()
  await makeBusyQueue(service, accountId)
  const page = await (await get(QUEUE)).text()
  t.match(page, 'No delivery worker is running')
  t.match(page, '451 4.7.650 The mail server [192.0.2.7] has been temporarily rate limited')
  t.match(page, 'at most 120 per minute; rule outlook-rate-limited')
  t.match(page, 'they move their servers until Monday')
  t.match(page, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.notMatch(page, '<script>alert')
  t.match(page, 'Lumen &lt;b&gt;Letters&lt;/b&gt;')
  t.match(page, '<span class="ctl">U+202E</span>')
  t.match(page, '554 5.7.1 &lt;b&gt;Service refused&lt;/b&gt;')
  t.match(page, '/queue/place?name=mx.mill-race.example')
  const slowed = await (await get(`${QUEUE}?only=slowed`)).text()
  t.match(slowed, 'yahoo-tss04')
  t.notMatch(slowed, 'waiting for a connection')
  for (const [by, shown] of [
    ['account', 'Lumen &lt;b&gt;Letters'],
    ['class', 'bulk'],
    ['domain', 'souq.example'],
    ['source', 'No source'],
    ['no such grouping', OLD_MILL],
  ] as const) {
    const response = await get(`${QUEUE}?by=${by}`)
    t.equal(response.status, 200, by)
    t.match(await response.text(), shown)
  }
})

t.test(
  'the oldest is that of the rows: also of mail that was not tried yet, without mail that is scheduled for later',
  async (t) => {
    const { owner, service } = await openDashboard(t)
    const { get, accountId } = await owner()
    const oldest = async () => {
      // As if it was read more than eight seconds ago.
      await service.core.queue.resume({ place: 'google', accountId: null }, { rules: false })
      const page = await (await get(QUEUE)).text()
      const [, tile] = />Oldest<\/span><span class="v">([^<]*)</.exec(page) ?? []
      const cells = page
        .match(/<tr><td><b>Not assigned yet<\/b>.*?<\/tr>/s)?.[0]
        .match(/<td class="n wide-only">[^<]*/g)
      return [tile, cells?.[0]?.split('>')[1]]
    }
    const fill = (state: string, next_at: string) =>
      fillQueue(service.sql, { accountIds: [accountId], count: 3, columns: { state: `'${state}'`, next_at } })
    await fill('scheduled', "service_now() + interval '1 day'")
    t.strictSame(await oldest(), ['–', '–'])
    await fill('queued', 'service_now()')
    const [tile, row] = await oldest()
    t.match(tile, /^60 min|^1\.0 h|^1 h/)
    t.equal(row, tile)
  },
)

t.test('a provider is paused for a reason and resumed, and the log of the installation has the user', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post, accountId } = await owner()
  const { core } = service
  const paused = await post(`${QUEUE}/pause`, { place: 'google', reason: 'they asked for it', for: '6h', account: '' })
  t.equal(paused.status, 303)
  t.equal(paused.headers.get('location'), `${QUEUE}/place?name=google&said=paused`)
  t.match(await (await get(`${QUEUE}/place?name=google`)).text(), 'they asked for it')
  const [override] = (await core.queue.destination('google'))?.overrides ?? []
  t.match(override, { setting: 'pause', rule: 'operator', accountId: null })
  t.ok(Math.abs((override?.left ?? 0) - 6 * 3_600_000) < 60_000)
  t.match(await (await get(QUEUE)).text(), 'they asked for it', 'the queue shows the pause at once')
  t.equal((await post(`${QUEUE}/resume`, { place: 'google' })).status, 303)
  t.equal((await core.queue.destination('google'))?.overrides.length, 0)
  await post(`${QUEUE}/pause`, { place: 'google', reason: 'flood', for: '1h', account: String(accountId) })
  t.match((await core.queue.destination('google'))?.overrides, [{ accountId }])
  t.match(
    (await core.audit.list(0, { after: 0, limit: 100 })).filter(({ action }) => action.startsWith('queue.')),
    [
      { action: 'queue.pause', object: 'place google', userName: 'Ada Lovelace', keyId: null, address: '127.0.0.1' },
      { action: 'queue.resume', object: 'place google', userName: 'Ada Lovelace' },
      { action: 'queue.pause', object: 'place google', userName: 'Ada Lovelace' },
    ],
  )
  const own = (await core.audit.list(accountId, { after: 0, limit: 100 })).filter(
    ({ action }) => action === 'queue.pause',
  )
  t.match(own, [{ userId: null, address: null }], "the account's own log names only the operator")
})

t.test('a pause for the mail of one account is ended on the page that shows it', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post, accountId } = await owner()
  const overrides = async () => (await service.core.queue.destination('google'))?.overrides.map((one) => one.accountId)
  const pause = { place: 'google', reason: 'flood', for: '1h' }
  await post(`${QUEUE}/pause`, { ...pause, account: String(accountId) })
  await post(`${QUEUE}/pause`, { ...pause, account: '' })
  t.strictSame((await overrides())?.sort(), [accountId, null])
  const page = await (await get(`${QUEUE}/place?name=google`)).text()
  const forms = [...page.matchAll(/<form[^>]* action="([^"]+)">(.*?)<\/form>/gs)]
  const [, action = '', fields = ''] =
    forms.find(([, to, inner]) => to?.endsWith('/resume') && inner?.includes('"account"')) ?? []
  const form = Object.fromEntries(
    [...fields.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  t.equal((await post(action, form)).status, 303)
  t.strictSame(await overrides(), [null], 'the pause for all mail stays')
})

t.test('limits of rules are ended only if the form says so', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post, accountId } = await owner()
  await makeBusyQueue(service, accountId)
  await post(`${QUEUE}/resume`, { place: 'yahoo' })
  t.match(await (await get(`${QUEUE}/place?name=yahoo`)).text(), 'yahoo-tss04')
  await post(`${QUEUE}/resume`, { place: 'yahoo', rules: 'on' })
  t.notMatch(await (await get(`${QUEUE}/place?name=yahoo`)).text(), 'yahoo-tss04')
})

t.test('a pause that core refuses changes nothing, and the form says why', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post } = await owner()
  const valid = { place: 'google', reason: 'why', for: '6h', account: '' }
  for (const [wrong, said] of [
    [{ reason: ' ' }, 'Reason: must'],
    [{ for: 'soon' }, 'Duration: must'],
    [{ for: '31d' }, 'must be from 1 second to 30 days'],
    [{ account: '999999' }, 'Account: '],
    [{ account: 'x' }, 'Account: '],
  ] as const) {
    const response = await post(`${QUEUE}/pause`, { ...valid, ...wrong })
    t.equal(response.status, 400, said)
    t.match(await response.text(), said)
  }
  t.equal((await service.core.deliveries.limits.overrides()).length, 0)
  for (const name of ['', 'mx.nowhere.example', 'x'.repeat(301)])
    t.equal((await get(`${QUEUE}/place?name=${name}`)).status, 404, name.slice(0, 20))
})

t.test('to a user who does not operate the installation, its queue is not there', async (t) => {
  const dashboard = await openDashboard(t)
  const { owner, service, url } = dashboard
  const { accountId } = await owner()
  const eve = await member(dashboard, { accountId })
  t.notMatch(await (await eve.get(`/app/${accountId}`)).text(), '/app/operator')
  for (const path of [QUEUE, `${QUEUE}/place?name=google`]) t.equal((await eve.get(path)).status, 404, path)
  t.equal((await eve.post(`${QUEUE}/pause`, { place: 'google', reason: 'x', for: '1h' })).status, 404)
  t.equal((await eve.post(`${QUEUE}/resume`, { place: 'google', rules: 'on' })).status, 404)
  t.equal((await service.core.deliveries.limits.overrides()).length, 0)
  t.equal((await fetch(`${url}${QUEUE}`, { redirect: 'manual' })).status, 303)
})
