import { createLog, createSecrets } from '@postrider/core'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { systemClock } from '../../../packages/core/src/platform/clock.ts'
import { databaseClock } from '../../../packages/core/src/platform/database/database-clock.ts'
import { defineClock } from '../../../packages/core/src/platform/database/moved-clock.ts'
import { watchReadiness } from '../../../packages/core/src/platform/process/readiness.ts'
import { answered, postrider } from '../../cli/postrider.ts'
import { firstUser, newClient, PASSWORD, sessionOf, tokenOf } from '../../core/people/people.ts'
import { startProcess } from '../../helpers/processes.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { until } from '../../helpers/until.ts'
import { openWorker } from '../../helpers/worker.ts'
import { makeOperator } from './operator.ts'

const HOUR = 3_600_000

t.test(
  'when the clock of a sandbox is advanced, scheduled mail is sent and later mail is dated accordingly',
  async (t) => {
    const { call, service, sender, url, keyId } = await makeOperator(t)
    const { core } = service
    await startProcess(t, 'sandbox', service.env)
    await openWorker(t, service)
    const send = async (extra: Record<string, unknown> = {}) =>
      (await sendV2(url, sender.apiKey, v2Body(sender, extra))).body.data?.message_id as string
    const stateOf = async (id: string) => (await core.messages.show(id))?.deliveries[0]?.state
    t.match((await call('/clock')).body, { ahead: 0, speed: 1 })

    const scheduled = await send({ schedule: new Date(Date.now() + 3 * HOUR).toISOString() })
    const before = Date.now()
    const moved = await call('/clock', { body: { advance: '4h' } })
    t.match(moved, { status: 200, body: { ahead: 4 * 3600, speed: 1 } })
    t.ok(Date.parse(moved.body.now) >= before + 4 * HOUR)
    t.ok(core.clock.now() >= before + 4 * HOUR, 'this process has the time when it is answered')
    t.ok(Math.abs(core.clock.worldNow() - Date.now()) < HOUR)
    await until('delivery', async () => (await stateOf(scheduled)) === 'delivered')

    const { acceptedAt } = (await core.messages.show(await send())) ?? {}
    t.ok(Number(acceptedAt) >= before + 4 * HOUR, 'a message that is accepted now is dated by the clock')

    await call('/clock', { body: { advance: '400d' } })
    const much = await send()
    await until('delivery', async () => (await stateOf(much)) === 'delivered')
    t.match(
      (await core.audit.list(0, { after: 0, limit: 100 })).filter(({ action }) => action === 'clock.move'),
      [{ object: 'clock', keyId, before: { speed: 1 }, after: { speed: 1 } }, { keyId }],
    )
  },
)

t.test('a clock can go faster, and goes back only if nothing has happened in between', async (t) => {
  const { call, service, sender, url } = await makeOperator(t)
  t.match((await call('/clock', { body: { speed: 1000 } })).body, { speed: 1000 })
  await until('some hours', async () => (await call('/clock')).body.ahead > 3 * 3600)
  t.match((await call('/clock', { body: { to: 'real' } })).body, { ahead: 0, speed: 1 })
  t.match((await call('/clock', { body: { advance: '1d' } })).body, { ahead: 86_400, speed: 1 })
  t.match((await call('/clock', { body: { to: 'real' } })).body, { ahead: 0 })

  const { body: later } = await call('/clock', { body: { to: new Date(Date.now() + 2 * HOUR).toISOString() } })
  t.ok(Math.abs(later.ahead - 2 * 3600) < 60)
  t.equal((await sendV2(url, sender.apiKey, v2Body(sender))).status, 200)
  for (const to of ['real', new Date().toISOString()])
    t.match(await call('/clock', { body: { to } }), {
      status: 400,
      body: { error: { message: /to.*must not be before .*, when the newest message or event was/ } },
    })
  t.ok((await service.core.serviceTime.show()).ahead > 3600, 'it was not changed')
})

t.test('what cannot be a time is refused by name, and changes nothing', async (t) => {
  const { call, service } = await makeOperator(t)
  const wrong: [object, RegExp][] = [
    [{}, /advance.*exactly one of advance, to and speed/],
    [{ advance: '4 hours' }, /advance.*2h/],
    [{ advance: '9999999d' }, /advance.*within 20 years/],
    [{ advance: '1h', to: 'real' }, /to.*exactly one/],
    [{ to: 'tomorrow' }, /to.*ISO 8601/],
    [{ to: '2999-01-01T00:00:00Z' }, /to.*within 20 years/],
    [{ to: '0000-01-01' }, /to.*within 20 years/],
    [{ to: '1969-12-31T23:59:59Z' }, /to.*within 20 years/],
    [{ speed: 0 }, /speed.*1 to 1000/],
    [{ speed: 1001 }, /speed.*1 to 1000/],
    [{ speed: '60' }, /speed/],
    [{ advnace: '1h' }, /advnace/],
  ]
  for (const [body, message] of wrong)
    t.match(await call('/clock', { body }), { status: 400, body: { error: { message } } }, JSON.stringify(body))
  t.match(await service.core.serviceTime.show(), { ahead: 0, speed: 1 })
})

