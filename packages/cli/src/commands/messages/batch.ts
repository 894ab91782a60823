import { type BatchState, OPERATOR } from '@postrider/core'
import { type Answer, type Call, type Command, requiredId, requiredWord } from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'

const BATCH = { BATCH: 'Id of the batch' }

/** Scheduled messages that are paused, resumed and cancelled together. */
export const batchCommands: readonly Command[] = [
  {
    name: 'batch create',
    usage: '--account ID',
    summary: 'Create the id of a batch, valid for new messages for ten days',
    run: (call) => {
      const accountId = requiredId(call, 'account')
      return call.withCore(async (core) => {
        await requireAccount(core, accountId)
        const id = await core.batches.create(accountId)
        return { data: { id }, text: `batch ${id}` }
      })
    },
  },
  {
    name: 'batch list',
    usage: '--account ID',
    summary: 'List the paused and cancelled batches of an account',
    run: (call) => {
      const accountId = requiredId(call, 'account')
      return call.withCore(async ({ batches }) => {
        const found = await batches.list(accountId)
        const rows = found.map(({ id, state }) => [id, WORDS[state]])
        return {
          data: found,
          text: rows.length > 0 ? table(['batch', 'state'], rows) : 'no paused or cancelled batches',
        }
      })
    },
  },
  {
    name: 'batch show',
    usage: 'BATCH --account ID',
    summary: 'Show whether a batch still takes messages, and whether it is paused or cancelled',
    parameters: BATCH,
    run: (call) => {
      const { accountId, id } = named(call)
      return call.withCore(async ({ batches }) => {
        const [isOpen, [held]] = [await batches.isOpen(accountId, id), await batches.list(accountId, id)]
        const state = held === undefined ? 'not paused or cancelled' : WORDS[held.state]
        const takes = isOpen ? 'takes messages' : 'takes no more messages'
        return { data: { id, isOpen, state: held?.state ?? null }, text: `batch ${id} ${takes}; it is ${state}` }
      })
    },
  },
  hold('pause', 'Pause the scheduled messages of a batch'),
  hold('cancel', 'Cancel the scheduled messages of a batch permanently'),
  {
    name: 'batch resume',
    usage: 'BATCH --account ID',
    summary: 'Resume a paused batch: its messages are sent when they are due',
    parameters: BATCH,
    run: (call) => {
      const act = { ...named(call), by: OPERATOR }
      return call.withCore(async ({ batches }) => {
        await batches.resume(act)
        return { data: { id: act.id, state: null }, text: `batch ${act.id} is resumed` }
      })
    },
  },
]

const WORDS: Readonly<Record<BatchState, string>> = { pause: 'paused', cancel: 'cancelled' }

function hold(state: BatchState, summary: string): Command {
  return {
    name: `batch ${state}`,
    usage: 'BATCH --account ID',
    summary,
    parameters: BATCH,
    run: (call): Promise<Answer> => {
      const act = { ...named(call), by: OPERATOR }
      return call.withCore(async ({ batches }) => {
        await batches.hold(act, state, { again: true })
        return { data: { id: act.id, state }, text: `batch ${act.id} is ${WORDS[state]}` }
      })
    },
  }
}

function named(call: Call): { accountId: number; id: string } {
  return { id: requiredWord(call, 'batch id'), accountId: requiredId(call, 'account') }
}
