import type { Caller, Setting, Wall } from './entry.ts'

async function makeBatch({ act }: Setting, owner: Caller): Promise<string> {
  return String(((await act(owner, 'createBatch')) as { batch_id: string }).batch_id)
}

async function pauseBatch(setting: Setting, owner: Caller): Promise<string> {
  const batch_id = await makeBatch(setting, owner)
  await setting.act(owner, 'holdBatch', { body: { batch_id, status: 'pause' } })
  return batch_id
}

const NONE = { params: { batch_id: 'none' } }

export const scheduledSends: Wall = {
  createBatch: {
    kind: 'own',
    input: {},
    seen: ['listHeldBatches', {}],
    unseen: 'a batch is in no list until it is held',
  },
  viewBatch: {
    kind: 'object',
    make: async (setting, owner) => ({ params: { batch_id: await makeBatch(setting, owner) } }),
    missing: NONE,
    seen: ({ params }) => ['viewBatch', { params: params ?? {} }],
  },
  holdBatch: {
    kind: 'object',
    make: async (setting, owner) => ({ body: { batch_id: await makeBatch(setting, owner), status: 'cancel' } }),
    missing: { body: { batch_id: 'none', status: 'cancel' } },
    seen: ({ body }) => ['viewBatch', { params: { batch_id: String((body as { batch_id: string }).batch_id) } }],
  },
  listHeldBatches: { kind: 'list', make: pauseBatch },
  viewHeldBatch: {
    kind: 'object',
    make: async (setting, owner) => ({ params: { batch_id: await pauseBatch(setting, owner) } }),
    missing: NONE,
    seen: ({ params }) => ['viewHeldBatch', { params: params ?? {} }],
  },
  changeHeldBatch: {
    kind: 'object',
    make: async (setting, owner) => ({
      params: { batch_id: await pauseBatch(setting, owner) },
      body: { status: 'cancel' },
    }),
    missing: NONE,
    seen: ({ params }) => ['viewHeldBatch', { params: params ?? {} }],
  },
}
