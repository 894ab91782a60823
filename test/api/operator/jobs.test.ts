import t from 'tap'
import { answered, postrider } from '../../cli/postrider.ts'
import { makeOperator } from './operator.ts'

t.test('a plan made over HTTP is confirmed over HTTP, and its job ends', async (t) => {
  const { call, fill, finish, service, sender, keyId } = await makeOperator(t)
  await fill(1500, { place: "case when n % 3 = 0 then 'google' end" })
  const plan = await call('/plans', { body: { action: 'fail', place: 'google' } })
  t.match(plan, {
    status: 200,
    body: {
      action: 'fail',
      count: 500,
      partial: false,
      byPlace: [{ place: 'google', count: 500 }],
      sample: { length: 5 },
    },
  })
  t.match((await call('/jobs')).body, [])
  const { id } = plan.body
  t.match(await call(`/plans/${id}/confirm`, { body: { action: 'hold' } }), {
    status: 404,
    body: { error: { code: 'planUnknown' } },
  })
  t.match(await call(`/plans/${id}/confirm`, { body: { action: 'fail' } }), {
    status: 200,
    body: { id, state: 'running', planned: 500 },
  })
  t.match(await call(`/plans/${id}/confirm`, { body: { action: 'fail' } }), {
    status: 409,
    body: { error: { code: 'planConfirmed', message: /already confirmed/ } },
  })
  await finish()
  t.match(await call(`/jobs/${id}`), { status: 200, body: { id, state: 'done', done: 500 } })
  t.strictSame((await call('/jobs')).body, await answered(service.env, 'queue', 'jobs'))
  const log = await service.core.audit.list(0, { after: 1, limit: 10 })
  t.match(log, [{ action: 'queue.fail', object: `queue job ${id}`, keyId, address: '127.0.0.1' }])
  const own = await service.core.audit.list(sender.accountId, { after: 0, limit: 100 })
  t.match(own.at(-1), { action: 'queue.fail', keyId: null, after: { deliveries: 500 } })
})

t.test('a plan made over HTTP is confirmed by the command, and the other way round', async (t) => {
  const { call, fill, service } = await makeOperator(t)
  await fill(10)
  const { env } = service
  const made = (await call('/plans', { body: { action: 'hold', all: true } })).body
  t.match(await postrider(env, 'queue', 'hold', '--confirm', String(made.id)), {
    code: 0,
    stdout: /hold 10 deliveries/,
  })
  const plan = await answered<{ id: number }>(env, 'queue', 'hold', '--domain', 'd3.example')
  t.match(await call(`/plans/${plan.id}/confirm`, { body: { action: 'hold' } }), { status: 200, body: { planned: 1 } })
  t.match((await call('/jobs')).body, [{ id: plan.id }, { id: made.id }])
})

t.test('a running job is stopped, once', async (t) => {
  const { call, fill, finish, service, keyId } = await makeOperator(t)
  await fill(3000)
  const { id } = (await call('/plans', { body: { action: 'hold', all: true } })).body
  await call(`/plans/${id}/confirm`, { body: { action: 'hold' } })
  await service.core.queue.workSome()
  t.match(await call(`/jobs/${id}/stop`, { body: {} }), { status: 200, body: { id, state: 'stopped', done: 1000 } })
  t.match(await call(`/jobs/${id}/stop`, { body: {} }), { status: 409, body: { error: { code: 'jobNotRunning' } } })
  await finish()
  t.match((await call(`/jobs/${id}`)).body, { state: 'stopped', done: 1000 })
  t.match(await call('/jobs/999'), { status: 404, body: { error: { code: 'jobUnknown' } } })
  const log = await service.core.audit.list(0, { after: 2, limit: 10 })
  t.match(log, [{ action: 'queue.stop', object: `queue job ${id}`, keyId, after: { done: 1000 } }])
})

t.test('an expired plan, an empty one and one whose deliveries have moved are refused', async (t) => {
  const { call, fill, service } = await makeOperator(t)
  const { sql } = service
  await fill(100)
  const plan = async (body: object) => (await call('/plans', { body: { action: 'fail', ...body } })).body
  const confirm = (id: number) => call(`/plans/${id}/confirm`, { body: { action: 'fail' } })
  const [old, moved, empty] = [await plan({ all: true }), await plan({ all: true }), await plan({ tag: 'none' })]
  await sql`update queue_jobs set created_at = created_at - interval '11 minutes' where id = ${old.id}`
  await sql`delete from delivery_queue where recipient_no > 50`
  t.match(await confirm(old.id), { status: 409, body: { error: { code: 'planExpired' } } })
  t.match(await confirm(moved.id), {
    status: 409,
    body: { error: { code: 'planMoved', message: /100 deliveries, now there are 50/ } },
  })
  t.match(await confirm(empty.id), { status: 409, body: { error: { code: 'planEmpty' } } })
})

t.test('requeue has its own selectors', async (t) => {
  const { call } = await makeOperator(t)
  const plan = (body: object) => call('/plans', { body: { action: 'requeue', ...body } })
  t.match(await plan({ since: '2h', bounceClass: 'policy', state: 'bounced', place: 'google' }), {
    status: 200,
    body: { count: 0, leftOut: {} },
  })
  t.match(await plan({}), { status: 400, body: { error: { code: 'parameterMissing', parameter: 'since' } } })
  t.match(await plan({ since: '2h', older: '2h' }), {
    status: 400,
    body: { error: { parameter: 'older', message: /is not a selector of requeue/ } },
  })
})
