import { openDatabase } from '@postrider/core'
import t from 'tap'
import { fillQueue } from '../core/delivery/filled-queue.ts'
import { makeQueue } from '../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { parkedAt } from '../helpers/claim.ts'
import { stopClock } from '../helpers/database.ts'
import { makeGrownService } from '../helpers/grown.ts'
import { makeService } from '../helpers/service.ts'
import { nodesOf, planOf, recordStatements, wholeScans } from '../helpers/statements.ts'
import { answered, postrider } from './postrider.ts'

interface Count {
  readonly count: number
  readonly more: boolean
}
interface Group {
  readonly name: string | null
  readonly due: Count
  readonly later: Count
  readonly parked: Readonly<Record<'pause' | 'rate' | 'connections', Count>>
  readonly held: Count
  readonly inFlight: number
  readonly total: Count
  readonly oldest: string
  readonly limits: { readonly connections: { used: number; limit: number }; readonly isPaused: boolean } | null
  readonly overrides: readonly { readonly rule: string; readonly until: string }[]
}
interface Overview {
  readonly groups: readonly Group[]
  readonly others: number
  readonly partial: boolean
}

/** A group as [name, due, later, parked, held, in flight]. */
function brief({ name, due, later, parked, held, inFlight }: Group) {
  const waiting = Object.values(parked).reduce((sum, { count }) => sum + count, 0)
  return [name, due.count, later.count, waiting, held.count, inFlight]
}

t.test('queue shows what is due, later, parked, held and in flight, by each grouping', async (t) => {
  const { service, core, sender, accept, register, claimAll } = await makeQueue(t)
  const other = await service.makeSender()
  const { env } = service
  const show = (...args: string[]) => answered<Overview>(env, 'queue', ...args)
  t.equal((await postrider(env, 'queue')).stdout, 'the queue is empty\nno delivery worker is running\n')

  await accept(['a@harbor.example', 'b@harbor.example', 'c@pier.example', 'd@pier.example', 'e@pier.example'])
  const workerId = await register()
  const claimed = await claimAll(workerId)
  const of = (no: number) => claimed.filter(({ recipientNo }) => recipientNo === no)
  await core.deliveries.park(workerId, parkedAt(of(0), { place: 'google', waitingFor: 'pause' }))
  await core.deliveries.park(workerId, parkedAt(of(1), { place: 'google', waitingFor: 'connections' }))
  await core.deliveries.park(workerId, parkedAt(of(2), { place: 'yahoo', waitingFor: 'rate' }))
  await core.deliveries.release(workerId, of(3), 600)
  await core.deliveries.slots.take(workerId, [{ place: 'google', limit: 10, count: 2 }])
  const base = { accountId: null, value: null, seconds: null, reason: '421 slow down', lasts: 600 }
  await core.deliveries.limits.set({ ...base, place: 'google', setting: 'pause', rule: 'google-rate' })
  await core.deliveries.limits.set({ ...base, place: 'outlook', setting: 'connections', value: 3, rule: 'outlook-few' })
  const in2Hours = new Date(Date.now() + 7_200_000)
  await acceptMessage(service, other, { envelopes: [envelopeTo('f@quay.example')], scheduledAt: in2Hours })
  await acceptMessage(service, other, {
    envelopes: [envelopeTo('g@quay.example')],
    settings: { class: 'urgent' },
  })

  const { groups } = await show()
  t.strictSame(groups.map(brief), [
    [null, 1, 2, 0, 0, 1],
    ['google', 0, 0, 2, 0, 0],
    ['yahoo', 0, 0, 1, 0, 0],
    ['outlook', 0, 0, 0, 0, 0],
  ])
  t.match(groups[1], { limits: { connections: { used: 2 }, isPaused: true }, overrides: [{ rule: 'google-rate' }] })
  t.match(groups[1]?.parked, { pause: { count: 1, more: false }, connections: { count: 1 }, rate: { count: 0 } })
  t.match(groups[3], { limits: { connections: { used: 0, limit: 3 } }, overrides: [{ until: /^20/ }] })
  t.ok(Math.abs(Date.parse(groups[1]?.oldest ?? '') - Date.now()) < 60_000)
  t.strictSame((await show('--by', 'account')).groups.map(brief), [
    [String(sender.accountId), 0, 1, 3, 0, 1],
    [String(other.accountId), 1, 1, 0, 0, 0],
  ])
  t.strictSame((await show('--by', 'class')).groups.map(brief), [
    ['normal', 0, 2, 3, 0, 1],
    ['urgent', 1, 0, 0, 0, 0],
  ])
  t.strictSame((await show('--by', 'domain')).groups.map(brief), [
    ['pier.example', 0, 1, 1, 0, 1],
    ['harbor.example', 0, 0, 2, 0, 0],
    ['quay.example', 1, 1, 0, 0, 0],
  ])
  const { groups: first, others } = await show('--limit', '1')
  t.strictSame([first.length, others], [1, 3])
  const { stdout } = await postrider(env, 'queue')
  t.match(stdout, /^provider +due +later +parked +held +in flight +oldest +connections +limits\n/)
  t.match(stdout, /google +0 +0 +1 pause, 1 connections +0 +0 +\d+s +2\/\d+ +pause by google-rate until 20/)
  t.equal((await postrider(env, 'queue', '--by', 'color')).code, 2)
})

