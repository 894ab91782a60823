import { type Command, requiredId, requiredText, table, textOption, UsageError } from '../command.ts'

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    usage: '--name NAME',
    summary: 'make an account and its first API key, which is shown only now',
    options: { name: { type: 'string' } },
    run: (call) =>
      call.withCore(async (core) => {
        const account = await core.accounts.create(requiredText(call, 'name'))
        const { secret } = await core.auth.createKey({ accountId: account.id, name: 'first' })
        return {
          data: { accountId: account.id, apiKey: secret },
          text: `account ${account.id}\nAPI key ${secret} (shown only now)`,
        }
      }),
  },
  {
    name: 'account list',
    usage: '',
    summary: 'list all accounts',
    options: {},
    run: (call) =>
      call.withCore(async (core) => {
        const accounts = await core.accounts.list()
        const rows = accounts.map(({ id, name, state, expiresAt }) => [id, name, state, expiresAt])
        return { data: accounts, text: table(['id', 'name', 'state', 'expires'], rows) }
      }),
  },
  {
    name: 'account suspend',
    usage: 'ID',
    summary: 'refuse all mail of an account; in effect everywhere within 5 s',
    options: { account: { type: 'string' } },
    run: (call) =>
      call.withCore(async (core) => {
        const account = await core.accounts.suspend(requiredId(call, 'account'))
        return { data: account, text: `account ${account.id} is suspended` }
      }),
  },
  {
    name: 'account resume',
    usage: 'ID',
    summary: 'undo account suspend',
    options: { account: { type: 'string' } },
    run: (call) =>
      call.withCore(async (core) => {
        const account = await core.accounts.resume(requiredId(call, 'account'))
        return { data: account, text: `account ${account.id} is active` }
      }),
  },
  {
    name: 'account expire',
    usage: 'ID [--at TIME]',
    summary: 'let an account expire, now or at an ISO 8601 time',
    options: { account: { type: 'string' }, at: { type: 'string' } },
    run: (call) => {
      const at = textOption(call, 'at')
      if (at !== undefined && Number.isNaN(Date.parse(at))) throw new UsageError('--at must be an ISO 8601 time')
      return call.withCore(async (core) => {
        const account = await core.accounts.expire(requiredId(call, 'account'), at === undefined ? null : new Date(at))
        return { data: account, text: `account ${account.id} expires at ${account.expiresAt?.toISOString()}` }
      })
    },
  },
]
