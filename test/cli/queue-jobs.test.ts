import { readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import { withInstallation } from '../../packages/cli/src/installation.ts'
import { fillQueue } from '../core/delivery/filled-queue.ts'
import { makeQueue } from '../core/delivery/queue-of.ts'
import { makeGrownService } from '../helpers/grown.ts'
import { startProcess } from '../helpers/processes.ts'
import { killWithSessions } from '../helpers/sessions.ts'
import { startSink } from '../helpers/sink.ts'
import { nodesOf, planOf, recordStatements } from '../helpers/statements.ts'
import { until } from '../helpers/until.ts'
import { answered, postrider } from './postrider.ts'

interface Plan {
  readonly id: number
  readonly count: number
  readonly partial: boolean
  readonly byPlace: readonly { place: string | null; count: number }[]
  readonly byAccount: readonly { accountId: number; count: number }[]
  readonly sample: readonly { recipient: string }[]
}
interface Job {
  readonly state: string
  readonly done: number
  readonly planned: number
}

async function makeJobs(t: Test) {
  const queue = await makeQueue(t)
  const { service, sender } = queue
  const { env, sql } = service
  const other = await service.makeSender()
  return {
    ...queue,
    env,
    sql,
    other,
    fill: (count: number, columns = {}, more = {}) =>
      fillQueue(sql, { accountIds: [sender.accountId, other.accountId], count, columns, ...more }),
    plan: (...args: string[]) => answered<Plan>(env, 'queue', ...args),
    confirm: (action: string, { id }: { id: number }) => postrider(env, 'queue', action, '--confirm', String(id)),
    job: ({ id }: { id: number }) => answered<Job>(env, 'queue', 'jobs', String(id)),
    async count(where = 'true') {
      const [row] = await sql.unsafe(`select count(*)::int as count from delivery_queue where ${where}`)
      return row?.count as number
    },
    async finish() {
      while (await queue.core.queue.workSome());
    },
  }
}

t.test('a plan shows what the job then does, with each selector', async (t) => {
  const { fill, plan, confirm, job, count, finish, sender, other, env, core, sql } = await makeJobs(t)
  const place = "case when n % 4 = 0 then 'google' end"
  await fill(3000, { place, class: 'n % 3' }, { tags: "case when m % 3 = 0 then '{sale}'::text[] else '{}' end" })
  await sql`update delivery_queue set worker_id = 7, state = 'sending' where recipient_no = 1`
  const [account, waiting] = [['--account', String(sender.accountId)], 'worker_id is null']
  for (const [selectors, where] of [
    [['--place', 'google', '--class', 'bulk'], "place = 'google' and class = 2"],
    [['--domain', 'D12.example'], "recipient_domain = 'd12.example'"],
    [
      [...account, '--tag', 'sale'],
      `account_id = ${sender.accountId} and exists (select from messages m where m.id = message_id and tags = '{sale}')`,
    ],
    [account, `account_id = ${sender.accountId}`],
  ] as const) {
    const expected = await count(`${where} and ${waiting}`)
    const before = await count()
    t.ok(expected > 0)
    const made = await plan('fail', ...selectors)
    t.match(made, { count: expected, partial: false }, selectors.join(' '))
    t.equal(
      made.byAccount.reduce((sum, one) => sum + one.count, 0),
      expected,
    )
    t.equal(made.sample.length, Math.min(5, expected))
    t.equal(await count(), before, 'a plan changes nothing')
    t.equal((await confirm('fail', made)).code, 0)
    await finish()
    t.match(await job(made), { state: 'done', done: expected, planned: expected })
    t.equal(await count(), before - expected)
    t.equal(await count(`${where} and ${waiting}`), 0)
  }
  t.equal(await count('worker_id = 7'), 30, 'those in flight are not affected')
  const [dropped] = await sql`
    select count(*)::int as count from finished_deliveries f join events e using (message_id, recipient_no)
     where f.state = 'dropped' and f.reason = 'operator' and e.type = 'dropped' and e.detail->>'reason' = 'operator'`
  t.equal(dropped?.count, 3000 - (await count()))
  const entries = await core.audit.list(sender.accountId, { after: 0, limit: 100 })
  t.match(entries.at(-1), { action: 'queue.fail', after: { deliveries: /\d+/ } })
  t.ok((await core.audit.list(other.accountId, { after: 0, limit: 100 })).some(({ action }) => action === 'queue.fail'))

  t.equal((await plan('fail', '--older', '2h')).count, 0)
  t.equal((await plan('fail', '--older', '10m')).count, await count(waiting))
  t.match(await postrider(env, 'queue', 'fail'), { code: 2, stderr: /missing selector; --all/ })
  t.match(await postrider(env, 'queue', 'fail', '--all', '--tag', 'x'), { code: 2 })
  t.match(
    (await postrider(env, 'queue', 'fail', '--all')).stdout,
    /^plan \d+: fail \d+ deliveries\n\nplace +deliveries\n/,
  )
})

t.test('a plan is confirmed once, for ten minutes, and only if the count has moved by a tenth at most', async (t) => {
  const { fill, plan, confirm, sql, count, finish } = await makeJobs(t)
  await fill(1000)
  const made = await plan('fail', '--all')
  await sql`delete from delivery_queue where recipient_no > 85`
  t.match(await confirm('fail', made), { code: 1, stderr: /was for 1000 deliveries, now there are 850/ })
  t.match(await confirm('hold', made), { code: 1, stderr: /plan \d+ of queue hold not found/ })
  const old = await plan('fail', '--all')
  await sql`update queue_jobs set created_at = created_at - interval '11 minutes' where id = ${old.id}`
  t.match(await confirm('fail', old), { code: 1, stderr: /has expired/ })
  const fresh = await plan('fail', '--all')
  await sql`delete from delivery_queue where recipient_no > 80`
  t.equal((await confirm('fail', fresh)).code, 0)
  t.match(await confirm('fail', fresh), { code: 1, stderr: /already confirmed/ })
  await finish()
  t.equal(await count(), 0)
})

t.test(
  'flush makes retries and parked mail due, but not at a paused destination, and nothing that waits for a reason',
  async (t) => {
    const { fill, plan, confirm, count, finish, core, sql, env } = await makeJobs(t)
    await fill(1000, {
      place: "(array['google', 'yahoo', null])[1 + n % 3]",
      state: "case when n % 5 = 0 then 'scheduled' else 'deferred' end",
    })
    await sql`update delivery_queue set only_host = 'mx.example' where recipient_no = 3`
    await postrider(env, 'queue', 'pause', 'yahoo', '--reason', 'x')
    const where = "state = 'deferred' and only_host is null and place is distinct from 'yahoo'"
    const expected = await count(where)
    const made = await plan('flush', '--all')
    t.equal(made.count, expected)
    await confirm('flush', made)
    await finish()
    t.equal(await count('next_at <= service_now()'), expected)
    t.equal(await count(`next_at <= service_now() and ${where}`), expected)
    t.equal((await core.deliveries.limits.overrides()).length, 1)
  },
)

t.test('held mail is not claimed until it is released', async (t) => {
  const { plan, confirm, finish, accept, register, claimAll, sql, env } = await makeJobs(t)
  const id = await accept(['a@harbor.example', 'b@harbor.example'])
  const later = new Date(Date.now() + 7_200_000)
  const scheduled = await accept(['c@harbor.example'], later)
  const held = await plan('hold', '--all')
  t.equal(held.count, 3)
  await confirm('hold', held)
  await finish()
  const workerId = await register()
  t.equal((await claimAll(workerId)).length, 0)
  t.match((await answered<{ groups: unknown[] }>(env, 'queue')).groups, [{ held: { count: 3 }, later: { count: 0 } }])
  t.equal((await plan('flush', '--all')).count, 0)
  const release = await plan('release', '--all')
  t.equal(release.count, 3)
  await confirm('release', release)
  await finish()
  t.strictSame(
    (await claimAll(workerId)).map(({ messageId }) => messageId.replaceAll('-', '')),
    [id, id].map((one) => one.replaceAll('-', '')),
  )
  const [row] =
    await sql`select next_at, waiting_for, held_next_at from delivery_queue where message_id = ${scheduled}::uuid`
  t.equal(row?.next_at.getTime(), later.getTime(), 'scheduled mail keeps its time')
  t.strictSame([row?.waiting_for, row?.held_next_at], [null, null])
})

t.test('held mail is not sent at the end of its lifetime, when other mail is tried a last time', async (t) => {
  const { service, plan, confirm, finish, accept, sql } = await makeJobs(t)
  const sink = await startSink(t)
  await accept(['held@d5.example', 'other@d6.example'])
  await sql`update delivery_queue set expires_at = service_now() + interval '2 seconds', next_at = service_now() + interval '2 seconds'`
  await confirm('hold', await plan('hold', '--domain', 'd5.example'))
  await finish()
  await startProcess(t, 'delivery', { ...service.env, DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const expired = async () =>
    sql`select reply from finished_deliveries join attempts using (message_id, recipient_no) where state = 'expired'`
  const [row] = await until('it to expire', async () => ((await expired()).count === 1 ? expired() : undefined), 30_000)
  t.equal(row?.reply, 'not attempted: the operator held it until the message expired')
  await until('the other one', () => sink.messages.length > 0 || undefined)
  t.match(sink.messages, [{ to: ['other@d6.example'] }])
  t.equal(sink.messages.length, 1)
})

t.test('a job over 20,000 deliveries ends exactly, although the worker is killed in the middle', async (t) => {
  const { service, fill, plan, confirm, job, count } = await makeJobs(t)
  await fill(20_000)
  const made = await plan('fail', '--all')
  await confirm('fail', made)
  const env = { ...service.env, DELIVERY: 'smtp://127.0.0.1:1' }
  for (const atLeast of [1000, 8000]) {
    const worker = await startProcess(t, 'delivery', env)
    await until('progress', async () => (await job(made)).done >= atLeast, 30_000)
    await killWithSessions(service.sql, worker)
    const { state, done } = await job(made)
    t.equal(state, 'running')
    t.equal(await count(), 20_000 - done, 'the progress is what was done')
  }
  await startProcess(t, 'delivery', env)
  await until('the end', async () => (await job(made)).state === 'done', 30_000)
  t.match(await job(made), { done: 20_000 })
  t.equal(await count(), 0)
  const [events] = await service.sql`select count(*)::int as count from events where type = 'dropped'`
  t.equal(events?.count, 20_000)
})

t.test('a stopped job does nothing further, and what it has done stays', async (t) => {
  const { fill, plan, confirm, job, count, core, env, sender, finish } = await makeJobs(t)
  await fill(5000)
  const made = await plan('hold', '--all')
  await confirm('hold', made)
  await core.queue.workSome()
  await core.queue.workSome()
  t.match(await postrider(env, 'queue', 'stop', String(made.id)), { code: 0, stdout: /stopped job \d+ after 2000/ })
  await finish()
  t.match(await job(made), { state: 'stopped', done: 2000 })
  t.equal(await count("waiting_for = 'hold'"), 2000)
  const [entry] = (await core.audit.list(sender.accountId, { after: 0, limit: 100 })).slice(-1)
  t.match(entry, { action: 'queue.hold', object: `queue job ${made.id}`, after: { deliveries: 1000 } })
  t.match(await postrider(env, 'queue', 'stop', String(made.id)), { code: 1, stderr: /is not running/ })
  t.match((await postrider(env, 'queue', 'jobs')).stdout, /^job +action +selectors +state +done +planned/)
})

t.test('on a grown database a chunk reads the queue by its primary key, as far as it goes', async (t) => {
  const { service, owners } = await makeGrownService(t)
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const env = { ...service.env, DATABASE_URL: recorder.url }
  await service.sql`insert into limit_overrides (place, setting, rule, reason, since, until) values ('x', 'pause', 'operator', 'x', now(),
    now() + interval '1 day')`
  const account = ['--account', String(owners.large)]
  for (const [action, ...selectors] of [
    ['hold', '--tag', 'tag-000001'],
    ['hold', ...account],
    ['release', '--all'],
    ['flush', ...account],
    ['fail', ...account],
  ] as const) {
    const made = await answered<Plan>(env, 'queue', action, ...selectors)
    t.comment(`${action} ${selectors.join(' ')}: ${made.count}`)
    await answered(env, 'queue', action, '--confirm', String(made.id)).catch(() => {})
    recorder.clear()
    await withInstallation(readConfig(env), recorder.url, (core) => core.queue.workSome())
    const read = recorder.statements().filter(({ text }) => /delivery_queue/.test(text))
    if (made.count > 0) t.equal(read.length, 3, `${action}: the chunk is found, locked and changed`)
    for (const statement of read) {
      const queue = nodesOf(await planOf(service.sql, statement)).filter(
        ({ node }) => node['Relation Name'] === 'delivery_queue' && /Scan/.test(node['Node Type']),
      )
      t.ok(queue.length > 0)
      for (const { node, above } of queue) {
        t.equal(node['Index Name'], 'delivery_queue_pkey', statement.text)
        t.ok(node['Index Cond'])
        t.notMatch(above[0]?.['Node Type'], /Sort/, 'it ends as soon as the chunk is full')
      }
    }
  }
})
