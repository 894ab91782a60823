import { type BatchState, OPERATOR, ServiceError } from '@postrider/core'
import type { Command } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'

const BATCH = { BATCH: 'Id of the batch' }

/** Scheduled messages that are paused, resumed and cancelled together. */
export const batchCommands: readonly Command[] = [
  coreCommand({
    name: 'batch create',
    usage: '--account ID',
    summary: 'Create the id of a batch, valid for new messages for ten days',
    run: async (core, { account: accountId }) => {
      await requireAccount(core, accountId)
      const id = await core.batches.create(accountId)
      return { data: { id }, text: `batch ${id}` }
    },
  }),
  coreCommand({
    name: 'batch list',
    usage: '--account ID',
    summary: 'List the paused and cancelled batches of an account',
    run: async ({ batches }, { account: accountId }) => {
      const found = await batches.list(accountId)
      const rows = found.map(({ id, state }) => [id, WORDS[state]])
      return { data: found, text: tableOr('no paused or cancelled batches', ['batch', 'state'], rows) }
    },
  }),
  coreCommand({
    name: 'batch show',
    usage: 'BATCH --account ID',
    summary: 'Show whether a batch still takes messages, and whether it is paused or cancelled',
    parameters: BATCH,
    run: async ({ batches }, { BATCH: id, account: accountId }) => {
      const [isOpen, [held]] = [await batches.isOpen(accountId, id), await batches.list(accountId, id)]
      const state = held === undefined ? 'not paused or cancelled' : WORDS[held.state]
      const takes = isOpen ? 'takes messages' : 'takes no more messages'
      return { data: { id, isOpen, state: held?.state ?? null }, text: `batch ${id} ${takes}; it is ${state}` }
    },
  }),
  hold('pause', 'Pause the scheduled messages of a batch'),
  hold('cancel', 'Cancel the scheduled messages of a batch permanently'),
  coreCommand({
    name: 'batch resume',
    usage: 'BATCH --account ID',
    summary: 'Resume a paused batch: its messages are sent when they are due',
    parameters: BATCH,
    run: async ({ batches }, { BATCH: id, account: accountId }) => {
      await batches.resume({ id, accountId, by: OPERATOR })
      return { data: { id, state: null }, text: `batch ${id} is resumed` }
    },
  }),
]

const WORDS: Readonly<Record<BatchState, string>> = { pause: 'paused', cancel: 'cancelled' }

function hold(state: BatchState, summary: string): Command {
  return coreCommand({
    name: `batch ${state}`,
    ...(state === 'cancel' ? { destroys: true } : {}),
    usage: 'BATCH --account ID',
    summary,
    parameters: BATCH,
    look: async ({ batches }, { BATCH: id, account }) => {
      if (!(await batches.exists(account, id))) throw new ServiceError('batchUnknown')
    },
    run: async ({ batches }, { BATCH: id, account: accountId }) => {
      await batches.hold({ id, accountId, by: OPERATOR }, state, { again: true })
      return { data: { id, state }, text: `batch ${id} is ${WORDS[state]}` }
    },
  })
}
