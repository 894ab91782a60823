import t from 'tap'
import { makeBusyQueue } from './busy-queue.ts'
import { openDashboard } from './dashboard.ts'

const JOBS = '/app/operator/queue/jobs'
const PLANS = '/app/operator/queue/plans'

t.test('a plan says how many deliveries it would touch, and changes nothing until it is confirmed', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { accountId, get, post } = await owner()
  await makeBusyQueue(service, accountId)
  t.match(await (await get(JOBS)).text(), 'No jobs in the last 30 days')
  const planned = await post(PLANS, { action: 'hold', domain: 'harbor.example' })
  t.equal(planned.status, 200)
  const page = await planned.text()
  t.match(page, 'It would touch 180 deliveries.')
  t.match(page, 'Lumen &lt;b&gt;Letters&lt;/b&gt;')
  t.notMatch(page, 'Lumen <b>')
  const held = () => service.sql`select from delivery_queue where waiting_for = 'hold'`
  t.equal((await held()).count, 0)
  t.same(await service.core.queue.jobs(), [])
  const confirm = /\/app\/operator\/queue\/plans\/\d+\/confirm/.exec(page)?.[0] as string
  const begun = await post(confirm, { action: 'hold' })
  t.equal(begun.status, 303)
  t.match(begun.headers.get('location'), 'said=began')
  const running = await (await get(JOBS)).text()
  t.match(running, '>in progress<')
  t.match(running, '0 of 180')
  while (await service.core.queue.workSome());
  t.equal((await held()).count, 180)
  t.match(await (await get(JOBS)).text(), '180 of 180')
  t.equal((await post(confirm, { action: 'hold' })).status, 409, 'a plan is confirmed once')
})

t.test('a running job is stopped, and ids that no job has are not found', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { accountId, get, post } = await owner()
  await makeBusyQueue(service, accountId)
  const { id } = await service.core.queue.plan('hold', { all: true })
  await service.core.queue.confirm(id, 'hold')
  t.equal((await post(`${JOBS}/${id}/stop`)).status, 303)
  t.equal((await service.core.queue.job(id))?.state, 'stopped')
  t.match(await (await get(JOBS)).text(), '>stopped<')
  for (const other of ['999', '0', 'x', '99999999999']) {
    t.equal((await post(`${JOBS}/${other}/stop`)).status, 404, other)
    t.equal((await post(`${PLANS}/${other}/confirm`, { action: 'hold' })).status, 404, other)
  }
})

t.test('each action has its form, and what is wrong with a choice is said above it', async (t) => {
  const { owner } = await openDashboard(t)
  const { get, post } = await owner()
  for (const action of ['flush', 'fail', 'hold', 'release', 'reroute', 'requeue']) {
    const page = await (await get(`${JOBS}/new?action=${action}`)).text()
    t.match(page, `name="action" value="${action}"`)
  }
  for (const [form, said] of [
    [{ action: 'hold' }, 'must be given if there is no other selector'],
    [{ action: 'hold', all: 'on', domain: 'x.example' }, 'cannot be combined'],
    [{ action: 'hold', account: 'abc' }, 'account'],
    [{ action: 'hold', older: 'long' }, 'older'],
    [{ action: 'reroute', to: 'nowhere', all: 'on' }, 'to'],
    [{ action: 'requeue', since: '900d' }, 'since'],
    [{ action: 'hold', domain: 'x'.repeat(400) }, 'domain'],
  ] as const) {
    const refused = await post(PLANS, form)
    t.equal(refused.status, 400, JSON.stringify(form).slice(0, 80))
    const page = await refused.text()
    t.match(page.slice(page.indexOf('role="alert"')), said)
  }
  const none = await post(PLANS, { action: 'requeue', since: '2h', domain: '<script>alert(1)</script>' })
  t.match(await none.text(), 'No delivery matches.')
})