t.test('queue shows how fast parked mail is tried, and how long the rest takes', async (t) => {
  const { service, core, sender, accept, register, claimAll } = await makeQueue(t)
  const workerId = await register()
  await accept(Array.from({ length: 50 }, (_, at) => `r${at}@harbor.example`))
  await core.deliveries.park(
    workerId,
    parkedAt(await claimAll(workerId), { place: 'google', waitingFor: 'connections' }),
  )
  const flow = { place: 'google', accountId: sender.accountId, class: 1, tried: 30 } as const
  await core.deliveries.addProgress([flow])
  await service.sql`update flow_progress set since = service_now() - interval '60 seconds'`
  for (const by of ['provider', 'account', 'class']) {
    const { groups } = await answered<{ groups: { rate: object; doneAt: string }[] }>(service.env, 'queue', '--by', by)
    t.match(groups, [{ rate: { tried: 30 } }], by)
    const seconds = (Date.parse(groups[0]?.doneAt ?? '') - Date.now()) / 1000
    t.ok(seconds > 90 && seconds < 115, `${by}: ${seconds} s of a hundred`)
  }
  // Each second that the commands take counts for the rate.
  await stopClock(service.sql)
  await service.sql`update flow_progress set since = service_now() - interval '60 seconds'`
  t.match(
    (await postrider(service.env, 'queue')).stdout,
    /oldest +tried +done in +connections.*\ngoogle .* 30\/min +\d+s/,
  )
})

t.test('counts end at 10,000 of a flow, and are shown as lower bounds', async (t) => {
  const { service, sender } = await makeQueue(t)
  const parked = { place: "case when n % 2 = 0 then 'google' end", waiting_for: "case when n % 2 = 0 then 'rate' end" }
  const columns = { ...parked, next_at: 'service_now()' }
  await fillQueue(service.sql, { accountIds: [sender.accountId], count: 30_000, columns })
  const { groups } = await answered<Overview>(service.env, 'queue')
  const google = groups.find(({ name }) => name === 'google')
  t.strictSame(google?.parked.rate, { count: 10_001, more: true })
  const [rest] = groups.filter(({ name }) => name === null)
  t.ok(rest?.due.more)
  t.match((await postrider(service.env, 'queue')).stdout, />10001 rate/)
})

