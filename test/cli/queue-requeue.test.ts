import { type Outcome, readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import { withInstallation } from '../../packages/cli/src/installation.ts'
import { BOUNCED, DELIVERED, INDETERMINATE, makeQueue } from '../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { moveClock } from '../helpers/database.ts'
import { makeGrownService } from '../helpers/grown.ts'
import { startProcess } from '../helpers/processes.ts'
import { killWithSessions } from '../helpers/sessions.ts'
import { nodesOf, planOf, recordStatements } from '../helpers/statements.ts'
import { until } from '../helpers/until.ts'
import { answered, postrider } from './postrider.ts'

interface Plan {
  readonly id: number
  readonly count: number
  readonly partial: boolean
  readonly byPlace: readonly { place: string | null; count: number }[]
  readonly byBounceClass: readonly { bounceClass: string | null; count: number }[]
  readonly byAccount: readonly { accountId: number; count: number }[]
  readonly sample: readonly { recipient: string; state: string }[]
  readonly leftOut: Readonly<Record<string, number>>
}

const POLICY = { ...BOUNCED, reply: { code: 550, enhanced: '5.7.1', text: 'blocked by policy' } } as Outcome
const AT_GOOGLE = { ...POLICY } as Outcome
const SPAM = { ...BOUNCED, reply: { code: 554, enhanced: '5.7.9', text: 'blocked using spamhaus' } } as Outcome

async function makeRequeues(t: Test) {
  const queue = await makeQueue(t)
  const { service, core, sender } = queue
  const { env, sql } = service
  const workerId = await queue.register()
  return {
    ...queue,
    env,
    sql,
    accountId: sender.accountId,
    suppress: (value: string) =>
      core.suppressions.add({ accountId: sender.accountId, scope: 'address', value, reason: 'unsubscribe' }),
    /** Claims all that is due, and ends each delivery with the outcome of its recipient's local part. */
    async end(outcomes: Readonly<Record<string, Outcome>> | Outcome) {
      const claimed = await queue.claimAll(workerId)
      const of = (recipient: string) =>
        'kind' in outcomes
          ? (outcomes as Outcome)
          : (outcomes as Record<string, Outcome>)[recipient.split('@')[0] ?? '']
      const ended = claimed.flatMap((one) => {
        const outcome = of(one.recipient)
        return outcome ? [{ ...one, workerId, outcome, place: outcome === AT_GOOGLE ? 'google@mta-1' : undefined }] : []
      })
      for (let at = 0; at < ended.length; at += 250) await core.deliveries.record(ended.slice(at, at + 250))
      return claimed
    },
    plan: (...args: string[]) => answered<Plan>(env, 'queue', 'requeue', ...args),
    confirm: ({ id }: { id: number }) => postrider(env, 'queue', 'requeue', '--confirm', String(id)),
    job: ({ id }: { id: number }) => answered<{ state: string; done: number }>(env, 'queue', 'jobs', String(id)),
    async finish() {
      while (await core.queue.workSome());
    },
    states: async () => {
      const rows = await sql<{ recipient: string; state: string; attempt: number }[]>`
        select split_part(recipient, '@', 1) as recipient, state, attempt from deliveries order by 1`
      return Object.fromEntries(rows.map(({ recipient, state, attempt }) => [recipient, `${state} ${attempt}`]))
    },
  }
}

t.test(
  'what bounced or expired is requeued, and nothing that was delivered, may have been, or is suppressed',
  async (t) => {
    const { accept, end, plan, confirm, job, finish, states, accountId, core, sql, suppress } = await makeRequeues(t)
    const to = (name: string) => `${name}@harbor.example`
    await accept(['gone', 'policy', 'given', 'waits', 'twice', 'late', 'opted'].map(to))
    const later = { ...POLICY, kind: 'deferred', indeterminate: false } as Outcome
    await end({ gone: BOUNCED, policy: POLICY, given: DELIVERED, twice: INDETERMINATE, late: later, opted: POLICY })
    await moveClock(sql, '6 minutes')
    await end({ twice: POLICY, late: later })
    await suppress(to('opted'))
    await moveClock(sql, '80 hours')
    await end({ late: later })
    const before = await states()
    t.match(before, {
      gone: 'bounced 1',
      policy: 'bounced 1',
      given: 'delivered 1',
      twice: 'bounced 2',
      late: 'expired 3',
    })

    const made = await plan('--since', '4d')
    t.match(made, {
      count: 2,
      partial: false,
      byPlace: [{ place: null, count: 2 }],
      byAccount: [{ accountId, count: 2 }],
      leftOut: { suppressed: 2, indeterminate: 1 },
    })
    t.strictSame(made.sample.map(({ recipient, state }) => `${recipient} ${state}`).sort(), [
      'late@harbor.example expired',
      'policy@harbor.example bounced',
    ])
    t.strictSame(await states(), before, 'a plan changes nothing')
    t.match(await confirm(made), { code: 0, stdout: /^job \d+ began: requeue 2 deliveries/ })
    await finish()
    t.match(await job(made), { state: 'done', done: 2, planned: 2 })
    t.strictSame(await states(), { ...before, policy: 'deferred 1', late: 'deferred 3' })
    t.match(await end({ policy: DELIVERED, late: DELIVERED }), [{ attempt: 2 }, { attempt: 4 }])
    t.match(await states(), { policy: 'delivered 2', late: 'delivered 4' })
    const entries = await core.audit.list(accountId, { after: 0, limit: 100 })
    t.match(entries.at(-1), { action: 'queue.requeue', object: `queue job ${made.id}`, after: { deliveries: 2 } })
    t.match((await core.audit.list(0, { after: 0, limit: 100 })).at(-1), {
      action: 'queue.requeue',
      after: { planned: 2 },
    })
  },
)

t.test('each selector chooses what it names', async (t) => {
  const { service, end, plan, accept, sender, sql } = await makeRequeues(t)
  const other = await service.makeSender()
  const accepted = async (from: typeof sender, to: string, settings = {}, more = {}) =>
    acceptMessage(service, from, { envelopes: [envelopeTo(to)], settings, ...more })
  await accept(['old@harbor.example'])
  await end(POLICY)
  await moveClock(sql, '2 hours')
  await accepted(sender, 'google@harbor.example')
  await accepted(sender, 'spam@harbor.example', { class: 'bulk' })
  await accepted(other, 'policy@quay.example', {}, { tags: ['sale'] })
  await end({ google: AT_GOOGLE, spam: SPAM, policy: POLICY })
  const later = { ...POLICY, kind: 'deferred', indeterminate: false } as Outcome
  await accepted(sender, 'late@harbor.example')
  await sql`update delivery_queue set expires_at = service_now()`
  await end({ late: later })
  for (const [selectors, found] of [
    [
      ['--since', '3h'],
      ['google', 'late', 'old', 'policy', 'spam'],
    ],
    [
      ['--since', '1h'],
      ['google', 'late', 'policy', 'spam'],
    ],
    [['--since', '3h', '--until', '1h'], ['old']],
    [['--since', '1h', '--bounce-class', 'spam'], ['spam']],
    [
      ['--since', '1h', '--bounce-class', 'policy'],
      ['google', 'policy'],
    ],
    [['--since', '1h', '--state', 'expired'], ['late']],
    [
      ['--since', '1h', '--state', 'bounced'],
      ['google', 'policy', 'spam'],
    ],
    [['--since', '1h', '--place', 'google'], ['google']],
    [['--since', '1h', '--account', String(other.accountId)], ['policy']],
    [['--since', '1h', '--domain', 'Quay.example'], ['policy']],
    [['--since', '1h', '--tag', 'sale'], ['policy']],
    [['--since', '1h', '--class', 'bulk'], ['spam']],
    [['--since', '1h', '--class', 'normal', '--bounce-class', 'spam'], []],
  ] as const) {
    const { sample, count } = await plan(...selectors)
    t.strictSame(sample.map(({ recipient }) => recipient.split('@')[0]).sort(), found, selectors.join(' '))
    t.equal(count, found.length)
  }
  t.match((await plan('--since', '1h')).byPlace, [
    { place: null, count: 3 },
    { place: 'google@mta-1', count: 1 },
  ])
  t.match((await plan('--since', '1h')).byBounceClass, [
    { bounceClass: 'policy', count: 2 },
    { bounceClass: 'spam', count: 1 },
    { bounceClass: null, count: 1 },
  ])
})

t.test('a wrong selector is refused by its name', async (t) => {
  const { env } = await makeRequeues(t)
  for (const [args, problem, code] of [
    [[], /missing option --since/, 2],
    [['--since', '1h', '--all'], /unknown option "--all"/, 2],
    [['--since', 'yesterday'], /--since: must be an ISO 8601 time .*, or a duration such as 2h/, 1],
    [['--since', '31d'], /--since: must not be more than 30 days ago, for which bodies are kept/, 1],
    [['--since', '2999-01-01'], /--since: must be in the past/, 1],
    [['--since', '1h', '--until', '2h'], /--until: must be after since/, 1],
    [['--since', '1h', '--bounce-class', 'hard'], /--bounce-class: must be one of bad-mailbox, /, 1],
    [['--since', '1h', '--state', 'dropped'], /--state: must be one of bounced, expired/, 1],
    [['--since', '1h', '--state', 'expired', '--bounce-class', 'spam'], /--bounce-class: cannot be combined/, 1],
    [['--since', '1h', '--place', ''], /--place: must have 1 to 300 characters/, 1],
    [['--since', '1h', '--account', '999'], /--account: account 999 not found/, 1],
    [['--since', '1h', '--class', 'fast'], /--class: must be urgent, normal or bulk/, 1],
  ] as const) {
    t.match(await postrider(env, 'queue', 'requeue', ...args), { code, stderr: problem }, args.join(' '))
  }
  t.match(await postrider(env, 'queue', 'requeue', '--since', '1h'), { code: 0, stdout: /^no deliveries match\n$/ })
})

t.test(
  'a job requeues a delivery once, also if it bounces again meanwhile, and leaves out what has ended since',
  async (t) => {
    const { accept, end, plan, confirm, finish, job, states, core, suppress } = await makeRequeues(t)
    await accept(['first@harbor.example'])
    await accept([
      'second@harbor.example',
      'third@harbor.example',
      ...Array.from({ length: 30 }, (_, n) => `r${n}@harbor.example`),
    ])
    await end(POLICY)
    const made = await plan('--since', '1h')
    t.equal(made.count, 33)
    await confirm(made)
    await suppress('third@harbor.example')
    await core.messages.requeue({
      messageId:
        (await core.messages.list({ limit: 100, search: { recipientKey: 'first@harbor.example' } })).deliveries[0]
          ?.messageId ?? '',
    })
    await end({ first: SPAM })
    await finish()
    t.match(await job(made), { state: 'done', done: 31 })
    t.match(await states(), { first: 'bounced 2', second: 'deferred 1', third: 'bounced 1' })
    await end({ second: SPAM })
    await finish()
    t.match(await states(), { second: 'bounced 2' })
    t.equal((await plan('--since', '1h')).count, 2, 'a new plan has what bounced again')
  },
)

t.test('a message without its body, and mail of a lost domain, is left out and counted', async (t) => {
  const { accept, end, plan, sql, sender } = await makeRequeues(t)
  const id = await accept(['a@harbor.example'])
  await accept(['b@harbor.example'])
  await end(POLICY)
  await sql`delete from bodies where message_id = ${id}::uuid`
  t.match(await plan('--since', '1h'), { count: 1, leftOut: { 'body-deleted': 1 } })
  await sql`update domains set state = 'rejected' where name = ${sender.domain}`
  t.match(await plan('--since', '1h'), { count: 0, leftOut: { 'body-deleted': 1, 'domain-lost': 1 } })
})

t.test(
  'a job over 6,000 deliveries of two accounts ends exactly, although the worker is killed and the job stopped',
  async (t) => {
    const { service, sender, end, plan, confirm, job, sql, env } = await makeRequeues(t)
    const other = await service.makeSender()
    for (const from of [sender, other, sender, other, sender, other]) {
      const envelopes = Array.from({ length: 1000 }, (_, n) => envelopeTo(`r${n}@harbor.example`))
      await acceptMessage(service, from, { envelopes })
    }
    await end(POLICY)
    const queued = async () => (await sql`select from delivery_queue`).count
    const made = await plan('--since', '1h')
    t.match(made, { count: 6000, partial: false })
    t.equal(await queued(), 0)
    await confirm(made)
    const worker = { ...env, DELIVERY: 'smtp://127.0.0.1:1' }
    const first = await startProcess(t, 'delivery', worker)
    await until('progress', async () => (await job(made)).done >= 1000, 30_000)
    await killWithSessions(sql, first)
    const { state, done } = await job(made)
    t.equal(state, 'running')
    t.equal(await queued(), done, 'the progress is what was done')
    await postrider(env, 'queue', 'stop', String(made.id))
    await startProcess(t, 'delivery', worker)
    const rest = await plan('--since', '1h')
    t.equal(rest.count, 6000 - done)
    await confirm(rest)
    await until('the end', async () => (await job(rest)).state === 'done', 60_000)
    t.equal((await job(rest)).done, 6000 - done)
    t.equal(await queued(), 6000)
    const [events] = await sql`
    select count(*)::int as count, count(distinct (message_id, recipient_no))::int as each from events
     where type = 'deferred' and detail->>'reason' = 'operator'`
    t.match(events, { count: 6000, each: 6000 })
  },
)

t.test('on a grown database bounces are found by their index, and deliveries by their keys', async (t) => {
  const { service, owners } = await makeGrownService(t)
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const env = { ...service.env, DATABASE_URL: recorder.url }
  const wide = ['--since', '29d']
  for (const selectors of [
    wide,
    [...wide, '--account', String(owners.large)],
    [...wide, '--bounce-class', 'policy', '--tag', 'x'],
  ]) {
    const made = await answered<Plan>(env, 'queue', 'requeue', ...selectors)
    t.comment(`${selectors.join(' ')}: ${JSON.stringify({ ...made, sample: [] })}`)
    await postrider(env, 'queue', 'requeue', '--confirm', String(made.id))
    await withInstallation(readConfig(env), recorder.url, (core) => core.queue.workSome())
  }
  const tables = /^(events|finished_deliveries|messages|bodies|attempts|delivery_queue|suppressions)/
  const read = recorder.statements().filter(({ text }) => /walked|join unnest|unnest.* as w\(id\)/s.test(text))
  t.ok(read.length >= 4)
  for (const statement of read) {
    const nodes = nodesOf(await planOf(service.sql, statement)).filter(
      ({ node }) => tables.test(node['Relation Name'] ?? '') && /(Seq|Index|Index Only) Scan/.test(node['Node Type']),
    )
    t.ok(nodes.length > 0)
    for (const { node } of nodes) t.ok(node['Index Cond'], `${node['Relation Name']}: ${node['Node Type']}`)
  }
})
