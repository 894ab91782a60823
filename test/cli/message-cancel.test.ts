import t, { type Test } from 'tap'
import { BOUNCED, DEFERRED, makeQueue, recipients } from '../core/delivery/queue-of.ts'
import { countAll } from '../core/reporting/statistics/happen.ts'
import { answered, postrider } from './postrider.ts'

async function makeCancelling(t: Test) {
  const queue = await makeQueue(t)
  const { service, core, sender } = queue
  const cancel = (id: string, ...more: string[]) => postrider(service.env, 'message', 'cancel', id, '--yes', ...more)
  const states = async (id: string) => (await core.messages.show(id))?.deliveries.map(({ state }) => state)
  return { ...queue, env: service.env, cancel, states, accountId: sender.accountId }
}

t.test('message cancel drops what waits, and leaves what is in flight or final', async (t) => {
  const { core, accept, register, claimAll, cancel, states, service, accountId, env } = await makeCancelling(t)
  const id = await accept(recipients(4))
  const hex = id.replaceAll('-', '')
  const workerId = await register()
  const claimed = await claimAll(workerId)
  const of = (no: number) => claimed.find(({ recipientNo }) => recipientNo === no)!
  await core.deliveries.record([
    { ...of(0), workerId, outcome: BOUNCED },
    { ...of(1), workerId, outcome: DEFERRED },
  ])
  await core.deliveries.release(workerId, [of(2)], 60)
  t.strictSame(await states(id), ['bounced', 'deferred', 'queued', 'sending'])

  const { code, stdout } = await cancel(id)
  t.equal(code, 0)
  t.equal(
    stdout,
    `cancelled 2 deliveries of message ${hex}; not cancelled: 1 in flight, 1 already final\n` +
      'a delivery in flight that is deferred returns to the queue; repeat the command to cancel it\n',
  )
  t.strictSame(await states(id), ['bounced', 'dropped', 'dropped', 'sending'])
  const story = await core.messages.show(id)
  t.strictSame(
    story?.deliveries.map(({ reason, attempt }) => [reason, attempt]),
    [
      [null, 1],
      ['operator', 1],
      ['operator', 0],
      [null, 1],
    ],
  )
  t.match(
    story?.events.filter(({ type }) => type === 'dropped'),
    [{ detail: { reason: 'operator' } }, { detail: { reason: 'operator' } }],
  )
  const [entry] = (await core.audit.list(accountId, { after: 0, limit: 100 })).slice(-1)
  t.match(entry, { action: 'message.cancel', object: `message ${hex}`, after: { cancelled: 2 }, keyId: null })

  const again = await cancel(id)
  t.equal(again.code, 1)
  t.equal(again.stderr, `postrider: no delivery of message ${hex} can be cancelled: 1 in flight, 3 already final\n`)

  await core.deliveries.record([{ ...of(3), workerId, outcome: DEFERRED }])
  t.strictSame(await answered(env, 'message', 'cancel', id, '--yes'), { id: hex, cancelled: 1, inFlight: 0, final: 3 })
  t.equal((await claimAll(workerId)).length, 0, 'nothing is left to send')
  await countAll(service)
  const [counts] = await service.sql`
    select processed, dropped, late_dropped, hard_bounced from roll_ups where account_id = ${accountId} and subject = 'total'`
  t.match(counts, { processed: '4', dropped: '3', late_dropped: '3', hard_bounced: '1' })
})

t.test('scheduled mail is cancelled too, by either form of the id, and its credits stay charged', async (t) => {
  const { accept, cancel, core, accountId, service } = await makeCancelling(t)
  const id = await accept(['lena@harbor.example'], new Date(Date.now() + 3_600_000))
  const before = await core.credits.show(accountId)
  const short = Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
  const { stdout } = await cancel(short)
  t.equal(stdout, `cancelled 1 delivery of message ${id.replaceAll('-', '')}\n`)
  t.strictSame(await core.credits.show(accountId), before)
  t.equal((await service.sql`select from delivery_queue`).count, 0)
})

t.test('a claim and a cancellation at the same time share the deliveries between them', async (t) => {
  const { accept, register, claimAll, env, states } = await makeCancelling(t)
  const workerId = await register()
  for (let round = 0; round < 5; round++) {
    const id = await accept(recipients(200))
    const [claimed, ran] = await Promise.all([
      claimAll(workerId),
      postrider(env, 'message', 'cancel', id, '--yes', '--json'),
    ])
    const cancelled = ran.code === 0 ? (JSON.parse(ran.stdout) as { cancelled: number }).cancelled : 0
    const after = (await states(id)) ?? []
    t.equal(after.filter((state) => state === 'sending').length, claimed.length)
    t.equal(after.filter((state) => state === 'dropped').length, cancelled)
    t.equal(claimed.length + cancelled, 200)
  }
})

t.test('an unknown message is reported', async (t) => {
  const { cancel } = await makeCancelling(t)
  for (const id of ['../../etc', '0'.repeat(32)]) {
    const { code, stderr } = await cancel(id)
    t.equal(code, 1)
    t.match(stderr, `postrider: message "${id}" not found; the id is in the response of sendEmail`)
  }
})
