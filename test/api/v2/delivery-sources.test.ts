import t from 'tap'
import { makeWhy } from './why.ts'

const { core, service, register, why, parked } = await makeWhy(t)
const { sources } = core
const workerId = await register()
const { id: sourceId } = await sources.add({ name: 'mta-1', address: '192.0.2.1', helo: 'mta-1.example.com' })
const mailAt = (waitingFor: Parameters<typeof parked>[0]) => parked(waitingFor, 'yahoo@mta-1')

t.test('no-source: no running worker has the source address', async (t) => {
  const id = await mailAt('source')
  const row = await why(id)
  t.match(row, { state: 'queued', waitingFor: 'no-source', place: 'yahoo@mta-1', nextAt: null, expected: null })
  t.match(row.text, 'No running worker has the source address mta-1, and no other one of its pool can send.')
  await sources.register(workerId, [sourceId])
  t.match(await why(id), { waitingFor: 'moment', text: /^A worker that has the source address mta-1 delivers it next/ })
})

t.test('source-paused: the operator paused it; the reason is only for the operator', async (t) => {
  const id = await mailAt('source')
  await sources.change('mta-1', { pause: 'listed by a block list' })
  const row = await why(id)
  t.match(row, { waitingFor: 'source-paused', expected: null })
  t.equal(row.text, 'The source address mta-1 is paused, and no other one of its pool can send.')
  const shown = await core.messages.why({ messageId: id })
  t.match(shown?.deliveries[0]?.text, / Reason: listed by a block list$/)
  await sources.change('mta-1', { pause: null })
})

t.test('warm-up: a new source has sent what it may send to the provider', async (t) => {
  const row = await why(await mailAt('warm-up'))
  t.match(row, { waitingFor: 'warm-up', nextAt: null })
  t.match(
    row.text,
    'The source address mta-1 is new. It has sent what it may send to the provider yahoo within this hour or day',
  )
})

t.test('the source is named with the limits of its destination, and a pause of one source says so', async (t) => {
  const row = await why(await mailAt('connections'))
  t.match(row.text, 'All connections that the provider yahoo from the source address mta-1 allows are in use.')
  const pause = {
    accountId: null,
    setting: 'pause',
    value: null,
    seconds: null,
    lasts: 7200,
    reason: '421 slow',
  } as const
  await core.deliveries.limits.set({ ...pause, place: 'yahoo', rule: 'yahoo-tss04' })
  t.match(
    await why(await mailAt('pause')),
    { waitingFor: /^(fair-share|moment)$/ },
    'a rule pauses one source, not the others',
  )
  await core.deliveries.limits.set({ ...pause, place: 'yahoo', rule: 'operator' })
  t.match(await why(await mailAt('pause')), { waitingFor: 'provider-pause' }, 'the operator pauses all')
})

t.test('operator-hold: the operator holds it until its lifetime ends', async (t) => {
  const id = await parked('connections', 'pier')
  const plan = await core.queue.plan('hold', { place: 'pier' })
  await core.queue.confirm(plan.id, 'hold')
  while (await core.queue.workSome());
  const row = await why(id)
  t.match(row, { waitingFor: 'operator-hold', nextAt: null, expected: null })
  t.match(row.text, /^The operator holds it\. It expires at .* unless it is released before\.$/)
})

t.test('the expected time follows from how fast the mail of the account was tried there lately', async (t) => {
  const ids = [await parked('rate', 'quay'), await parked('rate', 'quay')]
  // Parked mail is looked at in random order.
  const inOrder = async () =>
    (await Promise.all(ids.map((id) => why(id)))).sort((a, b) => Number(a.ahead) - Number(b.ahead))
  t.match((await inOrder())[1], { expected: { p50: null, basis: /^no estimate: fewer than 20/ } })
  const [row] = await service.sql<{ accountId: number }[]>`
    select account_id as "accountId" from delivery_queue where place = 'quay' limit 1`
  const flow = { accountId: row?.accountId as number, class: 1, place: 'quay' } as const
  await core.deliveries.addProgress([{ ...flow, tried: 100 }])
  await service.sql`update flow_progress set since = since - interval '100 seconds'`
  await core.deliveries.addProgress([{ ...flow, tried: 100 }])
  const asked = Date.now()
  const [first, second] = await inOrder()
  const answered = Date.now()
  const { expected, ahead } = second ?? {}
  t.equal(ahead, 1)
  t.match(expected?.basis, /^1 are ahead, and 200 deliveries of the account were tried there within the last 1\d\d s$/)
  // It is estimated at some time between the two.
  const at = Date.parse(expected?.p50 ?? '')
  t.ok(at - asked > 500 && at - answered < 1500, `${at - asked} ms, and ${at - answered} after the answer`)
  t.ok(Date.parse(first?.expected?.p50 ?? '') < Date.parse(expected?.p50 ?? ''))
})
