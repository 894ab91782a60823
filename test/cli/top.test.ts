import { spawn, spawnSync } from 'node:child_process'
import { openDatabase } from '@postrider/core'
import t from 'tap'
import { fillQueue } from '../core/delivery/filled-queue.ts'
import { makeQueue } from '../core/delivery/queue-of.ts'
import { parkedAt } from '../helpers/claim.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'
import { planOf, recordStatements, wholeScans } from '../helpers/statements.ts'
import { until } from '../helpers/until.ts'
import { answered, postrider } from './postrider.ts'

interface Picture {
  readonly rates: Readonly<Record<'seconds' | 'accepted' | 'delivered' | 'deferred' | 'bounced', number>>
  readonly destinations: readonly {
    readonly name: string | null
    readonly due: { readonly count: number }
    readonly parked: Readonly<Record<string, { readonly count: number; readonly more: boolean }>>
    readonly inFlight: number
    readonly oldest: string
    readonly limits: { readonly isPaused: boolean } | null
  }[]
  readonly partial: boolean
  readonly workers: readonly {
    readonly id: number
    readonly host: string
    readonly alive: boolean
    readonly inFlight: number
  }[]
}

t.test('top shows rates, the largest destinations with why mail waits, and workers', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  const { env } = service
  t.match(
    (await postrider(env, 'top', '--once')).stdout,
    /^\d\d:\d\d:\d\d UTC {2}accepted 0\/s .*\n\nthe queue is empty\n\nno delivery worker is running\n$/,
  )

  await accept(['a@harbor.example', 'b@harbor.example', 'c@pier.example', 'd@quay.example', 'e@quay.example'])
  const workerId = await register()
  const claimed = await claimAll(workerId)
  const of = (no: number) => claimed.filter(({ recipientNo }) => recipientNo === no)
  for (const no of [0, 1])
    await core.deliveries.park(workerId, parkedAt(of(no), { place: 'google', waitingFor: 'pause' }))
  await core.deliveries.park(workerId, parkedAt(of(2), { place: 'yahoo', waitingFor: 'rate' }))
  await core.deliveries.release(workerId, of(3), 0)
  const base = { accountId: null, value: null, seconds: null, reason: '421 slow down', lasts: 600 }
  await core.deliveries.limits.set({ ...base, place: 'google', setting: 'pause', rule: 'google-rate' })
  await numberEvents(service)

  const picture = await answered<Picture>(env, 'top')
  t.match(picture, {
    partial: false,
    destinations: [
      { name: 'google', parked: { pause: { count: 2, more: false } }, limits: { isPaused: true }, oldest: String },
    ],
    workers: [{ id: workerId, alive: true, inFlight: 1, host: String }],
  })
  t.equal(picture.destinations.length, 3)
  t.match(
    picture.destinations.find(({ name }) => name === 'yahoo'),
    { parked: { rate: { count: 1 } } },
  )
  t.match(
    picture.destinations.find(({ name }) => name === null),
    { due: { count: 1 }, inFlight: 1 },
  )
  t.ok(picture.rates.accepted > 0)
  const { stdout } = await postrider(env, 'top')
  t.match(stdout, /^google +\S+ +0 +0 +0 +0 +2 pause$/m)
  t.match(stdout, /^\(not assigned\) +\S+ +1 +0 +1 +0$/m)
  t.match(stdout, new RegExp(`^${workerId} +\\S+ +\\d+ +1 +0 +alive$`, 'm'))
})

