import { openDatabase, programBuild } from '@postrider/core'
import t, { type Test } from 'tap'
import { startProcess } from '../helpers/processes.ts'
import { v2Body } from '../helpers/send.ts'
import { makeService, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { type CallOptions, call, refused } from './call.ts'
import { openRaw } from './raw.ts'

const NOT_READY = [503, 503, 'Service temporarily unavailable, try again later'] as const

/** A service with a real API process. */
async function start(t: Test, env: Record<string, string> = {}) {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const api = await startProcess(t, 'api', { ...service.env, RELAYPORT: '25', ...env })
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const get = (path: string, options: CallOptions = {}) => call(base, { method: 'GET', path, ...options })
  const send = () => call(base, { headers: { api_key: sender.apiKey }, body: v2Body(sender) })
  const ready = async () => (await get('/health/ready')).status
  return { service, sender, api, base, get, send, ready }
}

/** Does something to the service's database from outside it, and throws everybody out who is in it. */
async function disturb(service: TestService, change: (database: string) => string): Promise<void> {
  const name = new URL(service.env.DATABASE_URL ?? '').pathname.slice(1)
  const admin = openDatabase({ url: process.env.TEST_DATABASE_URL ?? '', name: 'test', connections: 1 })
  await admin.unsafe(change(name))
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  await admin.end()
}

const working = await start(t)

t.test('a process that works is live and ready, for everybody who asks', async (t) => {
  const { get } = working
  for (const headers of [{}, { api_key: 'nope' }, { accept: 'text/html' }]) {
    const [live, ready] = [await get('/health/live', { headers }), await get('/health/ready', { headers })]
    t.match(live, { status: 200, json: { status: 'live' } })
    t.match(ready, { status: 200, json: { status: 'ready' } })
    const { version, commit, schema } = programBuild()
    for (const { json } of [live, ready]) t.match(json, { version, commit, schema })
    t.strictSame((await get('/health', { headers })).json, live.json)
  }
  for (const path of ['/health/live', '/health/ready/', '/HEALTH/READY', '/health/live?x=1']) {
    t.equal((await get(path)).status, 200, path)
  }
  const head = await get('/health/ready', { method: 'HEAD' })
  t.match(head, { status: 200, text: '' })
})

t.test('a process says at its start which variable looks like a misspelt setting', async (t) => {
  const warnings = working.api.log.filter(({ level }) => level === 40).map(({ msg }) => msg)
  t.strictSame(warnings, ['RELAYPORT is not a setting and has no effect; RELAY_PORT is one'])
})

t.test('other paths and methods of /health are 404', async (t) => {
  const { get } = working
  for (const path of ['/health/dead', '/health/live/x', '/health/live%00']) {
    t.equal((await get(path)).status, 404, path)
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS', 'PROPFIND']) {
    const { status, json } = await get('/health/ready', { method, body: '{}' })
    t.equal(status, 404, method)
    t.match(json, { error_info: { error_code: 404 } })
  }
})

t.test(
  'while the database is gone a process is live but not ready, and takes no mail; it comes back by itself',
  async (t) => {
    const { service, get, send, ready, api } = await start(t)
    t.equal((await send()).status, 200)
    await disturb(service, (name) => `alter database ${name} allow_connections false`)
    await until('503', async () => (await ready()) === 503, 30_000)
    t.match(await get('/health/ready'), { json: { status: 'not ready', reasons: ['the database does not respond'] } })
    t.match(await get('/health/live'), { status: 200, json: { status: 'live' } })
    const answer = await send()
    refused(t, answer, NOT_READY)
    t.equal(answer.headers['retry-after'], '1')

    await disturb(service, (name) => `alter database ${name} allow_connections true`)
    await until('200', async () => (await ready()) === 200, 30_000)
    await until('mail is taken', async () => (await send()).status === 200, 30_000)
    t.equal(await api.stop(), 0)
  },
)

t.test('with synchronous_commit off a process is not ready and takes no mail, and says what to do (P1)', async (t) => {
  const { service, sender, get, send, ready } = await start(t)
  await disturb(service, (name) => `alter database ${name} set synchronous_commit = off`)
  await until('503', async () => (await get('/health/ready')).text.includes('synchronous_commit'))
  t.match(await get('/health/ready'), { status: 503, json: { reasons: [/synchronous_commit = off.*turn it on/] } })
  t.equal((await get('/health/live')).status, 200)
  refused(t, await send(), NOT_READY)
  t.equal((await service.sql`select 1 from messages where account_id = ${sender.accountId}`).length, 0)
  await disturb(service, (name) => `alter database ${name} reset synchronous_commit`)
  await until('200', async () => (await ready()) === 200, 30_000)
  t.equal((await send()).status, 200)
})

t.test('a process that is stopping is not ready, refuses new calls, finishes what it began, and leaves', async (t) => {
  const { service, sender, api, base } = await start(t)
  const json = JSON.stringify(v2Body(sender))
  const head = `POST /v2/sendEmail HTTP/1.1\r\nHost: a\r\napi_key: ${sender.apiKey}\r\nContent-Length: ${json.length}\r\n`
  const [asking, begun, late, idle, spare, half] = await Promise.all([0, 1, 2, 3, 4, 5].map(() => openRaw(t, base)))
  if (!asking || !begun || !late || !idle || !spare || !half) throw new Error('no connections')
  await asking.send('GET /health/ready HTTP/1.1\r\nHost: a\r\n')
  await begun.send(`${head}\r\n${json.slice(0, 20)}`)
  await late.send(head)
  await half.send('GET /health/live HTTP/1.1\r\nHo')
  await idle.send('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
  await until('the idle one’s answer', () => idle.statuses.length === 1)
  api.kill('SIGTERM')
  await until('stopping', () => api.log.some(({ msg }) => msg === 'stopping'))
  await until('the end of the idle connection', () => idle.closed)
  await until('the end of the connection that carried nothing', () => spare.closed)

  await asking.send('\r\n')
  await late.send(`\r\n${json}`)
  await begun.send(json.slice(20))
  t.equal(await api.exited, 0, 'although one never ends its header')
  t.strictSame([asking.statuses, late.statuses, begun.statuses], [[503], [503], [200]])
  t.match(asking.text, '{"status":"not ready","reasons":["the process is stopping"],')
  t.match(late.text, 'Service temporarily unavailable, try again later')
  t.match(late.text, /^retry-after: 1\r$/im)
  for (const { text } of [asking, late, begun]) t.match(text, /^connection: close\r$/im)
  t.equal((await service.sql`select 1 from messages`).length, 1)
  await t.rejects(openRaw(t, base), { code: 'ECONNREFUSED' })
})

t.test('with DRAIN_DELAY a stopping process is not ready, but works, until the delay has passed', async (t) => {
  const { api, get, send, base } = await start(t, { DRAIN_DELAY: '2' })
  const asked = performance.now()
  api.kill('SIGTERM')
  await until('503', async () => (await get('/health/ready')).status === 503)
  t.match(await get('/health/ready'), { json: { status: 'not ready', reasons: ['the process is stopping'] } })
  t.equal((await get('/health/live')).status, 200)
  const { status, headers } = await send()
  t.match({ status, headers }, { status: 200, headers: { connection: 'close' } })
  t.equal(await api.exited, 0)
  t.ok(performance.now() - asked > 2000)
  t.match(
    api.log.find(({ msg }) => msg === 'stopping'),
    { why: 'SIGTERM', drainDelay: 2 },
  )
  await t.rejects(openRaw(t, base), { code: 'ECONNREFUSED' })
})

t.test('a second signal ends the delay', async (t) => {
  const { api, get } = await start(t, { DRAIN_DELAY: '300' })
  api.kill('SIGTERM')
  await until('503', async () => (await get('/health/ready')).status === 503)
  api.kill('SIGTERM')
  t.equal(await api.exited, 0)
})