t.test('the clock waits for no long reader of the tables of mail, so that mail is accepted meanwhile', async (t) => {
  const { call, service, sender, url } = await makeOperator(t)
  const reader = await service.sql.reserve()
  await reader`begin`
  await reader`select count(*) from messages`
  t.match(await call('/clock', { body: { advance: '200d' } }), { status: 503, body: { error: { code: 'notReady' } } })
  t.match(await service.core.serviceTime.show(), { ahead: 0 })
  t.equal((await sendV2(url, sender.apiKey, v2Body(sender))).status, 200)
  await reader`commit`
  reader.release()
  t.match(await call('/clock', { body: { advance: '200d' } }), { status: 200 })
})

t.test('a clock that is more than 20 years ahead is not advanced, but can be slowed down', async (t) => {
  const { call, service } = await makeOperator(t)
  await service.sql.begin((sql) => {
    const from = Date.now()
    return defineClock(sql, { from, at: from + 21 * 366 * 24 * HOUR, speed: 1000 })
  })
  t.match(await call('/clock', { body: { advance: '1h' } }), { status: 400 })
  t.match(await call('/clock', { body: { speed: 1 } }), { status: 200, body: { speed: 1 } })
})

t.test('where mail leaves, the clock stays, and a database whose clock was moved is not used', async (t) => {
  const { call, service } = await makeOperator(t, { DELIVERY: 'mx', RESOLVERS: '127.0.0.1:9' })
  t.match(await call('/clock', { body: { advance: '4h' } }), {
    status: 400,
    body: { error: { message: /delivery.*sandbox/ } },
  })
  t.match(await service.core.readiness.check(), { ready: true })
  const { code } = await postrider({ ...service.env, DELIVERY: 'sandbox' }, 'clock', 'advance', '4h')
  t.equal(code, 0)
  t.match(await service.core.readiness.check(), { ready: false, reasons: [/the clock of this database was moved/] })
  t.equal((await postrider({ ...service.env, DELIVERY: 'sandbox' }, 'clock', 'set', 'real')).code, 0)
  t.match(await service.core.readiness.check(), { ready: true })

  await openWorker(t, service)
  t.match(await postrider({ ...service.env, DELIVERY: 'sandbox' }, 'clock', 'advance', '4h'), {
    code: 1,
    stderr: /mail has left from this database, so its clock is not moved/,
  })
  t.match(await service.core.serviceTime.show(), { ahead: 0 })
})

t.test('the commands say the same', async (t) => {
  const { call, service } = await makeOperator(t)
  const { env } = service
  t.match(await postrider(env, 'clock'), { code: 0, stdout: /^\d{4}-\S+Z \(as in the world\)\n$/ })
  t.match(await postrider(env, 'clock', 'advance', '4h'), { code: 0, stdout: /Z \(4 h ahead of the world\)\n$/ })
  t.match(await postrider(env, 'clock', 'run', '60'), { code: 0, stdout: /60 times as fast\)\n$/ })
  t.match(await postrider(env, 'clock', 'run', 'fast'), { code: 2, stderr: /whole number from 1 to 1000/ })
  t.match(await postrider(env, 'clock', 'set', 'then'), { code: 1, stderr: /ISO 8601/ })
  t.match(await postrider(env, 'clock', 'set', 'real'), { code: 0 })
  t.match(await answered(env, 'clock'), { ahead: 0, speed: 1 })
  t.match((await call('/clock')).body, { ahead: 0, speed: 1 })
})

t.test('one-time codes are those of the world, and so are warnings of a wrong clock', async (t) => {
  const { call, service } = await makeOperator(t)
  const { core } = service
  const owner = await firstUser(service)
  await call('/clock', { body: { advance: '4h' } })
  const token = tokenOf(await core.people.logIn({ email: owner.email, password: PASSWORD, ...newClient() }))
  const session = await sessionOf(core, token)
  const { secret } = await core.people.totp.begin(session)
  const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  await t.resolves(core.people.totp.confirm(session, code(), '192.0.2.1'))

  const lines: string[] = []
  const clock = databaseClock(systemClock)
  const watch = watchReadiness({
    sql: service.sql,
    log: createLog('test', 'warn', { write: (line) => void lines.push(line) }),
    secrets: createSecrets(service.env.SECRET_KEY as string),
    clock,
    allowUnsafeDatabase: true,
    mayMoveClock: true,
    every: HOUR,
  })
  t.teardown(() => watch.close())
  t.match(await watch.check(), { ready: true })
  t.strictSame(lines, [])
  t.ok(clock.ahead() > 3 * HOUR)
})
