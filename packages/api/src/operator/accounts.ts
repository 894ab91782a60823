import { classOf, DELIVERY_CLASSES } from '@postrider/core'
import { Type } from 'typebox'
import { type Operation, operation } from './operation.ts'

const NOTHING = Type.Object({})
/** Ids are Postgres integers. */
const ACCOUNT = Type.Object({ account: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) })

/** The standing of accounts (docs/reputation.md). Purging a held account is left to the command: it may take minutes. */
export const ACCOUNTS: readonly Operation[] = [
  operation({
    name: 'listHolds',
    summary: 'List the accounts whose mail is held or slowed',
    cli: 'account standing',
    method: 'GET',
    path: '/holds',
    params: NOTHING,
    input: NOTHING,
    act: async (_input, { core }) => ({ holds: await core.reputation.list() }),
  }),
  operation({
    name: 'getStanding',
    summary: 'Show the reputation of an account',
    cli: 'account standing',
    method: 'GET',
    path: '/accounts/:account/standing',
    params: ACCOUNT,
    input: NOTHING,
    act: ({ account }, { core }) => core.reputation.show(account),
  }),
  operation({
    name: 'setAccountRules',
    summary: 'Choose the reputation rules of an account',
    cli: 'account rules',
    method: 'POST',
    path: '/accounts/:account/rules',
    params: ACCOUNT,
    input: Type.Object({ rules: Type.String({ maxLength: 20 }) }),
    async act({ account, rules }, { core, by }) {
      await core.reputation.setRules(account, rules === 'default' ? null : rules, by)
      return core.reputation.show(account)
    },
  }),
  operation({
    name: 'renameAccount',
    summary: 'Rename an account',
    cli: 'account rename',
    method: 'POST',
    path: '/accounts/:account/rename',
    params: ACCOUNT,
    input: Type.Object({ name: Type.String({ maxLength: 1000 }) }),
    act: ({ account, name }, { core, by }) => core.accounts.rename(account, name, by),
  }),
  operation({
    name: 'holdAccount',
    summary: 'Hold the mail of an account',
    cli: 'account hold',
    method: 'POST',
    path: '/accounts/:account/hold',
    params: ACCOUNT,
    input: Type.Object({
      reason: Type.String({ maxLength: 1000 }),
      class: Type.Optional(Type.Enum([...DELIVERY_CLASSES])),
    }),
    async act({ account, reason, class: name }, { core, by }) {
      const classes = name === undefined ? {} : { classes: [classOf(name)] }
      await core.reputation.hold({ accountId: account, reason, ...classes }, by)
      return core.reputation.show(account)
    },
  }),
  operation({
    name: 'releaseAccount',
    summary: 'Release the held mail of an account',
    cli: 'account release',
    method: 'POST',
    path: '/accounts/:account/release',
    params: ACCOUNT,
    input: NOTHING,
    act: async ({ account }, { core, by }) => ({ dropped: 0, rules: await core.reputation.release(account, by) }),
  }),
]
