import { type Account, type AccountSettings, type Core, OPERATOR } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  isoTime,
  requiredTarget,
  requiredText,
  table,
  textOption,
  UsageError,
  wholeOption,
} from '../command.ts'

const SWITCHES = {
  'open-tracking': 'openTracking',
  'click-tracking': 'clickTracking',
  'unsubscribe-link': 'unsubscribeLink',
  'privacy-mode': 'privacyMode',
} as const
const TEXTS = { 'footer-html': 'footerHtml', 'footer-text': 'footerText', 'time-zone': 'timeZone' } as const
const DAYS = { 'event-days': 'eventDays', 'body-days': 'bodyDays' } as const

const settingsCommand: Command = {
  name: 'account settings',
  usage: 'ID [--open-tracking on|off] [--time-zone NAME] [--event-days N] …',
  summary:
    "set what an account's mail is made with, and how it is kept (click-tracking, unsubscribe-link, privacy-mode, footer-html, footer-text, body-days); without options: show it",
  words: 1,
  options: Object.fromEntries(
    ['account', ...Object.keys({ ...SWITCHES, ...TEXTS, ...DAYS })].map((name) => [name, { type: 'string' } as const]),
  ),
  run: (call) => {
    const id = requiredTarget(call, 'account')
    const change = Object.fromEntries([
      ...given(SWITCHES, (option) => switchOption(call, option)),
      ...given(TEXTS, (option) => textOption(call, option)),
      ...given(DAYS, (option) => daysOption(call, option)),
    ]) as Partial<AccountSettings>
    return call.withCore(async ({ accounts }) => {
      const settings = await accounts.settings.change(id, change, OPERATOR)
      const rows = Object.entries(settings).map(([name, value]) => [name, value ?? unset(name)])
      return { data: settings, text: table(['setting', 'value'], rows) }
    })
  },
}

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
      const time = at === undefined ? null : isoTime(at, '--at')
      return call.withCore(async (core) => {
        const account = await core.accounts.expire(id, time)
        return { data: account, text: `account ${account.id} expires at ${account.expiresAt?.toISOString()}` }
      })
    },
  },
  {
    name: 'account limit',
    usage: 'ID [--sends N] [--calls N]',
    summary: 'limit mail, and calls but sendEmail, to N a minute; default lifts a limit; without options: show them',
    words: 1,
    options: { account: { type: 'string' }, sends: { type: 'string' }, calls: { type: 'string' } },
    run: (call) => {
      const id = requiredTarget(call, 'account')
      const [sends, calls] = [limitOption(call, 'sends'), limitOption(call, 'calls')]
      const change = {
        ...(sends === undefined ? {} : { sendsPerMinute: sends }),
        ...(calls === undefined ? {} : { callsPerMinute: calls }),
      }
      return call.withCore(async (core) => {
        const limits = await core.accounts.limit(id, change)
        const { sendsPerMinute, callsPerMinute } = limits
        const mail = sendsPerMinute === null ? 'as much mail as it likes' : `${sendsPerMinute} messages a minute`
        const rest = callsPerMinute ?? `${call.config.callsPerMinute || 'as many as it likes'} (the default)`
        return { data: limits, text: `account ${id} may send ${mail}; other calls a minute: ${rest}` }
      })
    },
  },
  settingsCommand,
]

/** The options that were given, by their settings' names. */
function given(names: Readonly<Record<string, string>>, read: (option: string) => unknown): [string, unknown][] {
  const values = Object.entries(names).map(([option, name]): [string, unknown] => [name, read(option)])
  return values.filter(([, value]) => value !== undefined)
}

function switchOption(call: Call, name: string): boolean | undefined {
  const value = textOption(call, name)
  if (value === undefined) return undefined
  if (value !== 'on' && value !== 'off') throw new UsageError(`--${name} must be on or off, not "${value}"`)
  return value === 'on'
}

/** null: the default. */
function limitOption(call: Call, name: string): number | null | undefined {
  return textOption(call, name) === 'default' ? null : wholeOption(call, name)
}

/** null: as long as the operator keeps them; 0 says the same, as by HTTP. */
function daysOption(call: Call, name: string): number | null | undefined {
  const days = limitOption(call, name)
  return days === 0 ? null : days
}

/** What a setting without a value is shown as. */
function unset(name: string): string {
  return Object.values<string>(DAYS).includes(name) ? '(default)' : '(none)'
}

function change(call: Call, act: (core: Core, id: number) => Promise<Account>, state: string): Promise<Answer> {
  const id = requiredTarget(call, 'account')
  return call.withCore(async (core) => {
    const account = await act(core, id)
    return { data: account, text: `account ${account.id} is ${state}` }
  })
}