t.test('top names the destinations whose latest attempts took longest, and reads the latest alone', async (t) => {
  const { service } = await makeQueue(t)
  const { sql, env } = service
  await sql`
    insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, place)
    select overlay(uuidv7_floor(service_now())::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, 0, 1, 1, 1, 'delivered', service_now(),
           case when n <= 1000 then 90000 when n % 4 = 0 then 20000 when n % 4 = 1 then 1500 else 30 end,
           (array['tortoise.example', 'snail.example', 'hare.example', null])[1 + n % 4]
      from generate_series(1, 1500) n`
  const recorder = await recordStatements(t, env.DATABASE_URL as string)
  const { slowest } = await answered<{ slowest: unknown }>({ ...env, DATABASE_URL: recorder.url }, 'top')
  t.strictSame(slowest, [
    { place: 'tortoise.example', attempts: 125, mean: 20_000, longest: 20_000 },
    { place: 'snail.example', attempts: 125, mean: 1500, longest: 1500 },
  ])
  t.match(
    (await postrider(env, 'top')).stdout,
    /^slowest +attempts +mean +longest\ntortoise.example +125 +20\.0 s +20\.0 s\nsnail/m,
  )
  const read = recorder.statements().filter(({ text }) => /from attempts/.test(text))
  t.equal(read.length, 1)
  await sql`analyze attempts`
  for (const statement of read) t.same(wholeScans(await planOf(sql, statement)), [], statement.text)
})

t.test('of a long queue top finds the largest destinations, and reads little', async (t) => {
  const { service, sender } = await makeQueue(t)
  // One of 2,000 destinations, late in the alphabet, has a third of the mail.
  const place = "case when n % 3 = 0 then 'yahoo' else 'd' || n % 2000 || '.example' end"
  await service.sql.begin((sql) =>
    fillQueue(sql as never, {
      accountIds: [sender.accountId],
      count: 30_000,
      columns: { place, waiting_for: "'rate'" },
    }),
  )
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const { destinations, partial } = await answered<Picture>({ ...service.env, DATABASE_URL: recorder.url }, 'top')
  const [largest] = destinations
  t.equal(largest?.name, 'yahoo')
  const { count = 0, more } = largest?.parked.rate ?? {}
  t.ok(more && count > 5000 && count < 20_000, `${count} are estimated`)
  t.ok(partial)
  t.equal(destinations.length, 15)
  const inOrder = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => inOrder.end())
  // As the queue is read.
  await inOrder`
    select set_config(name, 'off', false) from unnest(array['enable_sort', 'enable_hashagg', 'enable_bitmapscan', 'enable_seqscan']) name`
  const read = recorder
    .statements()
    .filter(({ text }) => /delivery_queue/.test(text) && /^\s*(?:select|with)/.test(text))
  t.ok(read.length >= 3)
  for (const statement of read) t.same(wholeScans(await planOf(inOrder, statement)), [], statement.text)
})

t.test('options that do not exist, or surplus words', async (t) => {
  for (const [args, says] of [
    [['--twice'], /unknown option '?"?--twice/],
    [['google'], /unexpected argument "google"/],
    [['--once=1'], /--once/],
  ] as const) {
    const { code, stdout, stderr } = await postrider(
      { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
      'top',
      ...args,
    )
    t.equal(code, 2)
    t.equal(stdout, '')
    t.match(stderr, says)
  }
})

const skip = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1)'

t.test('on a terminal it draws again and again, and leaves the terminal as it was', { skip }, async (t) => {
  const { service } = await makeQueue(t)
  const top = `'${process.execPath}' packages/cli/src/postrider.ts top`
  const line = `${top} & top=$!; echo "pid $top"; wait $top; echo "ended $?"`
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
    env: { ...BARE_ENVIRONMENT, ...service.env, TERM: 'xterm', SHELL: '/bin/bash' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let seen = ''
  child.stdout.on('data', (octets: Buffer) => (seen += octets))
  await until('two pictures', () => seen.split('\x1b[H').length > 2, 30_000)
  process.kill(Number(/pid (\d+)/.exec(seen)?.[1]), 'SIGINT')
  await until('the end', () => seen.includes('ended 0'), 30_000)
  t.match(seen, /\x1b\[\?1049h\x1b\[\?25l/)
  t.match(seen, /\x1b\[\?25h\x1b\[\?1049l\r?\n?ended 0/)
})
