import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const { env } = service
const folder = t.testdir()

function file(text: string): string {
  const path = join(folder, `${Math.random()}.yaml`)
  writeFileSync(path, text)
  return path
}

t.test('providers are listed with their limits', async (t) => {
  const listed = await answered<{ providers: { name: string; connections?: number }[] }>(env, 'provider', 'list')
  t.ok(listed.providers.some(({ name, connections }) => name === 'google' && connections === 5))
  const { stdout } = await postrider(env, 'provider', 'list')
  t.match(stdout, /^google +5 +50 +\(none\) +required +\d+ +\.google\.com \.googlemail\.com$/m)
})

t.test('a plan shows what a file of providers would change', async (t) => {
  const path = file(`providers:
  - name: google
    mx: [.google.com, .googlemail.com]
    connections: 20
    rate: 50/s
    tls: required
  - { name: partner, mx: [mx.partner.example], connections: 2 }
rules:
  - { id: generic-busy, reply: 'too busy for you', times: 3, pause: 10m }
`)
  const { changes } = await answered<{ changes: { provider: string; limit: string; before: string; after: string }[] }>(
    env,
    'provider',
    'plan',
    path,
  )
  const of = (provider: string, limit: string) =>
    changes.find((one) => one.provider === provider && one.limit === limit)
  t.match(of('google', 'connections'), { before: '5', after: '20' })
  t.match(of('google', 'messagesPerConnection'), { before: '50', after: 'as a site' })
  t.match(of('google', 'rate'), { before: '(none)', after: '50/s' })
  t.match(of('google', 'rule google-unusual-rate'), { after: '(none)' })
  t.match(of('partner', 'mx'), { before: '(none)', after: 'mx.partner.example' })
  t.match(of('(all hosts)', 'rule generic-busy'), { after: '"too busy for you"; 3 in 3600 s: pause for 600 s' })
  t.notOk(changes.some(({ provider }) => provider === 'yahoo'))
  const { stdout } = await postrider(env, 'provider', 'plan', file('providers: []\n'))
  t.match(stdout, 'the file is valid and changes nothing')
})

t.test('a file with a mistake is reported with its line, and a missing one by name', async (t) => {
  const bad = await postrider(env, 'provider', 'plan', file("rules:\n  - { id: a, reply: '.*', pause: 1h }\n"))
  t.match(bad, { code: 78, stderr: /FILE is invalid: .*, line 2: / })
  t.match(await postrider(env, 'provider', 'plan', join(folder, 'absent.yaml')), { code: 78, stderr: /ENOENT/ })
  t.match(await postrider(env, 'provider', 'plan'), { code: 2, stderr: /missing argument: file of providers/ })
})

t.test('a plan shows how long mail that waits for a limit would take', async (t) => {
  const park = (place: string, waitingFor: string, count: number) => service.sql`
    insert into delivery_queue (message_id, recipient_no, account_id, class, state, recipient, recipient_key, recipient_domain,
           kind, next_at, expires_at, place, waiting_for)
    select uuidv7(), 0, 1, 1, 'queued', 'a@d.example', 'a@d.example', 'd.example', 'to', now(), now() + interval '1 day', ${place},
           ${waitingFor}
      from generate_series(1, ${count}::int)`
  const try_ = (place: string, tried: number) => service.sql`
    insert into flow_progress (place, account_id, class, since, tried)
    values (${place}, 1, 1, service_now() - interval '100 seconds', ${tried})`
  await park('google', 'connections', 600)
  await try_('google', 100)
  await park('google@mta-1', 'connections', 60)
  await park('yahoo', 'connections', 50)
  await park('outlook', 'connections', 50)
  await service.core.queue.pause({ place: 'outlook', accountId: null, seconds: 3600, reason: 'night' })
  const path = file(`providers:
  - { name: google, mx: [.google.com, .googlemail.com], connections: 20, rate: 2/s }
  - { name: outlook, mx: [.outlook.com], connections: 50 }
`)
  const { drains } = await answered<{ drains: { place: string; before: number | null; after: number | null }[] }>(
    env,
    'provider',
    'plan',
    path,
  )
  const of = (place: string) => drains.find((one) => one.place === place)
  const { before, after } = of('google') ?? {}
  t.ok((before ?? 0) > 580 && (before ?? 0) < 640, `600 at one a second: ${before}`)
  t.equal(after, 300, 'four times the connections, up to the rate')
  t.match(of('google@mta-1'), { waiting: { count: 60 }, before: null, after: null }, 'nothing was tried there')
  t.match(of('outlook'), { before: null, after: null }, 'paused')
  t.notOk(of('yahoo'), 'its limits stay')
  const faster = file('providers:\n  - { name: google, mx: [.google.com], connections: 10 }\n')
  const { drains: unlimited } = await answered<{ drains: typeof drains }>(env, 'provider', 'plan', faster)
  const half = unlimited.find((one) => one.place === 'google')?.after ?? 0
  t.ok(half > 290 && half < 320, `twice the connections: ${half}`)
  const { stdout } = await postrider(env, 'provider', 'plan', path)
  t.match(stdout, /^google +600 +\d+m +5m$/m)
  t.match(stdout, /^google@mta-1 +60 +unknown +unknown$/m)
})

t.test('a file is checked without a database, and none is made', async (t) => {
  const dataDir = t.testdir()
  const { DATABASE_URL: _, ...rest } = env
  const path = file('providers:\n  - { name: partner, mx: [mx.partner.example], connections: 2 }\n')
  const checked = await postrider({ ...rest, DATA_DIR: dataDir }, 'provider', 'plan', path)
  t.match(checked, { code: 0, stdout: /No database can be used/ })
  t.strictSame(readdirSync(dataDir), [])
})
