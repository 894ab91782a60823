import { text } from 'node:stream/consumers'
import { defined, type Subaccount, type SubaccountCredit } from '@postrider/core'
import { type Answer, type Command, UsageError } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { findAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'

const CREDIT_TYPES = { unlimited: 'unlimited', 'one-time': 'one_time_credit' } as const
const CREDIT = 'Credit of its own: unlimited uses that of the account, one-time starts with 0'
const PASSWORD = 'Password of its holder; "-" reads it from stdin, so that it is not in the list of processes'

/** Accounts below an account, by their user names. */
export const subaccountCommands: readonly Command[] = [
  coreCommand({
    name: 'subaccount create',
    usage: 'USERNAME --account ID --email ADDRESS [--password PASSWORD|-] [--credit unlimited|one-time]',
    summary: 'Create a subaccount and its first API key (shown once)',
    parameters: {
      USERNAME: '3 to 64 letters, digits, dots, dashes and underscores',
      account: 'Number of the account above it',
      password: PASSWORD,
      credit: CREDIT,
    },
    examples: ['subaccount create dock2 --account 12 --email d2@ship.example'],
    run: async (core, { USERNAME: username, email, account, credit = 'unlimited', password }) => {
      const parent = await findAccount(core, account)
      const submitted = { username, email, password: await passwordOf(password), creditType: CREDIT_TYPES[credit] }
      const made = await core.subaccounts.create(parent, submitted)
      return {
        data: { ...made.subaccount, apiKey: made.secret },
        text: `subaccount ${made.subaccount.username}\nAPI key ${made.secret} (shown once)`,
      }
    },
  }),
  coreCommand({
    name: 'subaccount list',
    usage: '--account ID [--limit N] [--after ROWS]',
    summary: 'List the subaccounts of an account by name, with their use in the last 30 days',
    parameters: { after: 'Number of subaccounts after which the page begins' },
    run: async ({ subaccounts }, { account, limit, after: offset }) => {
      const found = await subaccounts.figures(account, { limit, offset })
      const rows = found.subaccounts.map((one) => [
        one.username,
        one.id,
        one.email,
        one.disabled ? 'disabled' : 'active',
        one.credit.limited ? one.credit.available : 'unlimited',
        one.used,
      ])
      const shown = tableOr('no subaccounts', ['user name', 'account', 'email', 'state', 'credit', 'used'], rows)
      const next = offset + rows.length
      const rest = found.total - next
      return { data: found, text: rest > 0 ? `${shown}\n${rest} more; continue with --after ${next}` : shown }
    },
  }),
  coreCommand({
    name: 'subaccount update',
    usage: 'USERNAME --account ID [--email ADDRESS] [--password PASSWORD|-] [--credit unlimited|one-time]',
    summary: "Change a subaccount's email, password or kind of credit",
    detail: 'A change to unlimited returns its remaining credit to the account',
    parameters: { password: PASSWORD, credit: CREDIT },
    prepare: async ({ USERNAME: name, account, email, credit, password }) => {
      const creditType = credit && CREDIT_TYPES[credit]
      const changes = defined({ email, creditType, password: await passwordOf(password) })
      if (Object.keys(changes).length === 0) throw new UsageError('no changes given')
      return async ({ subaccounts }) => changed(await subaccounts.update(account, name, changes), 'changed')
    },
  }),
  coreCommand({
    name: 'subaccount disable',
    usage: 'USERNAME --account ID',
    summary: 'Disable a subaccount: its keys are rejected. Takes effect within 5 seconds',
    run: async ({ subaccounts }, { USERNAME: name, account }) =>
      changed(await subaccounts.setDisabled(account, name, true), 'disabled'),
  }),
  coreCommand({
    name: 'subaccount enable',
    usage: 'USERNAME --account ID',
    summary: 'Enable a disabled subaccount',
    run: async ({ subaccounts }, { USERNAME: name, account }) =>
      changed(await subaccounts.setDisabled(account, name, false), 'enabled'),
  }),
  coreCommand({
    name: 'subaccount credit',
    usage: 'USERNAME --account ID [--add NUMBER | --take NUMBER]',
    summary: "Move credit between an account and a subaccount, or show the subaccount's",
    parameters: { add: 'Number of recipients to move to the subaccount', take: 'Number of recipients to take back' },
    examples: ['subaccount credit dock2 --account 12 --add 500'],
    prepare: ({ USERNAME: name, account, add, take }) => {
      if (add !== undefined && take !== undefined) throw new UsageError('--add and --take cannot be used together')
      return async ({ subaccounts }) => {
        if (add !== undefined) return creditAnswer(await subaccounts.increase(account, name, add))
        if (take !== undefined) return creditAnswer(await subaccounts.decrease(account, name, take))
        return creditAnswer(await subaccounts.credit(account, name))
      }
    },
  }),
  coreCommand({
    name: 'subaccount recurring',
    usage: 'USERNAME --account ID --amount NUMBER --every day|week|month --from DAY --until DAY [--inactive]',
    summary: "Set a subaccount's credit per period",
    parameters: {
      amount: 'Number of recipients per period',
      every: 'Length of the period',
      from: 'First day (UTC), for example 2030-01-31',
      until: 'Last day (UTC)',
      inactive: 'Store it, but do not grant it yet',
    },
    examples: [
      'subaccount recurring dock2 --account 12 --amount 5000 --every month --from 2030-01-01 --until 2030-12-31',
    ],
    run: async ({ subaccounts }, { USERNAME: name, account, inactive, ...credit }) =>
      creditAnswer(await subaccounts.setRecurring(account, name, { ...credit, active: !inactive })),
  }),
  coreCommand({
    name: 'subaccount delete',
    destroys: true,
    usage: 'USERNAME --account ID',
    summary: 'Delete a subaccount; its remaining credit is returned to the account',
    look: ({ subaccounts }, { USERNAME: name, account }) => subaccounts.credit(account, name),
    run: async ({ subaccounts }, { USERNAME: name, account: accountId }) => {
      const { returned } = await subaccounts.remove(accountId, name)
      return { data: { deleted: name, returned }, text: `subaccount ${name} deleted; ${returned} credits returned` }
    },
  }),
]

function changed(subaccount: Subaccount, done: string): Answer {
  return { data: subaccount, text: `subaccount ${subaccount.username} is ${done}` }
}

function creditAnswer(credit: SubaccountCredit): Answer {
  const { username, limited, available } = credit
  return {
    data: credit,
    text: limited
      ? `subaccount ${username} has ${available} credits left`
      : `subaccount ${username} has no credit limit`,
  }
}

async function passwordOf(option: string | undefined): Promise<string | undefined> {
  return option === '-' ? (await text(process.stdin)).trimEnd() : option
}
