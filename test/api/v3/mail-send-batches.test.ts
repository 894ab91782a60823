import t from 'tap'
import { until } from '../../helpers/until.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { makeMailArrivals } from './mail-arrivals.ts'

const { service, base, sender, send, copies, story } = await makeMailArrivals(t)
const { core, sql } = service
const { accountId, apiKey: key } = sender

async function makeBatch(): Promise<string> {
  return String((await ask(base, { method: 'POST', path: '/mail/batch', key })).json?.batch_id)
}
const hold = (batch_id: string, status: string) =>
  ask(base, { method: 'POST', path: '/user/scheduled_sends', key, body: { batch_id, status } })
const stateOf = async (answer: Awaited<ReturnType<typeof send>>) => (await story(answer)).deliveries[0]

t.test('P46: scheduled messages of a batch are paused, resumed and cancelled with it', async (t) => {
  proves(t, 'batch_id')
  const [paused, cancelled, other] = [await makeBatch(), await makeBatch(), await makeBatch()]
  const at = Math.floor(Date.now() / 1000) + 3
  const [first, second, third] = await Promise.all(
    [paused, cancelled, other].map((batch_id) => send({ batch_id, send_at: at })),
  )
  if (!first || !second || !third) throw new Error('not sent')
  t.equal((await hold(paused, 'pause')).status, 201)
  t.equal((await hold(cancelled, 'cancel')).status, 201)
  await copies(third)
  t.match(await stateOf(second), { state: 'dropped', reason: 'cancelled' })
  t.match(await stateOf(first), { state: 'scheduled' })
  t.match(
    await stateOf(await send({ batch_id: cancelled, send_at: at + 60 })),
    { state: 'dropped' },
    'what comes later too',
  )
  await ask(base, { method: 'DELETE', path: `/user/scheduled_sends/${paused}`, key })
  t.equal((await copies(first)).length, 1)
})

t.test('an unknown batch, another account’s and one past its time are refused', async (t) => {
  const closed = await makeBatch()
  await sql`update batches set created_at = service_now() - interval '11 days' where id = ${closed}`
  const stranger = await service.makeSender()
  const others = await core.batches.create(stranger.accountId)
  for (const batch_id of ['none', closed, others, 'a'.repeat(300), 'a\u0000b']) {
    refusedV3(t, await send({ batch_id }), [400, 'invalid batch id', 'batch_id'], batch_id)
  }
  t.equal((await send({ batch_id: await makeBatch() })).status, 202)
})

t.test('row 54: an unknown group is rejected', async (t) => {
  proves(t, 'asm.group_id-unknown')
  const stranger = await service.makeSender()
  const others = await core.groups.create(stranger.accountId, { id: 77, name: 'x', description: 'd', isDefault: false })
  const gone = await core.groups.create(accountId, { name: 'Gone', description: 'd', isDefault: false })
  await core.groups.remove({ accountId, id: gone.id })
  for (const id of [others.id, gone.id, 311]) {
    const sentence = `The ASM Group ID must be a valid Group ID on your account. You provided ${id}.`
    refusedV3(t, await send({ asm: { group_id: id } }), [400, sentence, 'asm.group_id'])
  }
  const mine = await core.groups.create(accountId, { name: 'Mine', description: 'd', isDefault: false })
  const answer = await send({ asm: { group_id: mine.id } })
  await until('it is sent', async () => (await stateOf(answer))?.state === 'delivered')
  t.match((await story(answer)).settings, { group: mine.id })
})
