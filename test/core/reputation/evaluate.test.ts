import { openDatabase } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { countAll } from '../reporting/statistics/happen.ts'

const service = await makeService(t, { REPUTATION_RULES: 'standard' })
const { sql, core } = service
const { reputation } = core

interface Outcomes {
  readonly sent?: number
  readonly bounced?: number
  readonly complained?: number
}

/** Writes the events of these outcomes, has them counted, and evaluates. */
async function happened({ accountId }: Sender, { sent = 0, bounced = 0, complained = 0 }: Outcomes) {
  const add = (type: string, count: number, detail: object) => sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, ${type}, gen_random_uuid(), 0, ${JSON.stringify(detail)}::text::jsonb
      from generate_series(1, ${count}::int)`
  await add('sent', sent, { attempt: 1 })
  await add('bounced', bounced, { attempt: 1, class: 'bad-mailbox' })
  await add('complained', complained, {})
  await countAll(service)
  return evaluateAll()
}

async function evaluateAll() {
  const all = []
  for (let more = true; more; ) {
    const found = await reputation.evaluateSome()
    all.push(...found.changes)
    more = found.more
  }
  return all
}
const holdsOf = async ({ accountId }: Sender) => (await reputation.show(accountId)).holds
const eventsOf = async ({ accountId }: Sender) =>
  (await sql`select detail from events where account_id = ${accountId} and type = 'account' order by id`).map(
    ({ detail }) => detail,
  )

t.test('an account is held once, with an event that says why, and what workers need to know', async (t) => {
  const sender = await service.makeSender()
  t.match(await happened(sender, { sent: 300, bounced: 60 }), [
    {
      accountId: sender.accountId,
      rule: 'unknown-recipients',
      before: 'good',
      after: 'held',
      figures: { bounces: 60, share: 0.16667 },
    },
    { rule: 'bounces', before: 'good', after: 'held' },
  ])
  t.strictSame(await happened(sender, { bounced: 1 }), [])
  t.match(await holdsOf(sender), [
    { rule: 'unknown-recipients', level: 'held', classes: ['urgent', 'normal', 'bulk'], rate: null, until: null },
    { rule: 'bounces', level: 'held', classes: ['bulk'] },
  ])
  t.match(await eventsOf(sender), [
    { rule: 'unknown-recipients', before: 'good', after: 'held', figures: { bounces: 60, outcomes: 360 } },
    { rule: 'bounces', before: 'good', after: 'held' },
  ])
  t.match(await core.deliveries.limits.accountHolds(), [
    { accountId: sender.accountId, classes: [0, 1, 2], rate: null },
    { classes: [2], rate: null },
    { classes: [1], rate: 200 },
  ])
  t.match(await reputation.list(), [{ accountId: sender.accountId }, {}])
  await reputation.release(sender.accountId)
})

t.test('ordinary mail changes nothing', async (t) => {
  const sender = await service.makeSender()
  t.strictSame(await happened(sender, { sent: 1500, bounced: 40, complained: 1 }), [])
  t.strictSame(await holdsOf(sender), [])
})

t.test('a worse level replaces a lighter one, and a better one does not', async (t) => {
  const sender = await service.makeSender()
  t.match(await happened(sender, { sent: 960, bounced: 40 }), [{ before: 'good', after: 'warned' }])
  t.match(await happened(sender, { sent: 0, bounced: 25 }), [{ rule: 'bounces', before: 'warned', after: 'slowed' }])
  const [slowed] = await holdsOf(sender)
  t.match(slowed, { level: 'slowed', rate: 480, classes: ['normal', 'bulk'] }, 'half of what was delivered in an hour')
  t.strictSame(await happened(sender, { sent: 500, bounced: 1 }), [])
  t.match(await holdsOf(sender), [slowed])
  await reputation.release(sender.accountId)
})

t.test('after a release only what happens from then on counts', async (t) => {
  const sender = await service.makeSender()
  await happened(sender, { sent: 300, bounced: 60 })
  t.strictSame((await reputation.release(sender.accountId)).sort(), ['bounces', 'unknown-recipients'])
  t.strictSame(await reputation.release(sender.accountId), [])
  t.strictSame(await happened(sender, { sent: 10, bounced: 49 }), [])
  t.match(await happened(sender, { bounced: 1 }), [
    { rule: 'unknown-recipients', after: 'held', figures: { bounces: 50, outcomes: 60 } },
  ])
  t.match(
    (await eventsOf(sender)).slice(2, 4).map(({ after }) => after),
    ['good', 'good'],
  )
  const log = await core.audit.list(sender.accountId, { after: 0, limit: 10 })
  t.ok(JSON.stringify(log).includes('account.release'))
  await reputation.release(sender.accountId)
})

t.test('the rules of an account are its own, or those of the installation', async (t) => {
  const [lax, strict] = [await service.makeSender(), await service.makeSender()]
  await reputation.setRules(lax.accountId, 'none')
  await reputation.setRules(strict.accountId, 'strict')
  t.match(await happened(lax, { sent: 300, bounced: 60 }), [{ after: 'warned' }, { after: 'warned' }])
  t.match(await happened(strict, { sent: 970, bounced: 30 }), [{ rule: 'bounces', after: 'slowed' }])
  await reputation.setRules(lax.accountId, null)
  t.match(
    await evaluateAll(),
    [
      { before: 'warned', after: 'held' },
      { before: 'warned', after: 'held' },
    ],
    'evaluated again at once',
  )
  t.match(await reputation.show(lax.accountId), { rules: 'standard', hasOwnRules: false })
  await t.rejects(reputation.setRules(lax.accountId, 'lax'), /\[rules\] is invalid: must be none/)
  await t.rejects(reputation.setRules(999_999, 'strict'), /\[account\] is invalid: account 999999 not found/)
  for (const { accountId } of [lax, strict]) await reputation.release(accountId)
})

t.test('the rules none end what holds mail, and leave a warning', async (t) => {
  const { accountId } = await service.makeSender()
  await happened({ accountId } as Sender, { sent: 300, bounced: 30 })
  await reputation.setRules(accountId, 'none')
  t.match(await evaluateAll(), [{ accountId, rule: 'bounces', before: 'slowed', after: 'warned' }])
  t.strictSame(
    (await core.deliveries.limits.accountHolds()).filter((hold) => hold.accountId === accountId),
    [],
  )
})

t.test('a hold by hand of one class leaves those that are held already', async (t) => {
  const { accountId } = await service.makeSender()
  await reputation.hold({ accountId, reason: 'all' })
  await reputation.hold({ accountId, reason: 'bulk', classes: [2] })
  t.match((await reputation.show(accountId)).holds, [{ classes: ['urgent', 'normal', 'bulk'], reason: 'bulk' }])
  t.equal((await eventsOf({ accountId } as Sender)).length, 1)
  await reputation.release(accountId)
})

t.test('holds, releases, purges and judgements of an account at once end without a deadlock', async (t) => {
  const { accountId } = await service.makeSender()
  const acts = [
    () => reputation.hold({ accountId, reason: 'x' }),
    () => reputation.release(accountId),
    () => reputation.purge(accountId),
    () => reputation.setRules(accountId, 'strict'),
    async () => {
      await sql`insert into reputation_due values (${accountId}) on conflict do nothing`
      await reputation.evaluateSome()
    },
  ]
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, async () => {
      for (let round = 0; round < 10; round++) for (const act of acts) await act()
    }),
  )
  t.strictSame(
    results.filter(({ status }) => status === 'rejected'),
    [],
  )
  await reputation.release(accountId)
})

t.test('complaints count against the deliveries of providers that report them', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  await sql`
    with placed as (
      insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, place)
      select (left(uuidv7_floor(service_now())::text, 14) || right(gen_random_uuid()::text, 22))::uuid, 0, 1, ${accountId}, 1, 'delivered',
      service_now(), 1, case when no <= 2000 then 'yahoo' else 'google' end
        from generate_series(1, 5000) no
      returning message_id, place
    ), numbered as (select *, row_number() over (partition by place) as no from placed)
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, type, message_id, 0, '{}' from numbered
     cross join unnest(array['sent', 'complained']) type where type = 'sent' or (place = 'yahoo' and no <= 4)`
  t.strictSame(await happened(sender, {}), [])
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, 'complained', message_id, 0, '{}' from attempts
     where account_id = ${accountId} and place = 'yahoo' limit 2`
  t.match(await happened(sender, {}), [
    { rule: 'complaints', after: 'slowed', figures: { complained: 6, delivered: 2000, share: 0.003 } },
  ])
  await reputation.release(accountId)
})

