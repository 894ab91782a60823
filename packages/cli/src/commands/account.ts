import type { Account, Core } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  requiredTarget,
  requiredText,
  table,
  textOption,
  UsageError,
} from '../command.ts'

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    usage: '--name NAME',
    summary: 'make an account and its first API key, which is shown only now',
    options: { name: { type: 'string' } },
    run: (call) => {
      const name = requiredText(call, 'name')
      return call.withCore(async (core) => {
        const account = await core.accounts.create(name)
        const { secret } = await core.auth.createKey({ accountId: account.id, name: 'first' })
        return {
          data: { accountId: account.id, apiKey: secret },
          text: `account ${account.id}\nAPI key ${secret} (shown only now)`,
        }
      })
    },
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
    words: 1,
    options: { account: { type: 'string' } },
    run: (call) => change(call, (core, id) => core.accounts.suspend(id), 'suspended'),
  },
  {
    name: 'account resume',
    usage: 'ID',
    summary: 'undo account suspend',
    words: 1,
    options: { account: { type: 'string' } },
    run: (call) => change(call, (core, id) => core.accounts.resume(id), 'active'),
  },
  {
    name: 'account expire',
    usage: 'ID [--at TIME]',
    summary: 'let an account expire, now or at an ISO 8601 time',
    words: 1,
    options: { account: { type: 'string' }, at: { type: 'string' } },
    run: (call) => {
      const id = requiredTarget(call, 'account')
      const at = textOption(call, 'at')
      const time = at === undefined ? null : isoTime(at)
      return call.withCore(async (core) => {
        const account = await core.accounts.expire(id, time)
        return { data: account, text: `account ${account.id} expires at ${account.expiresAt?.toISOString()}` }
      })
    },
  },
]

function change(call: Call, act: (core: Core, id: number) => Promise<Account>, state: string): Promise<Answer> {
  const id = requiredTarget(call, 'account')
  return call.withCore(async (core) => {
    const account = await act(core, id)
    return { data: account, text: `account ${account.id} is ${state}` }
  })
}

/** A date, or a date and a time; `Date` alone would take "1" for a month. */
function isoTime(text: string): Date {
  const time = new Date(text)
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}|$)/.test(text) || Number.isNaN(time.getTime())) {
    throw new UsageError(`--at must be an ISO 8601 time like 2030-01-31T12:00:00Z, not "${text}"`)
  }
  return time
}