t.test('queue show lists limits with their sources, overrides, connections, rules and parked mail', async (t) => {
  const { service, core, sender, accept, register, claimAll } = await makeQueue(t)
  await accept(['a@harbor.example', 'b@harbor.example'])
  const workerId = await register()
  await core.deliveries.park(workerId, parkedAt(await claimAll(workerId), { place: 'google', waitingFor: 'rate' }))
  await core.deliveries.slots.take(workerId, [{ place: 'google', limit: 10, count: 2 }])
  const base = { place: 'google', accountId: null, reason: '421 slow down', lasts: 600 }
  await core.deliveries.limits.set({ ...base, setting: 'rate', value: 5, seconds: 60, rule: 'google-rate' })
  await core.deliveries.limits.countHits({ place: 'google', rule: 'google-rate', accountId: 0, count: 4, within: 600 })
  await postrider(service.env, 'queue', 'pause', 'google', '--reason', 'incident 7', '--for', '2h')
  const shown = await answered<Record<string, unknown[]>>(service.env, 'queue', 'show', 'google')
  t.match(shown, {
    place: 'google',
    isProvider: true,
    overrides: [
      { rule: 'operator', reason: 'incident 7' },
      { rule: 'google-rate', reason: '421 slow down' },
    ],
    slots: [{ workerId, host: 'worker.example', pid: process.pid, used: 2 }],
    ruleHits: [{ rule: 'google-rate', accountId: null, hits: 4 }],
    parked: [{ accountId: sender.accountId, count: 2, more: false }],
  })
  t.strictSame(
    shown.limits?.map((one) => {
      const { setting, from } = one as { setting: string; from: string }
      return [setting, from]
    }),
    [
      ['pause', 'operator'],
      ['rate', 'google-rate'],
      ['connections', 'file'],
      ['messagesPerConnection', 'file'],
    ],
  )
  const sample = shown.sample as { recipient: string; waitingFor: string }[]
  t.strictSame(sample.map(({ recipient, waitingFor }) => `${recipient} ${waitingFor}`).sort(), [
    'a@harbor.example rate',
    'b@harbor.example rate',
  ])
  const { stdout } = await postrider(service.env, 'queue', 'show', 'google')
  t.match(stdout, /^provider google\n\nlimit +value +account +from +until\n/)
  t.match(stdout, /rate +5\/min +all +google-rate/)
  const unknown = await postrider(service.env, 'queue', 'show', 'gogle')
  t.strictSame(
    [unknown.code, unknown.stderr],
    [
      1,
      'postrider: no mail waits for "gogle" or was refused there, and no provider has this name; ' +
        '"provider list" lists the providers, "queue" those and the sites with waiting or refused mail\n',
    ],
  )
})

t.test('queue pause says which pause it replaces', async (t) => {
  const { env } = await makeService(t)
  const pause = (...args: string[]) => postrider(env, 'queue', 'pause', 'google', ...args)
  const first = await pause('--reason', 'incident 7', '--for', '2h')
  t.match(first.stdout, /^paused google until 20\S+\n$/)
  const [until] = /20\S+/.exec(first.stdout) ?? []
  const second = await pause('--reason', 'maintenance', '--for', '10m')
  t.match(second.stdout, /^paused google until 20\S+\n/)
  t.match(second.stdout, `\nthis replaces the pause until ${until} with the reason: incident 7\n`)
})

t.test('on a grown database the queue is read by its indexes', async (t) => {
  const { service } = await makeGrownService(t)
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const env = { ...service.env, DATABASE_URL: recorder.url }
  for (const args of [
    ['--by', 'provider'],
    ['--by', 'account'],
    ['--by', 'class'],
    ['--by', 'domain'],
    ['show', 'google'],
  ]) {
    await answered(env, 'queue', ...args)
  }
  const inOrder = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => inOrder.end())
  // As the queue is read.
  await inOrder`
    select set_config(name, 'off', false)
      from unnest(array['enable_sort', 'enable_hashagg', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan',
                        'enable_seqscan', 'enable_material']) name`
  const read = recorder
    .statements()
    .filter(({ text }) => /delivery_queue/.test(text) && /^\s*(?:select|with)/.test(text))
  t.ok(read.length >= 10, `${read.length} statements`)
  for (const statement of read) {
    const plan = await planOf(inOrder, statement)
    t.same(wholeScans(plan), [], statement.text)
    const scans = nodesOf(plan).filter(({ node }) => node['Relation Name'] === 'delivery_queue')
    const sorted = scans.filter(({ above }) => /Sort/.test(above[0]?.['Node Type'] ?? ''))
    t.same(sorted, [], 'no more is read than the bound')
  }
})
