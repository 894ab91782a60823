import t from 'tap'
import { answered } from '../../cli/postrider.ts'
import { makeOperator } from './operator.ts'

t.test('the queue, a destination, overrides and providers are what the commands print', async (t) => {
  const { call, fill, service } = await makeOperator(t)
  await fill(300, { place: "case when n % 3 = 0 then 'google' end", class: 'n % 3' })
  const { env } = service
  const same = async (path: string, ...command: string[]) => {
    const { status, body } = await call(path)
    t.equal(status, 200, path)
    t.strictSame(body, await answered(env, ...command), path)
    return body
  }
  t.match(await same('/queues', 'queue'), { by: 'provider', groups: [{ name: null }, { name: 'google' }] })
  for (const by of ['account', 'class', 'domain'])
    await same(`/queues?by=${by}&limit=7`, 'queue', '--by', by, '--limit', '7')
  t.match(await same('/queues/google', 'queue', 'show', 'google'), { place: 'google', isProvider: true })
  t.match(await same('/providers', 'provider', 'list'), { providers: [{ name: 'google' }] })
  t.strictSame((await call('/overrides')).body, { overrides: [] })
  t.match(await call('/queues/mx.nowhere.example'), { status: 404, body: { error: { code: 'placeUnknown' } } })
})

t.test('a destination is paused and resumed, for all or for an account, and the log has the key', async (t) => {
  const { call, service, sender, keyId } = await makeOperator(t)
  const { core } = service
  const account = sender.accountId
  const paused = await call('/queues/google/pause', { body: { reason: 'blocked since 3', for: '2h' } })
  t.match(paused, { status: 200, body: { place: 'google', accountId: null, known: true, until: /^\d{4}-/ } })
  t.ok(Math.abs(Date.parse(paused.body.until) - Date.now() - 7_200_000) < 60_000)
  const ofAccount = await call('/queues/mx.nowhere.example/pause', { body: { reason: 'flood', account } })
  t.match(ofAccount.body, { place: 'mx.nowhere.example', accountId: account, known: false })
  t.match((await call('/overrides')).body.overrides, { length: 2 })
  t.match((await call('/queues/google')).body.overrides, [
    { setting: 'pause', rule: 'operator', reason: 'blocked since 3' },
  ])
  t.match(await call('/queues/google/resume', { body: {} }), {
    status: 200,
    body: { place: 'google', accountId: null, ended: ['operator'] },
  })
  t.match(await call('/queues/google/resume', { body: { rules: true } }), {
    status: 409,
    body: { error: { code: 'notPaused' } },
  })
  t.match(await call('/queues/mx.nowhere.example/resume', { body: { account } }), { status: 200 })

  const by = { keyId, address: '127.0.0.1' }
  t.match(await core.audit.list(0, { after: 0, limit: 100 }), [
    { action: 'operator-key.create', keyId: null },
    { action: 'queue.pause', object: 'place google', ...by, after: { reason: 'blocked since 3' } },
    { action: 'queue.pause', object: 'place mx.nowhere.example', ...by },
    { action: 'queue.resume', object: 'place google', ...by },
    { action: 'queue.resume', object: 'place mx.nowhere.example', ...by },
  ])
  t.match(
    (await core.audit.list(account, { after: 0, limit: 100 })).filter(({ action }) => action.startsWith('queue.')),
    [
      { action: 'queue.pause', keyId: null, address: null },
      { action: 'queue.resume', keyId: null, address: null },
    ],
    "the account's own log does not name the key",
  )
})

t.test('a pause that replaces another one says which, and so does the log', async (t) => {
  const { call, service, sender } = await makeOperator(t)
  const account = sender.accountId
  const pause = (body: object) => call('/queues/google/pause', { body })
  const first = await pause({ reason: 'blocked since 3', for: '2h' })
  t.equal(first.body.replaced, null)
  t.match(await pause({ reason: 'flood', account }), { status: 200, body: { replaced: null } }, 'another subject')
  const second = await pause({ reason: 'maintenance', for: '10m' })
  const { until } = first.body
  t.match(second, { status: 200, body: { replaced: { reason: 'blocked since 3', since: /^\d{4}-/, until } } })
  const changes = await service.core.audit.list(0, { after: 0, limit: 100 })
  t.match(changes.at(-1), { action: 'queue.pause', before: { reason: 'blocked since 3', until } })
  await service.sql`update limit_overrides set until = service_now() - interval '1 second'`
  t.match((await pause({ reason: 'again' })).body, { replaced: null }, 'one that has ended is not replaced')
})