t.test(
  'deferrals because of the policy of a provider cause a warning, which ends by itself and slows nothing',
  async (t) => {
    const sender = await service.makeSender()
    const { accountId } = sender
    const deferred = (provider: string, count: number, blocked: boolean) => sql`
    with placed as (
      insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, place, blocked)
      select (left(uuidv7_floor(service_now())::text, 14) || right(gen_random_uuid()::text, 22))::uuid, 0, 1, ${accountId}, 1, 'deferred', service_now(), 1,
             ${provider}, case when ${String(blocked)}::text::boolean then true end
        from generate_series(1, ${count}::int)
      returning message_id
    )
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, 'deferred', message_id, 0, '{"attempt": 1}' from placed`
    await deferred('google', 161, false)
    await deferred('google', 39, true)
    await deferred('mx.harbor.example', 500, true)
    t.strictSame(await happened(sender, {}), [], 'other sites do not matter')
    await deferred('google', 11, true)
    t.match(await happened(sender, {}), [
      {
        rule: 'policy-deferrals',
        after: 'warned',
        classes: [],
        figures: { deferred: 50, attempts: 211, google: 0.23697 },
      },
    ])
    t.match(await holdsOf(sender), [{ level: 'warned', rate: null, classes: [] }])
    await reputation.release(accountId)
    await deferred('google', 1, true)
    t.strictSame(await happened(sender, {}), [], 'what was before a release does not matter')
  },
)

