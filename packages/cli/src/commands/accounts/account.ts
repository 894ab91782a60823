import { type Account, type AccountSettings, type Core, defined, OPERATOR } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  isoTime,
  requiredTarget,
  requiredText,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'

const SWITCHES = {
  'open-tracking': 'openTracking',
  'click-tracking': 'clickTracking',
  'unsubscribe-link': 'unsubscribeLink',
  'privacy-mode': 'privacyMode',
  'account-notices': 'accountNotices',
} as const
const TEXTS = {
  'mail-class': 'mailClass',
  'footer-html': 'footerHtml',
  'footer-text': 'footerText',
  'time-zone': 'timeZone',
} as const
const DAYS = { 'event-days': 'eventDays', 'body-days': 'bodyDays' } as const

const settingsCommand: Command = {
  name: 'account settings',
  usage:
    'ID [--open-tracking on|off] [--click-tracking on|off] [--unsubscribe-link on|off] [--privacy-mode on|off] [--account-notices on|off] ' +
    '[--mail-class urgent|normal|bulk] [--footer-html HTML] [--footer-text TEXT] [--time-zone NAME] [--event-days N] [--body-days N]',
  summary: "Set how an account's mail is tracked, completed and retained, or show it",
  detail: 'Without options, the settings are shown',
  parameters: {
    'open-tracking': 'Track opens',
    'click-tracking': 'Track clicks',
    'unsubscribe-link': 'Add an unsubscribe link',
    'privacy-mode': 'Record opens and clicks without data of the person',
    'account-notices': 'Send notices to the owners of the account',
    'mail-class': 'Class of messages that name none',
    'footer-html': 'Footer of the HTML part',
    'footer-text': 'Footer of the text part',
    'time-zone': 'Time zone of statistics, for example Europe/Berlin',
    'event-days': 'Days after which events are deleted, or default',
    'body-days': 'Days after which bodies are deleted, or default',
  },
  examples: ['account settings 12 --time-zone Europe/Berlin'],
  target: 'account',
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
    summary: 'Create an account and its first API key (shown once)',
    parameters: { name: 'Name of the account, 1 to 100 characters' },
    examples: ['account create --name "Harbor Shipping"'],
    run: (call) => {
      const name = requiredText(call, 'name')
      return call.withCore(async (core) => {
        const account = await core.accounts.create(name)
        const { secret } = await core.auth.createKey({ accountId: account.id, name: 'first' })
        return {
          data: { accountId: account.id, apiKey: secret },
          text: `account ${account.id}\nAPI key ${secret} (shown once)`,
        }
      })
    },
  },
  {
    name: 'account list',
    usage: '',
    summary: 'List all accounts',
    run: (call) =>
      call.withCore(async (core) => {
        const isOver = ({ state, expiresAt }: Account) =>
          state === 'active' && expiresAt !== null && expiresAt <= new Date()
        const accounts = (await core.accounts.list()).map((one) => (isOver(one) ? { ...one, state: 'expired' } : one))
        const rows = accounts.map(({ id, name, state, expiresAt }) => [id, name, state, expiresAt])
        return { data: accounts, text: table(['id', 'name', 'state', 'expires'], rows) }
      }),
  },
  {
    name: 'account suspend',
    usage: 'ID',
    summary: 'Suspend an account: reject all its mail',
    detail: 'Takes effect within 5 seconds',
    examples: ['account suspend 12'],
    target: 'account',
    run: (call) => change(call, (core, id) => core.accounts.suspend(id), 'suspended'),
  },
  {
    name: 'account resume',
    usage: 'ID',
    summary: 'Resume a suspended account',
    target: 'account',
    run: (call) => change(call, (core, id) => core.accounts.resume(id), 'active'),
  },
  {
    name: 'account expire',
    usage: 'ID [--at TIME]',
    summary: 'Expire an account, immediately or at an ISO 8601 time',
    parameters: { at: 'Time at which the account expires (default: now)' },
    examples: ['account expire 12 --at 2030-01-31T12:00:00Z'],
    target: 'account',
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
    summary: "Set an account's rate limits, or show them",
    detail: 'Limits are per minute; "default" removes one. Without options, the limits are shown',
    parameters: { sends: 'Messages per minute, or default', calls: 'Other API calls per minute, or default' },
    examples: ['account limit 12 --sends 600'],
    target: 'account',
    run: (call) => {
      const id = requiredTarget(call, 'account')
      const [sends, calls] = [limitOption(call, 'sends'), limitOption(call, 'calls')]
      const change = {
        ...defined({ sendsPerMinute: sends, callsPerMinute: calls }),
      }
      return call.withCore(async (core) => {
        const limits = await core.accounts.limit(id, change)
        const { sendsPerMinute, callsPerMinute } = limits
        const mail = sendsPerMinute === null ? 'unlimited' : `${sendsPerMinute} per minute`
        const rest = callsPerMinute === null ? defaultText(call.config.callsPerMinute) : `${callsPerMinute} per minute`
        return { data: limits, text: `account ${id}: messages ${mail}, other API calls ${rest}` }
      })
    },
  },
  settingsCommand,
]

/** The given options, keyed by the names of their settings. */
function given(names: Readonly<Record<string, string>>, read: (option: string) => unknown): [string, unknown][] {
  const values = Object.entries(names).map(([option, name]): [string, unknown] => [name, read(option)])
  return values.filter(([, value]) => value !== undefined)
}

function switchOption(call: Call, name: string): boolean | undefined {
  const value = textOption(call, name)
  if (value === undefined) return undefined
  if (value !== 'on' && value !== 'off') throw new UsageError(`--${name} must be on or off (got "${value}")`)
  return value === 'on'
}

/** null: reset to the default. */
function limitOption(call: Call, name: string): number | null | undefined {
  return textOption(call, name) === 'default' ? null : wholeOption(call, name)
}

/** null, also for 0 as over HTTP: retained as long as the operator configured. */
function daysOption(call: Call, name: string): number | null | undefined {
  const days = limitOption(call, name)
  return days === 0 ? null : days
}

/** The text shown for a setting without a value. */
function unset(name: string): string {
  return Object.values<string>(DAYS).includes(name) ? '(default)' : '(none)'
}

/** The rate limit of an account without its own. */
function defaultText(callsPerMinute: number): string {
  return `${callsPerMinute === 0 ? 'unlimited' : `${callsPerMinute} per minute`} (default)`
}

function change(call: Call, fn: (core: Core, id: number) => Promise<Account>, state: string): Promise<Answer> {
  const id = requiredTarget(call, 'account')
  return call.withCore(async (core) => {
    const account = await fn(core, id)
    return { data: account, text: `account ${account.id} is ${state}` }
  })
}
