import t, { type Test } from 'tap'
import { BOUNCED, DELIVERED, INDETERMINATE, makeQueue } from '../core/delivery/queue-of.ts'
import { countAll } from '../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { moveClock } from '../helpers/database.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'
import { answered, postrider } from './postrider.ts'

const POLICY = { ...BOUNCED, reply: { code: 550, enhanced: '5.7.1', text: 'blocked by policy' } } as const

/** A queue without worker processes, in which bounces can be recorded by hand. */
async function makeBounces(t: Test) {
  const queue = await makeQueue(t)
  const { service, core, sender } = queue
  const workerId = await queue.register()
  return {
    ...queue,
    env: service.env,
    accountId: sender.accountId,
    /** Claims all, and ends each delivery with the outcome of its recipient. */
    async end(outcomeOf: (recipient: string) => typeof BOUNCED | undefined) {
      const claimed = await queue.claimAll(workerId)
      const ended = claimed.flatMap((one) => {
        const outcome = outcomeOf(one.recipient)
        return outcome ? [{ ...one, workerId, outcome }] : []
      })
      await core.deliveries.record(ended)
      return claimed
    },
    requeue: (id: string, ...more: string[]) => postrider(service.env, 'message', 'requeue', id, ...more),
    states: async (id: string) => (await core.messages.show(id))?.deliveries.map(({ state }) => state),
    /** How many rows the two tables have of a message. */
    async rows(id: string) {
      const [row] = await service.sql`
        select (select count(*)::int from delivery_queue where message_id = ${id}::uuid) as queued,
               (select count(*)::int from finished_deliveries where message_id = ${id}::uuid) as finished`
      return row
    },
  }
}

t.test('a bounced delivery that is requeued is delivered exactly once, and statistics equal a recount', async (t) => {
  let blocked = true
  const sink = await startSink(t, { rcpt: () => (blocked ? '554 5.7.1 blocked by policy' : undefined) })
  const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const { core, env, sql } = service
  const sender = await service.makeSender()
  const { accountId, apiKey } = sender
  const base = await service.openApi()
  await openWorker(t, service)
  const sent = await sendV2(base, apiKey, v2Body(sender, { settings: { class: 'urgent', deadline: 3600 } }))
  const id = sent.body.data?.message_id as string
  const state = async () => (await core.messages.show(id))?.deliveries[0]?.state
  await until('the bounce', async () => (await state()) === 'bounced')
  blocked = false

  const { code, stdout } = await postrider(env, 'message', 'requeue', id)
  t.equal(code, 0)
  t.equal(
    stdout,
    `requeued lena@harbor.example (bounced after attempt 1)\nfollow it with: postrider message show ${id}\n`,
  )
  await until('the delivery', async () => (await state()) === 'delivered')
  t.equal(sink.messages.length, 1)
  const story = await core.messages.show(id)
  t.strictSame(
    story?.deliveries[0]?.attempts.map(({ attempt, outcome }) => [attempt, outcome]),
    [
      [1, 'bounced'],
      [2, 'delivered'],
    ],
  )
  t.strictSame(
    story?.events.map(({ type }) => type),
    ['processed', 'bounced', 'deferred', 'sent'],
  )
  t.match(story?.events[2]?.detail, { attempt: 1, reason: 'operator', reply: 'requeued by the operator' })
  const [entry] = (await core.audit.list(accountId, { after: 0, limit: 100 })).slice(-1)
  t.match(entry, { action: 'message.requeue', object: `message ${id}`, after: { requeued: 1 }, keyId: null })

  const counts = () => sql`select * from roll_ups where account_id = ${accountId} order by subject, name, day`
  // The worker counts too, and only one process at a time does.
  await until('the statistics', async () => {
    await countAll(service)
    return (await counts()).some(({ subject, sent }) => subject === 'total' && sent === '1')
  })
  const before = await counts()
  t.match(
    before.find(({ subject }) => subject === 'total'),
    { processed: '1', soft_bounced: '1', deferred: '1', sent: '1', hard_bounced: '0', dropped: '0' },
  )
  await core.stats.recount({ accountId })
  t.same(await counts(), before)

  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const log = await core.eventLog.page({ accountId, first: day, limit: 10 }, (row) => row)
  t.match(log.rows, [{ status: 'sent', remarks: /taken/ }], 'the log shows the new result, not the bounce')

  const again = await postrider(env, 'message', 'requeue', id)
  t.equal(again.code, 1)
  t.equal(
    again.stderr,
    `postrider: no delivery of message ${id} was requeued\nlena@harbor.example was already delivered\n`,
  )
})

