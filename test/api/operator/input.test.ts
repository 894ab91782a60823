import { OPERATOR_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeOperator } from './operator.ts'

t.test('a wrong parameter is named, and changes nothing', async (t) => {
  const { call, service } = await makeOperator(t)
  const state = () => service.sql`
    select (select count(*)::int from queue_jobs) as jobs, (select count(*)::int from limit_overrides) as overrides,
           (select count(*)::int from audit_log) as entries,
           (select count(*)::int from account_holds) as holds, (select count(*)::int from account_reputation) as rules`
  const before = await state()
  const pause = { reason: 'x' }
  for (const [path, body, parameter, problem] of [
    ['/queues?by=host', undefined, 'by', /must be one of provider, account, class, domain/],
    ['/queues?by=class&by=class', undefined, 'by', /must be given only once/],
    ['/queues?limit=0', undefined, 'limit', /must be at least 1/],
    ['/queues?limit=1001', undefined, 'limit', /must be at most 1000/],
    ['/queues?limit=ten', undefined, 'limit', /must be an integer/],
    ['/queues?limit=', undefined, 'limit', /must be an integer/],
    ['/queues?color=red', undefined, 'color', /is unknown/],
    ['/queues?__proto__=1', undefined, '__proto__', /is unknown/],
    ['/queues?constructor=1', undefined, 'constructor', /is unknown/],
    ['/jobs?after=1', undefined, 'after', /is unknown/],
    ['/jobs/one', undefined, 'id', /must be an integer/],
    ['/jobs/0', undefined, 'id', /must be at least 1/],
    ['/jobs/99999999999999999999', undefined, 'id', /must be an integer/],
    [`/queues/${'a'.repeat(301)}`, undefined, 'place', /must have at most 300 characters/],
    ['/queues/a%00b', undefined, 'place', /must not contain NUL/],
    ['/queues/google/pause', {}, 'reason', /not passed/],
    ['/queues/google/pause', { reason: ' ' }, 'reason', /must have 1 to 1000 characters/],
    ['/queues/google/pause', { reason: 'a'.repeat(1001) }, 'reason', /must have at most 1000 characters/],
    ['/queues/google/pause', { reason: 5 }, 'reason', /must be a string/],
    ['/queues/google/pause', { reason: 'a\0b' }, 'reason', /must not contain NUL/],
    ['/queues/google/pause', { ...pause, for: 'long' }, 'for', /must be a number followed by s, m, h or d/],
    ['/queues/google/pause', { ...pause, for: '31d' }, 'for', /must be from 1 second to 30 days/],
    ['/queues/google/pause', { ...pause, account: '5' }, 'account', /must be an integer/],
    ['/queues/google/pause', { ...pause, account: 999 }, 'account', /account 999 not found/],
    ['/queues/google/pause', { ...pause, account: 2 ** 31 }, 'account', /must be at most 2147483647/],
    ['/queues/google/pause', { ...pause, seconds: 5 }, 'seconds', /is unknown/],
    ['/queues/google/pause?for=2h', pause, 'for', /must be in the body/],
    ['/queues/google/resume', { rules: 'yes' }, 'rules', /must be true or false/],
    ['/accounts/999/standing', undefined, 'account', /account 999 not found/],
    ['/accounts/1/rules', { rules: 'lax' }, 'rules', /must be none, standard, strict or default/],
    ['/accounts/1/hold', { reason: 'x', class: 'fast' }, 'class', /must be one of urgent, normal, bulk/],
    ['/accounts/1/hold', { reason: ' ' }, 'reason', /must have 1 to 1000 characters/],
    ['/accounts/999/release', {}, 'account', /account 999 not found/],
    ['/plans', {}, 'action', /not passed/],
    [
      '/plans',
      { action: 'delete', all: true },
      'action',
      /must be one of flush, fail, hold, release, reroute, requeue/,
    ],
    ['/plans', { action: 'fail' }, 'all', /must be given if there is no other selector/],
    ['/plans', { action: 'fail', all: true, tag: 'x' }, 'all', /cannot be combined/],
    ['/plans', { action: 'fail', all: 'true' }, 'all', /must be true or false/],
    ['/plans', { action: 'fail', class: 'fast' }, 'class', /must be urgent, normal or bulk/],
    ['/plans', { action: 'fail', older: '2 hours' }, 'older', /must be a number followed by/],
    ['/plans', { action: 'fail', place: '' }, 'place', /must have 1 to 300 characters/],
    ['/plans', { action: 'fail', account: 999 }, 'account', /account 999 not found/],
    ['/plans', { action: 'fail', domain: 'a'.repeat(301) }, 'domain', /300 characters/],
    ['/plans', { action: 'fail', since: '2h' }, 'since', /is not a selector of fail/],
    ['/plans', { action: 'requeue', since: '31d' }, 'since', /must not be more than 30 days ago/],
    ['/plans/1/confirm', {}, 'action', /not passed/],
    ['/plans/x/confirm', { action: 'fail' }, 'id', /must be an integer/],
    ['/jobs/1/stop', { force: true }, 'force', /is unknown/],
  ] as const) {
    const answer = await call(path, { body })
    t.match(
      answer,
      { status: 400, body: { error: { code: /^parameter/, message: problem, parameter } } },
      `${path} ${JSON.stringify(body)}`.slice(0, 100),
    )
  }
  t.strictSame(await state(), before)
})

t.test('a body that is not an object of JSON is refused', async (t) => {
  const { call } = await makeOperator(t)
  const post = (body: string, headers = {}) => call('/plans', { body, headers })
  const bad = { status: 400, body: { error: { code: 'jsonInvalid' } } }
  for (const body of [
    '{',
    '[]',
    '"x"',
    '1',
    '{"action":"fail","action":"hold"}',
    '{"__proto__":{}}',
    '\ufeff{}',
    '['.repeat(5000),
  ]) {
    t.match(await post(body), bad, body.slice(0, 40))
  }
  t.match((await post('{"action":"fail","action":"hold"}')).body.error.message, /the key "action" is duplicated/)
  t.match(await post('{}', { 'content-type': 'text/plain' }), bad)
  t.match(await post('action=fail', { 'content-type': 'application/x-www-form-urlencoded' }), bad)
  t.match(await post('{}', { 'content-encoding': 'gzip' }), bad)
  t.match(await post(`{"tag":"${'a'.repeat(70_000)}"}`), {
    status: 413,
    body: { error: { code: 'tooLarge', message: /64 kB/ } },
  })
  t.match(await post('null'), { status: 400, body: { error: { code: 'parameterMissing', parameter: 'action' } } })
})

t.test('every operation refuses a parameter that it does not know', async (t) => {
  const { call } = await makeOperator(t)
  for (const { name, method, path } of OPERATOR_OPERATIONS) {
    const at = path.replace(':place', 'google').replace(':id', '1').replace(':account', '1')
    const answer = method === 'GET' ? await call(`${at}?strange=1`) : await call(at, { body: { strange: 1 } })
    t.match(answer, { status: 400, body: { error: { code: 'parameterInvalid', parameter: 'strange' } } }, name)
  }
})
