import { type Account, defined, NOTICE_KINDS, OPERATOR } from '@postrider/core'
import type { Answer, Command } from '../../command.ts'
import { table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

const SWITCHES =
  '[--open-tracking on|off] [--click-tracking on|off] [--unsubscribe-link on|off] [--generate-text on|off] [--privacy-mode on|off]'
const MORE_SWITCHES =
  '[--hosts-may-send on|off] [--mail-reports on|off] [--account-notices on|off] [--muted-notices KINDS] [--keep-content on|off]'
const TEXTS =
  '[--mail-class urgent|normal|bulk] [--fallback-sender ADDRESS] [--footer-html HTML] [--footer-text TEXT] [--time-zone NAME]'
const SENTENCES = '[--unsubscribe-html HTML] [--unsubscribe-text TEXT]'

const settingsCommand: Command = coreCommand({
  name: 'account settings',
  usage: `ID ${SWITCHES} ${MORE_SWITCHES} ${TEXTS} ${SENTENCES} [--requirements warn|hold|default] [--event-days N|default] [--body-days N|default]`,
  summary: "Set how an account's mail is tracked, completed and retained, or show it",
  detail: 'Without options, the settings are shown',
  parameters: {
    'open-tracking': 'Track opens',
    'click-tracking': 'Track clicks',
    'unsubscribe-link': 'Add an unsubscribe link',
    'generate-text': 'Generate the plain text of v2 messages that have HTML alone',
    'hosts-may-send': 'Let hosts below active domains send, for example web1.example.com',
    'mail-reports': 'Notify senders by SMTP of failures and delays by mail',
    'privacy-mode': 'Record opens and clicks without data of the person',
    'account-notices': 'Send notices to the owners of the account',
    'muted-notices': `Kinds of notices that are not sent, separated by commas: ${NOTICE_KINDS.join(', ')}; blank: none`,
    'keep-content': 'Keep the content of messages after their last outcome',
    'mail-class': 'Class of messages that name none',
    'fallback-sender': 'Address that hosts without a sending domain send from by SMTP; blank: none',
    'footer-html': 'Footer of the HTML part',
    'footer-text': 'Footer of the text part',
    'unsubscribe-html': 'Sentence around the unsubscribe link in HTML, in which <% %> marks the link',
    'unsubscribe-text': 'The same in the text part',
    'time-zone': 'Time zone of statistics, for example Europe/Berlin',
    requirements: 'Send bulk mail without what large receivers demand, or hold it; default: as the operator has set it',
    'event-days': 'Days after which events are deleted, or default',
    'body-days': 'Days after which bodies are deleted, or default',
  },
  examples: ['account settings 12 --time-zone Europe/Berlin'],
  target: 'account',
  run: async ({ accounts, tls }, { ID: id, ...given }) => {
    const change = defined({
      openTracking: given['open-tracking'],
      clickTracking: given['click-tracking'],
      unsubscribeLink: given['unsubscribe-link'],
      generateText: given['generate-text'],
      hostsMaySend: given['hosts-may-send'],
      mailReports: given['mail-reports'],
      privacyMode: given['privacy-mode'],
      accountNotices: given['account-notices'],
      mutedNotices: given['muted-notices'],
      keepContent: given['keep-content'],
      requirements: given.requirements === 'default' ? null : given.requirements,
      mailClass: given['mail-class'],
      fallbackSender: given['fallback-sender'],
      footerHtml: given['footer-html'],
      footerText: given['footer-text'],
      unsubscribeHtml: given['unsubscribe-html'],
      unsubscribeText: given['unsubscribe-text'],
      timeZone: given['time-zone'],
      // 0 as over HTTP: retained as long as the operator configured.
      eventDays: given['event-days'] === 0 ? null : given['event-days'],
      bodyDays: given['body-days'] === 0 ? null : given['body-days'],
    })
    const settings = await accounts.settings.change(id, change, OPERATOR)
    const tlsDemand = await tls.ofAccount(id)
    const rows = Object.entries(settings).map(([name, value]) => [name, value ?? unset(name)])
    const listed = table(['setting', 'value'], [...rows, ['tlsDemand', tlsDemand]])
    const note = 'note: mail waits while a recipient\'s server lacks what tlsDemand asks for; "tls set" changes it'
    return { data: { ...settings, tlsDemand }, text: tlsDemand === 'none' ? listed : `${listed}\n\n${note}` }
  },
})

export const accountCommands: readonly Command[] = [
  coreCommand({
    name: 'account create',
    usage: '--name NAME',
    summary: 'Create an account and its first API key (shown once)',
    parameters: { name: 'Name of the account, 1 to 100 characters' },
    examples: ['account create --name "Harbor Shipping"'],
    run: async (core, { name }) => {
      const account = await core.accounts.create(name)
      const { secret } = await core.auth.createKey({ accountId: account.id, name: 'first' })
      return {
        data: { accountId: account.id, apiKey: secret },
        text: `account ${account.id}\nAPI key ${secret} (shown once)`,
      }
    },
  }),
  coreCommand({
    name: 'account list',
    usage: '',
    summary: 'List all accounts',
    run: async (core) => {
      const accounts = (await core.accounts.list()).map((one) => ({ ...one, state: shownState(one) }))
      const rows = accounts.map(({ id, name, state, expiresAt }) => [id, name, state, expiresAt])
      return { data: accounts, text: table(['id', 'name', 'state', 'expires'], rows) }
    },
  }),
  coreCommand({
    name: 'account rename',
    usage: 'ID NAME',
    summary: 'Rename an account',
    detail: 'Its subaccounts, whose names begin with its own, are renamed with it',
    parameters: { NAME: 'Name of the account, 1 to 100 characters' },
    examples: ['account rename 12 "Harbor Shipping"'],
    run: async ({ accounts }, { ID: id, NAME: name }) => {
      const account = await accounts.rename(id, name)
      return { data: account, text: `account ${account.id} is now "${account.name}"` }
    },
  }),
  coreCommand({
    name: 'account suspend',
    usage: 'ID',
    summary: 'Suspend an account: reject all its mail',
    detail: 'Takes effect within 5 seconds',
    examples: ['account suspend 12'],
    target: 'account',
    run: async ({ accounts }, { ID: id }) => changed(await accounts.suspend(id), 'suspended'),
  }),
  coreCommand({
    name: 'account resume',
    usage: 'ID',
    summary: 'Resume a suspended account',
    target: 'account',
    run: async ({ accounts }, { ID: id }) => changed(await accounts.resume(id), 'active'),
  }),
  coreCommand({
    name: 'account expire',
    usage: 'ID [--at TIME]',
    summary: 'Expire an account, immediately or at an ISO 8601 time',
    parameters: { at: 'Time at which the account expires (default: now)' },
    examples: ['account expire 12 --at 2030-01-31T12:00:00Z'],
    target: 'account',
    run: async ({ accounts }, { ID: id, at }) => {
      const account = await accounts.expire(id, at ?? null)
      return { data: account, text: `account ${account.id} expires at ${account.expiresAt?.toISOString()}` }
    },
  }),
  coreCommand({
    name: 'account limit',
    usage: 'ID [--sends N|default] [--calls N|default]',
    summary: "Set an account's rate limits, or show them",
    detail: 'Limits are per minute; "default" removes one. Without options, the limits are shown',
    parameters: { sends: 'Messages per minute, or default', calls: 'Other API calls per minute, or default' },
    examples: ['account limit 12 --sends 600'],
    target: 'account',
    run: async ({ accounts }, { ID: id, sends, calls }, { config }) => {
      const limits = await accounts.limit(id, defined({ sendsPerMinute: sends, callsPerMinute: calls }))
      const { sendsPerMinute, callsPerMinute } = limits
      const mail = sendsPerMinute === null ? 'unlimited' : `${sendsPerMinute} per minute`
      const rest = callsPerMinute === null ? defaultText(config.callsPerMinute) : `${callsPerMinute} per minute`
      return { data: limits, text: `account ${id}: messages ${mail}, other API calls ${rest}` }
    },
  }),
  settingsCommand,
]

function shownState({ state, closedAt, expiresAt }: Account): string {
  if (closedAt) return 'closed'
  return state === 'active' && expiresAt !== null && expiresAt <= new Date() ? 'expired' : state
}

/** The text shown for a setting without a value. */
function unset(name: string): string {
  return name.endsWith('Days') || name === 'requirements' ? '(default)' : '(none)'
}

/** The rate limit of an account without its own. */
function defaultText(callsPerMinute: number): string {
  return `${callsPerMinute === 0 ? 'unlimited' : `${callsPerMinute} per minute`} (default)`
}

function changed(account: Account, state: string): Answer {
  return { data: account, text: `account ${account.id} is ${state}` }
}
