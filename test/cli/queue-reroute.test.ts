import t from 'tap'
import { startInternet } from '../delivery/outbox.ts'
import { until } from '../helpers/until.ts'
import { answered, postrider } from './postrider.ts'

const internet = await startInternet(t)
const { service } = internet
const { env } = service
const { sources, queue } = service.core

t.test('reroute sends waiting mail from another pool, and --to none lets the rules choose again', async (t) => {
  await sources.add({ name: 'gone', address: '192.0.2.9', helo: 'gone.example.com' })
  await sources.addPool('spare', {})
  await sources.add({ name: 'spare-1', address: '127.0.0.2', helo: 'spare.example.com', pool: 'spare' })
  await until('the worker to have it', async () =>
    (await sources.read()).sources.some(({ name, workers }) => name === 'spare-1' && workers > 0),
  )
  const host = await internet.host(t)
  const domain = internet.domain([host])
  const ids = await Promise.all(['a', 'b', 'c'].map((name) => internet.send(`${name}@${domain}`)))
  const parked = async () => (await service.sql`select 1 from delivery_queue where place like '%@gone'`).length
  await until('it to wait', async () => (await parked()) === 3)
  const plan = (...args: string[]) => answered<{ id: number; count: number }>(env, 'queue', 'reroute', ...args)
  const finish = async ({ id }: { id: number }) => {
    t.equal((await postrider(env, 'queue', 'reroute', '--confirm', String(id))).code, 0)
    await until('the job', async () => (await queue.job(id))?.state === 'done')
  }
  await service.sql`update delivery_queue set pool_id = 99 where recipient like 'c@%'`
  const all = await plan('--to', 'spare', '--domain', domain)
  t.equal(all.count, 3)
  await finish(all)
  for (const id of ids) await internet.inState(id, 'delivered')
  t.strictSame([...new Set(host.messages.map(({ client }) => client))], ['127.0.0.2'])
  t.match(
    (await postrider(env, 'message', 'show', ids[0] as string)).stdout,
    /attempt 1: delivered .* from spare-1 250/,
  )
  const again = await internet.send(`d@${domain}`)
  await until('it to wait', async () => (await parked()) === 1)
  t.equal((await plan('--to', 'none', '--all')).count, 0, 'it has no pool of its own')
  await finish(await plan('--to', 'spare', '--place', `${host.name}`))
  await internet.inState(again, 'delivered')
})

t.test('a provider is shown and resumed with its destinations of all sources', async (t) => {
  const pause = {
    accountId: null,
    setting: 'pause',
    value: null,
    seconds: null,
    lasts: 7200,
    reason: '421 slow',
  } as const
  await service.core.deliveries.limits.set({ ...pause, place: 'google@spare-1', rule: 'google-slow' })
  t.match((await postrider(env, 'queue', 'show', 'google')).stdout, /of single sources, see also: google@spare-1\n/)
  t.match((await postrider(env, 'queue', 'show', 'google@spare-1')).stdout, /google-slow +pause/)
  t.match(await postrider(env, 'queue', 'show', 'google@nowhere'), { code: 1, stderr: /no provider has this name/ })
  t.match(await answered(env, 'queue', 'resume', 'google', '--rules'), { ended: ['google-slow'] })
  t.equal((await service.core.deliveries.limits.overrides()).length, 0)
  await sources.addSmartHost({ name: 'backup', url: 'smtp://127.0.0.1:9', usedFor: ['spill'] })
  t.match(await postrider(env, 'queue', 'show', 'smarthost:backup'), { code: 0, stdout: /smarthost:backup/ })
})

t.test('reroute names what is wrong', async (t) => {
  t.match(await postrider(env, 'queue', 'reroute', '--all'), { code: 2, stderr: /missing option --to/ })
  t.match(await postrider(env, 'queue', 'reroute', '--to', 'spare'), { code: 2, stderr: /missing selector/ })
  const unknown = await postrider(env, 'queue', 'reroute', '--to', 'nowhere', '--all')
  t.match(unknown, { code: 1, stderr: /--to: "nowhere" does not exist; existing pools: default, spare/ })
  const made = await answered<{ id: number }>(env, 'queue', 'reroute', '--to', 'spare', '--all')
  const again = ['queue', 'reroute', '--to', 'default', '--confirm', String(made.id)] as const
  t.match(await postrider(env, ...again), { code: 2, stderr: /--to cannot be combined with --confirm/ })
  t.match(await postrider(env, 'queue', 'flush', '--to', 'spare', '--all'), { code: 2, stderr: /--to/ })
})