t.test('far more mail than in any hour of the week before slows an account for a day', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  await sql`
    insert into account_counts (account_id, hour, accepted, delivered, hard, soft, complained)
    select ${accountId}, date_trunc('hour', service_now(), 'UTC') - make_interval(hours => no), 100, 100, 0, 0, 0 from generate_series(2, 180) no`
  const accept = (count: number) => sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no)
    select service_now(), ${accountId}, 'processed', gen_random_uuid(), 0 from generate_series(1, ${count}::int)`
  await accept(1000)
  t.strictSame(await happened(sender, {}), [])
  await accept(1)
  t.match(await happened(sender, {}), [
    { rule: 'sudden-volume', after: 'slowed', figures: { accepted: 1001, busiestHour: 100 } },
  ])
  t.match(await holdsOf(sender), [{ rate: 1000, classes: ['normal', 'bulk'], until: Date }])
  await reputation.release(accountId)
})

t.test('ten workers write one event', async (t) => {
  const sender = await service.makeSender()
  await happened(sender, { sent: 199, bounced: 0 })
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${sender.accountId}, 'bounced', gen_random_uuid(), 0, '{"class": "bad-mailbox"}' from generate_series(1, 20)`
  await countAll(service)
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      await sql`insert into reputation_due values (${sender.accountId}) on conflict do nothing`
      await reputation.evaluateSome()
    }),
  )
  t.equal((await eventsOf(sender)).length, 1)
  await reputation.release(sender.accountId)
})

t.test('what is counted while an account is evaluated is evaluated, too', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  await happened(sender, { sent: 10, bounced: 1 })
  await sql`insert into reputation_due values (${accountId})`
  const other = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => other.end())
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, 'bounced', gen_random_uuid(), 0, '{"class": "bad-mailbox"}' from generate_series(1, 60)`
  await other.begin(async (transaction) => {
    const [batch] = await transaction<{ after: string; to: string }[]>`
      select c.transaction::text as after, max(e.transaction::text::bigint)::text as to
        from event_cursors c join events e on e.transaction > c.transaction where c.name = 'numbers' group by 1`
    await reputation.count(transaction, batch as { after: string; to: string })
    t.strictSame(await evaluateAll(), [], 'it is not committed yet')
  })
  t.match(await evaluateAll(), [{ accountId, rule: 'unknown-recipients', after: 'held' }])
  // Counts the same events once more, which must not become due in a later test.
  await happened(sender, {})
  await reputation.release(accountId)
})

t.test('a sudden volume is one of the last 60 minutes, also if they are in two hours of the clock', async (t) => {
  const { accountId } = await service.makeSender()
  const minutes = 66 - new Date().getUTCMinutes()
  await moveClock(sql, `${minutes} minutes`)
  await sql`
    insert into account_counts (account_id, hour, accepted, delivered, hard, soft, complained)
    select ${accountId}, date_trunc('hour', service_now(), 'UTC') - make_interval(hours => no), case no when 1 then 900 else 50 end, 50, 0, 0, 0
      from generate_series(1, 180) no`
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no)
    select service_now(), ${accountId}, 'processed', gen_random_uuid(), 0 from generate_series(1, 600)`
  t.match(await happened({ accountId } as Sender, {}), [{ accountId, rule: 'sudden-volume', after: 'slowed' }])
  await reputation.release(accountId)
})

t.test(
  'slowed mail goes on as usual after a day of good figures; held mail of complaints or storms waits for the operator',
  async (t) => {
    const [slowed, stormy] = [await service.makeSender(), await service.makeSender()]
    await happened(slowed, { sent: 940, bounced: 45 })
    await happened(stormy, { sent: 100, bounced: 90 })
    await moveClock(sql, '25 hours')
    await happened(slowed, { sent: 5000 })
    t.strictSame(await evaluateAll(), [], 'the figures are good now, and must stay so')
    t.match(await holdsOf(slowed), [{ level: 'warned' }])
    await moveClock(sql, '51 hours')
    t.match(
      (await evaluateAll()).filter(({ accountId }) => accountId === slowed.accountId),
      [{ rule: 'bounces', after: 'good' }],
    )
    t.strictSame(await holdsOf(slowed), [])
    await moveClock(sql, '200 hours')
    await evaluateAll()
    t.match(
      (await holdsOf(stormy)).map(({ rule }) => rule),
      ['unknown-recipients'],
    )
  },
)
