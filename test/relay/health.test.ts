import { once } from 'node:events'
import { connect } from 'node:net'
import { programBuild } from '@postrider/core'
import t from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

t.test('relay, returns and delivery processes answer health checks on HEALTH_PORT', async (t) => {
  const service = await makeService(t)
  for (const name of ['relay', 'returns', 'delivery'] as const) {
    const [port] = await freePorts(1)
    const process = await startProcess(t, name, { ...service.env, HEALTH_PORT: String(port) })
    const get = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method })
    await until('ready', async () => (await get('/health/ready')).status === 200)
    t.strictSame(await (await get('/health/ready?x=1')).json(), { status: 'ready', ...programBuild() })
    t.strictSame(await (await get('/health/live')).json(), { status: 'live', ...programBuild() })
    for (const path of ['/', '/health/ready/x', '//health/live']) t.equal((await get(path)).status, 404, path)
    t.equal((await get('/health/ready', 'POST')).status, 404)
    if (name === 'relay') {
      await service.sql`alter table schema_migrations rename to schema_migrations_away`
      // On a busy machine the database may have been slow before.
      const unready = await until(
        'not ready, as the database is empty',
        async () => {
          const answer = await get('/health/ready')
          const body = (await answer.json()) as { status: string; reasons?: string[] }
          return answer.status === 503 && body.reasons?.some((one) => one.includes('the database is empty')) && body
        },
        15_000,
      )
      t.match(unready, { status: 'not ready' })
      t.equal((await get('/health/live')).status, 200)
      await service.sql`alter table schema_migrations_away rename to schema_migrations`
    }
    t.equal(await process.stop(), 0, name)
  }
})

t.test('a process that waits for migrations says so to health checks and in its metrics', async (t) => {
  const service = await makeService(t)
  const [port, metricsPort] = await freePorts(2)
  const [last] = await service.sql`
    delete from schema_migrations where name like '0016%' returning *`
  const env = { ...service.env, HEALTH_PORT: String(port), METRICS_PORT: String(metricsPort), MIGRATE: 'manual' }
  const starting = startProcess(t, 'relay', env)
  const ready = () => fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
  await until('a reason', async () => /migrations not applied/.test((await (await ready())?.text()) ?? ''))
  t.equal((await ready())?.status, 503)
  t.equal((await fetch(`http://127.0.0.1:${port}/health/live`)).status, 200)
  t.match(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(), /^postrider_ready 0$/m)
  await service.sql`insert into schema_migrations ${service.sql(last as object)}`
  const process = await starting
  t.equal((await ready())?.status, 200)
  t.equal(await process.stop(), 0)
})

t.test('a process whose HEALTH_PORT is in use does not start', async (t) => {
  const service = await makeService(t)
  const env = { ...service.env, HEALTH_PORT: service.env.RELAY_PORT as string }
  await service.openRelay()
  await t.rejects(startProcess(t, 'delivery', env), /EADDRINUSE|in use/)
})

t.test(
  'with DRAIN_DELAY a stopping relay is not ready, but greets clients; a worker stops without delay',
  async (t) => {
    const service = await makeService(t)
    const [port] = await freePorts(1)
    const env = { ...service.env, HEALTH_PORT: String(port), DRAIN_DELAY: '300' }
    const worker = await startProcess(t, 'delivery', env)
    t.equal(await worker.stop(), 0)
    const relay = await startProcess(t, 'relay', env)
    const ready = () => fetch(`http://127.0.0.1:${port}/health/ready`)
    await until('ready', async () => (await ready()).status === 200)
    relay.kill('SIGTERM')
    await until('not ready', async () => (await ready()).status === 503)
    t.strictSame(await (await ready()).json(), {
      status: 'not ready',
      reasons: ['the process is stopping'],
      ...programBuild(),
    })
    const client = connect(service.config.relayPort, '127.0.0.1')
    const [greeting] = await once(client, 'data')
    t.match(String(greeting), /^220 /)
    client.destroy()
    relay.kill('SIGINT')
    t.equal(await relay.exited, 0)
  },
)