t.test('a requeued delivery has the class, group, bypass, data and lifetime of its message', async (t) => {
  const { service, core, sender, end, requeue } = await makeBounces(t)
  const { sql } = service
  const envelopes = [envelopeTo('lena@harbor.example', { reference: 'berth-4', attributes: { NAME: 'Lena' } })]
  const group = await core.groups.create(sender.accountId, { name: 'News', description: 'News', isDefault: false })
  const { messageId } = await acceptMessage(service, sender, {
    envelopes,
    settings: { class: 'urgent', deadline: 7200, bypass: ['hardbounce'], group: group.id },
  })
  const row = () => sql`
    select recipient, recipient_key, recipient_domain, kind, reference, personal, class, group_id, bypass,
           extract(epoch from expires_at - next_at)::float8 as lifetime, worker_id, only_host, set_aside
      from delivery_queue where message_id = ${messageId}::uuid`
  const before = await row()
  t.match(before, [{ class: 0, group_id: group.id, bypass: ['hardbounce'], reference: 'berth-4', lifetime: 7200 }])
  await end(() => POLICY as never)
  t.equal((await row()).length, 0)
  await moveClock(sql, '1 day')
  t.equal((await requeue(messageId)).code, 0)
  t.strictSame(await row(), before)
  t.match(
    await sql`select state, attempt, next_at <= service_now() as due, expires_at > service_now() as lives from delivery_queue`,
    [{ state: 'deferred', attempt: 1, due: true, lives: true }],
  )
})

t.test('what cannot be requeued is refused with the reason', async (t) => {
  const { accept, end, requeue, accountId, states, env, core, service } = await makeBounces(t)
  const to = (name: string) => `${name}@harbor.example`
  const id = await accept(['gone', 'policy', 'given', 'waits', 'twice', 'never'].map(to))
  const hex = id.replaceAll('-', '')
  await end((recipient) => {
    const outcomes = { gone: BOUNCED, policy: POLICY, given: DELIVERED, twice: INDETERMINATE, never: undefined }
    return outcomes[recipient.split('@')[0] as 'gone'] as never
  })
  // The last attempt of one may have been taken; then it expires.
  await moveClock(service.sql, '6 minutes')
  await end((recipient) => (recipient === to('twice') ? (POLICY as never) : undefined))
  t.strictSame(await states(id), ['bounced', 'bounced', 'delivered', 'sending', 'bounced', 'sending'])

  const one = (name: string) => requeue(id, '--recipient', to(name))
  const said = async (name: string) => {
    const { code, stderr } = await one(name)
    t.equal(code, 1)
    return stderr
  }
  const nothing = `postrider: no delivery of message ${hex} was requeued\n`
  t.equal(
    await said('gone'),
    `${nothing}gone@harbor.example is suppressed (hardbounce); remove the suppression first: ` +
      `postrider suppression remove --account ${accountId} --email gone@harbor.example\n`,
  )
  t.equal(await said('given'), `${nothing}given@harbor.example was already delivered\n`)
  t.equal(await said('waits'), `${nothing}waits@harbor.example is still in the queue (sending)\n`)
  t.equal(
    await said('twice'),
    `${nothing}twice@harbor.example cannot be requeued: after an attempt the connection was lost, so the server may already have the message\n`,
  )
  t.equal(await said('stranger'), `postrider: message ${hex} has no recipient stranger@harbor.example\n`)

  const all = await requeue(id)
  t.equal(all.code, 0)
  t.match(all.stdout, /^requeued policy@harbor\.example \(bounced after attempt 1\)\n(not requeued: .*\n){5}follow it/)
  t.strictSame(await states(id), ['bounced', 'deferred', 'delivered', 'sending', 'bounced', 'sending'])

  await postrider(env, 'suppression', 'remove', '--account', String(accountId), '--email', to('gone'))
  t.equal((await one('GONE')).code, 0, 'addresses are compared without case')
  await postrider(env, 'suppression', 'add', '--global', '--domain', 'harbor.example')
  const [other] = [await accept([to('second')])]
  t.ok(other)
  const dropped = await requeue(other as string)
  t.match(dropped.stderr, /second@harbor\.example was dropped \(global\); only bounced and expired deliveries/)
  t.equal((await core.messages.show(id))?.deliveries[0]?.state, 'deferred')
})

