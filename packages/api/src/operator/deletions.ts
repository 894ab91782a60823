import { deletionProblemText, GRACE_DAYS } from '@postrider/core'
import { Type } from 'typebox'
import { type Operation, operation } from './operation.ts'
import { OperatorRefusal } from './refusal.ts'

const NOTHING = Type.Object({})
/** Ids are Postgres integers. */
const ID = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

/** The deletion of accounts. */
export const DELETIONS: readonly Operation[] = [
  operation({
    name: 'planDeletion',
    summary: 'Plan the deletion of an account. Nothing is changed yet',
    cli: 'account delete',
    method: 'POST',
    path: '/accounts/:account/deletion',
    params: Type.Object({ account: ID }),
    input: Type.Object({ graceDays: Type.Optional(Type.Integer({ minimum: 0, maximum: GRACE_DAYS.most })) }),
    act: ({ account, graceDays }, { core }) => core.retention.deletions.plan(account, graceDays),
  }),
  operation({
    name: 'confirmDeletion',
    summary: 'Close the account of a plan, and delete it after its days of grace',
    cli: 'account delete',
    method: 'POST',
    path: '/deletions/:id/confirm',
    params: Type.Object({ id: ID }),
    input: NOTHING,
    async act({ id }, { core, by }) {
      const result = await core.retention.deletions.confirm(id, by)
      if (!('why' in result)) return result
      const { why } = result
      const code = `plan${why.charAt(0).toUpperCase()}${why.slice(1)}`
      throw new OperatorRefusal(why === 'unknown' ? 404 : 409, code, deletionProblemText(result, id))
    },
  }),
  operation({
    name: 'restoreAccount',
    summary: 'Open a closed account again',
    cli: 'account restore',
    method: 'POST',
    path: '/accounts/:account/restore',
    params: Type.Object({ account: ID }),
    input: NOTHING,
    act: ({ account }, { core, by }) => core.retention.deletions.restore(account, by),
  }),
  operation({
    name: 'listDeletions',
    summary: 'List the deletions of accounts',
    cli: 'account deletions',
    method: 'GET',
    path: '/deletions',
    params: NOTHING,
    input: NOTHING,
    act: async (_input, { core }) => ({ deletions: await core.retention.deletions.list() }),
  }),
]
