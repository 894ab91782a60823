import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import type { CallAnswer } from '../call.ts'
import { type AskOptions, ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const service = await makeService(t)
const url = await service.openApi()

async function makeCaller() {
  const sender = await service.makeSender()
  const call = (method: string, path: string, body?: unknown): Promise<CallAnswer> =>
    ask(url, { method, path, key: sender.apiKey, body } as AskOptions)
  const makeBatch = async (): Promise<string> => {
    const { status, json } = await call('POST', '/mail/batch')
    if (status !== 201) throw new Error(`the batch was not made: ${status}`)
    return String(json?.batch_id)
  }
  return { ...sender, call, makeBatch }
}

t.test('P46: a batch is created by an empty call, paused and resumed', async (t) => {
  proves(t, 'operation.createBatch', 'operation.viewBatch', 'operation.holdBatch', 'operation.listHeldBatches')
  proves(t, 'operation.viewHeldBatch', 'operation.resumeBatch')
  const { call, makeBatch } = await makeCaller()
  const batch_id = await makeBatch()
  t.strictSame((await call('GET', `/mail/batch/${batch_id}`)).json, { batch_id })
  refusedV3(t, await call('GET', '/mail/batch/none'), [400, 'invalid batch id'])
  t.strictSame((await call('GET', '/user/scheduled_sends')).json, [])
  const paused = await call('POST', '/user/scheduled_sends', { batch_id, status: 'pause' })
  t.equal(paused.status, 201)
  t.strictSame(paused.json, { batch_id, status: 'pause' })
  t.strictSame((await call('GET', '/user/scheduled_sends')).json, [{ batch_id, status: 'pause' }])
  t.strictSame((await call('GET', `/user/scheduled_sends/${batch_id}`)).json, [{ batch_id, status: 'pause' }])
  t.equal((await call('DELETE', `/user/scheduled_sends/${batch_id}`)).status, 204)
  t.strictSame((await call('GET', `/user/scheduled_sends/${batch_id}`)).json, [])
  refusedV3(t, await call('DELETE', `/user/scheduled_sends/${batch_id}`), [404, 'resource not found'])
})

t.test('a paused batch is cancelled by PATCH; a second status is rejected', async (t) => {
  proves(t, 'operation.changeHeldBatch')
  const { call, makeBatch } = await makeCaller()
  const batch_id = await makeBatch()
  refusedV3(t, await call('PATCH', `/user/scheduled_sends/${batch_id}`, { status: 'cancel' }), [
    404,
    'resource not found',
  ])
  await call('POST', '/user/scheduled_sends', { batch_id, status: 'pause' })
  refusedV3(t, await call('POST', '/user/scheduled_sends', { batch_id, status: 'cancel' }), [
    400,
    /try PATCH/,
    'batch_id',
  ])
  t.equal((await call('PATCH', `/user/scheduled_sends/${batch_id}`, { status: 'cancel' })).status, 204)
  t.strictSame((await call('GET', `/user/scheduled_sends/${batch_id}`)).json, [{ batch_id, status: 'cancel' }])
})

t.test('an invalid batch or status is rejected', async (t) => {
  const { call, makeBatch, accountId } = await makeCaller()
  const batch_id = await makeBatch()
  refusedV3(t, await call('POST', '/user/scheduled_sends', { batch_id: 'none', status: 'pause' }), [
    400,
    'invalid batch id',
  ])
  for (const path of ['/mail/batch/%00', '/mail/batch/a%00b']) {
    refusedV3(t, await call('GET', path), [404, 'resource not found'])
  }
  refusedV3(t, await call('POST', '/user/scheduled_sends', { batch_id: 'a\0b', status: 'pause' }), [
    400,
    'batch_id must not contain NUL.',
    'batch_id',
  ])
  refusedV3(t, await call('GET', '/user/scheduled_sends/%00'), [404, 'resource not found'])
  refusedV3(t, await call('POST', '/user/scheduled_sends', { batch_id, status: 'stop' }), [400, /./, 'status'])
  refusedV3(t, await call('POST', '/user/scheduled_sends', { status: 'pause' }), [400, /required/, 'batch_id'])
  refusedV3(t, await call('POST', '/user/scheduled_sends', { batch_id: 7, status: 'pause' }), [
    400,
    /string/,
    'batch_id',
  ])
  await service.sql`insert into batches (account_id, id, state)
                    select ${accountId}, 'held ' || n, 'pause' from generate_series(1, 100) n`
  refusedV3(t, await call('POST', '/user/scheduled_sends', { batch_id, status: 'pause' }), [400, 'max limit reached'])
})