t.test('a message without its body, or with a lost domain, is refused', async (t) => {
  const { accept, end, requeue, service, sender, rows } = await makeBounces(t)
  const { sql } = service
  const id = await accept(['lena@harbor.example'])
  await end(() => POLICY as never)
  await sql`update domains set state = 'rejected' where name = ${sender.domain}`
  t.match((await requeue(id)).stderr, /cannot be requeued: its sending domain was lost or rejected/)
  await sql`update domains set state = 'active' where name = ${sender.domain}`
  await sql`delete from bodies where message_id = ${id}::uuid`
  t.match((await requeue(id)).stderr, /cannot be requeued: its body is no longer stored/)
  t.strictSame(await rows(id), { queued: 0, finished: 1 })
})

t.test('while recipients are being erased nothing is requeued', async (t) => {
  const { accept, end, requeue, core, accountId, rows } = await makeBounces(t)
  const id = await accept(['lena@harbor.example', 'mira@harbor.example'])
  await end(() => POLICY as never)
  await core.privacy.forget(accountId, ['mira@harbor.example'])
  t.match(
    (await requeue(id)).stderr,
    /could not requeue message \w+: recipients of account \d+ are being erased; retry/,
  )
  t.strictSame(await rows(id), { queued: 0, finished: 2 })
})

t.test('requeued by several calls at the same time, a delivery is queued once', async (t) => {
  const { accept, end, env, rows, core } = await makeBounces(t)
  const id = await accept(['lena@harbor.example', 'mira@harbor.example'])
  await end(() => POLICY as never)
  const calls = await Promise.all(Array.from({ length: 4 }, () => postrider(env, 'message', 'requeue', id)))
  t.strictSame(calls.map(({ code }) => code).sort(), [0, 1, 1, 1])
  t.match(calls.find(({ code }) => code === 1)?.stderr, /lena@harbor\.example is still in the queue \(deferred\)/)
  t.strictSame(await rows(id), { queued: 2, finished: 0 })
  const deferred = (await core.messages.show(id))?.events.filter(({ type }) => type === 'deferred')
  t.equal(deferred?.length, 2)
})

t.test('an expired delivery is tried again with the number after its last attempt', async (t) => {
  const { accept, end, requeue, env, core, service } = await makeBounces(t)
  const id = await accept(['lena@harbor.example'])
  const later = {
    ...BOUNCED,
    kind: 'deferred',
    indeterminate: false,
    reply: { code: 451, enhanced: '4.7.1', text: 'later' },
  }
  for (const clock of ['2 minutes', '80 hours', '81 hours']) {
    await end(() => later as never)
    await moveClock(service.sql, clock)
  }
  t.match((await core.messages.show(id))?.deliveries, [{ state: 'expired', attempt: 3 }])
  const result = await answered<{ requeued: unknown[]; refused: unknown[] }>(env, 'message', 'requeue', id)
  t.match(result, { requeued: [{ recipientNo: 0, state: 'expired', attempt: 3 }], refused: [] })
  t.match(await end(() => DELIVERED as never), [{ attempt: 4 }])
  t.match((await core.messages.show(id))?.deliveries, [{ state: 'delivered', attempt: 4 }])
  t.equal((await requeue(id)).code, 1)
})
