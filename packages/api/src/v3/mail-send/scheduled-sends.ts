import { BATCH_STATES, ServiceError } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { notFound, refuse } from '../refusal.ts'

const OfBatch = Type.Object({ batch_id: Type.String({ minLength: 1, maxLength: 100 }) })
const State = Type.Enum([...BATCH_STATES])
const ALL = '/user/scheduled_sends'
const ONE = `${ALL}/:batch_id`
const sending = { scope: 'send', section: '7.1' } as const

/** Batches of scheduled messages, and their pausing and cancelling (contract 7.1). */
export const SCHEDULED_SENDS: readonly Operation[] = [
  operation({
    name: 'createBatch',
    summary: 'Create a batch id, valid for new messages for ten days',
    cli: 'batch create',
    ...sending,
    method: 'POST',
    path: '/mail/batch',
    right: 'mail.batch.create',
    status: 201,
    act: async (_input, { core, principal }) => ({ batch_id: await core.batches.create(principal.account.id) }),
  }),
  operation({
    name: 'viewBatch',
    summary: 'Validate a batch id',
    cli: 'batch show',
    ...sending,
    method: 'GET',
    path: '/mail/batch/:batch_id',
    right: 'mail.batch.read',
    status: 200,
    params: OfBatch,
    act: async ({ params: { batch_id } }, { core, principal }) => {
      if (!(await core.batches.isOpen(principal.account.id, batch_id))) throw unknownBatch()
      return { batch_id }
    },
  }),
  operation({
    name: 'holdBatch',
    summary: 'Pause or cancel the scheduled messages of a batch',
    cli: 'batch pause',
    ...sending,
    method: 'POST',
    path: ALL,
    right: 'user.scheduled_sends.create',
    status: 201,
    body: Type.Object({ ...OfBatch.properties, status: State }),
    act: async ({ body: { batch_id, status } }, call) => {
      await hold(call, batch_id, status, false)
      return { batch_id, status }
    },
  }),
  operation({
    name: 'listHeldBatches',
    summary: 'List the paused and cancelled batches',
    cli: 'batch list',
    ...sending,
    method: 'GET',
    path: ALL,
    right: 'user.scheduled_sends.read',
    status: 200,
    act: async (_input, call) => held(call),
  }),
  operation({
    name: 'viewHeldBatch',
    summary: 'Show one paused or cancelled batch, as a list',
    cli: 'batch show',
    ...sending,
    method: 'GET',
    path: ONE,
    right: 'user.scheduled_sends.read',
    status: 200,
    params: OfBatch,
    act: async ({ params }, call) => held(call, params.batch_id),
  }),
  operation({
    name: 'changeHeldBatch',
    summary: 'Cancel a paused batch',
    cli: 'batch cancel',
    ...sending,
    method: 'PATCH',
    path: ONE,
    right: 'user.scheduled_sends.update',
    status: 204,
    params: OfBatch,
    body: Type.Object({ status: State }),
    act: async ({ params: { batch_id }, body: { status } }, call) => {
      if ((await held(call, batch_id)).length === 0) throw notFound()
      await hold(call, batch_id, status, true)
    },
  }),
  operation({
    name: 'resumeBatch',
    summary: 'Resume a paused batch: its messages are sent when due. Cancelled messages stay discarded',
    cli: 'batch resume',
    ...sending,
    method: 'DELETE',
    path: ONE,
    right: 'user.scheduled_sends.delete',
    status: 204,
    params: OfBatch,
    act: async ({ params: { batch_id } }, { core, principal, by }) => {
      await core.batches.resume({ accountId: principal.account.id, id: batch_id, by }).catch(translateError(notFound))
    },
  }),
]

async function held({ core, principal }: Call, id?: string) {
  const batches = await core.batches.list(principal.account.id, id)
  return batches.map(({ id: batch_id, state: status }) => ({ batch_id, status }))
}

async function hold(
  { core, principal, by }: Call,
  id: string,
  state: 'pause' | 'cancel',
  again: boolean,
): Promise<void> {
  const act = { accountId: principal.account.id, id, by }
  await core.batches.hold(act, state, { again }).catch(translateError(unknownBatch))
}

function unknownBatch(): Error {
  return refuse(400, 'invalid batch id')
}

function translateError(unknown: () => Error): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ServiceError)) throw error
    if (error.errorName === 'batchUnknown') throw unknown()
    if (error.errorName === 'batchHasState') {
      throw refuse(400, 'a status update already exists for this batch id, try PATCH', 'batch_id')
    }
    if (error.errorName === 'batchesTooMany') throw refuse(400, 'max limit reached')
    throw error
  }
}
