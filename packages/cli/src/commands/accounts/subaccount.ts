import { text } from 'node:stream/consumers'
import { type Core, type CreditType, defined, type Subaccount, type SubaccountCredit } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  limitOption,
  requiredId,
  requiredText,
  requiredWord,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'
import { findAccount } from '../account-option.ts'

const PERIODS = ['day', 'week', 'month'] as const
const CREDIT_TYPES: Readonly<Record<string, CreditType>> = { unlimited: 'unlimited', 'one-time': 'one_time_credit' }
const CREDIT = 'Credit of its own: unlimited uses that of the account, one-time starts with 0'
const PASSWORD = 'Password of its holder; "-" reads it from stdin, so that it is not in the list of processes'

/** Accounts below an account, by their user names. */
export const subaccountCommands: readonly Command[] = [
  {
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
    async run(call) {
      const [username, email] = [requiredWord(call, 'user name'), requiredText(call, 'email')]
      const [accountId, creditType] = [requiredId(call, 'account'), creditOption(call) ?? 'unlimited']
      const password = await passwordOption(call)
      return call.withCore(async (core) => {
        const parent = await findAccount(core, accountId)
        const made = await core.subaccounts.create(parent, { username, email, password, creditType })
        return {
          data: { ...made.subaccount, apiKey: made.secret },
          text: `subaccount ${made.subaccount.username}\nAPI key ${made.secret} (shown once)`,
        }
      })
    },
  },
  {
    name: 'subaccount list',
    usage: '--account ID [--limit N] [--offset N]',
    summary: 'List the subaccounts of an account by name, with their use in the last 30 days',
    parameters: { offset: 'Number of subaccounts to leave out, for the next page' },
    run: (call) => {
      const [accountId, page] = [
        requiredId(call, 'account'),
        { limit: limitOption(call), offset: wholeOption(call, 'offset') ?? 0 },
      ]
      return call.withCore(async ({ subaccounts }) => {
        const found = await subaccounts.figures(accountId, page)
        const rows = found.subaccounts.map((one) => [
          ...[one.username, one.id, one.email, one.disabled ? 'disabled' : 'active'],
          ...[one.credit.limited ? one.credit.available : 'unlimited', one.used],
        ])
        const shown =
          rows.length > 0 ? table(['user name', 'account', 'email', 'state', 'credit', 'used'], rows) : 'no subaccounts'
        const rest = found.total - page.offset - rows.length
        return {
          data: found,
          text: rest > 0 ? `${shown}\n${rest} more; continue with --offset ${page.offset + rows.length}` : shown,
        }
      })
    },
  },
  {
    name: 'subaccount update',
    usage: 'USERNAME --account ID [--email ADDRESS] [--password PASSWORD|-] [--credit unlimited|one-time]',
    summary: "Change a subaccount's email, password or kind of credit",
    detail: 'A change to unlimited returns its remaining credit to the account',
    parameters: { password: PASSWORD, credit: CREDIT },
    async run(call) {
      const changes = defined({
        email: textOption(call, 'email'),
        creditType: creditOption(call),
        password: await passwordOption(call),
      })
      if (Object.keys(changes).length === 0) throw new UsageError('no changes given')
      return act(call, (core, id, name) => core.subaccounts.update(id, name, changes), 'is changed')
    },
  },
  {
    name: 'subaccount disable',
    usage: 'USERNAME --account ID',
    summary: 'Disable a subaccount: its keys are rejected. Takes effect within 5 seconds',
    run: (call) => act(call, (core, id, name) => core.subaccounts.setDisabled(id, name, true), 'is disabled'),
  },
  {
    name: 'subaccount enable',
    usage: 'USERNAME --account ID',
    summary: 'Enable a disabled subaccount',
    run: (call) => act(call, (core, id, name) => core.subaccounts.setDisabled(id, name, false), 'is enabled'),
  },
  {
    name: 'subaccount credit',
    usage: 'USERNAME --account ID [--add NUMBER | --take NUMBER]',
    summary: "Move credit between an account and a subaccount, or show the subaccount's",
    parameters: { add: 'Number of recipients to move to the subaccount', take: 'Number of recipients to take back' },
    examples: ['subaccount credit dock2 --account 12 --add 500'],
    run: (call) => {
      const [name, accountId] = [requiredWord(call, 'user name'), requiredId(call, 'account')]
      const [added, taken] = [wholeOption(call, 'add'), wholeOption(call, 'take')]
      if (added !== undefined && taken !== undefined) throw new UsageError('--add and --take cannot be used together')
      return call.withCore(async ({ subaccounts }) => {
        if (added !== undefined) return creditAnswer(await subaccounts.increase(accountId, name, added))
        if (taken !== undefined) return creditAnswer(await subaccounts.decrease(accountId, name, taken))
        return creditAnswer(await subaccounts.credit(accountId, name))
      })
    },
  },
  {
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
    run: (call) => {
      const [name, accountId, every] = [
        requiredWord(call, 'user name'),
        requiredId(call, 'account'),
        PERIODS.find((one) => one === requiredText(call, 'every')),
      ]
      if (every === undefined) throw new UsageError('--every must be day, week or month')
      const credit = {
        amount: requiredId(call, 'amount'),
        every,
        from: requiredText(call, 'from'),
        until: requiredText(call, 'until'),
        active: call.options.inactive !== true,
      }
      return call.withCore(async ({ subaccounts }) => {
        return creditAnswer(await subaccounts.setRecurring(accountId, name, credit))
      })
    },
  },
  {
    name: 'subaccount delete',
    usage: 'USERNAME --account ID',
    summary: 'Delete a subaccount; its remaining credit is returned to the account',
    run: (call) => {
      const [name, accountId] = [requiredWord(call, 'user name'), requiredId(call, 'account')]
      return call.withCore(async ({ subaccounts }) => {
        const { returned } = await subaccounts.remove(accountId, name)
        return { data: { deleted: name, returned }, text: `subaccount ${name} deleted; ${returned} credits returned` }
      })
    },
  },
]

function act(
  call: Call,
  fn: (core: Core, accountId: number, name: string) => Promise<Subaccount>,
  done: string,
): Promise<Answer> {
  const [name, accountId] = [requiredWord(call, 'user name'), requiredId(call, 'account')]
  return call.withCore(async (core) => {
    const subaccount = await fn(core, accountId, name)
    return { data: subaccount, text: `subaccount ${subaccount.username} ${done}` }
  })
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

function creditOption(call: Call): CreditType | undefined {
  const value = textOption(call, 'credit')
  if (value === undefined) return undefined
  const type = CREDIT_TYPES[value]
  if (!type) throw new UsageError(`--credit must be unlimited or one-time (got "${value}")`)
  return type
}

async function passwordOption(call: Call): Promise<string | undefined> {
  const value = textOption(call, 'password')
  return value === '-' ? (await text(process.stdin)).trimEnd() : value
}
