import { defined, eventsNamed, type Webhook } from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { table, tableOr } from '../../table.ts'
import { coreCommand, type Given } from '../core-command.ts'
import { requireWebhook, webhookDeliveryCommands } from './webhook-deliveries.ts'
import { webhookListenCommands } from './webhook-listen.ts'

const SWITCHES = '[--signed on|off] [--strings on|off] [--abuse on|off] [--event-ids on|off]'
const SETTINGS_USAGE =
  `[--format v2|v3] [--domain NAME]... [--tag TAG]... [--header NAME:VALUE]... [--label TEXT] ${SWITCHES}` as const
const SETTINGS = {
  url: 'URL of the receiver',
  events: 'Names of events, separated by commas, for example sent,bounced,opened',
  domain: 'Only events of messages from this domain and hosts below it; replaces all earlier ones, "" removes them',
  tag: 'Only events of messages with this tag; replaces all earlier ones, "" removes them',
  header: 'Header field of the requests, such as "Authorization: Bearer x"; replaces all earlier ones',
  label: 'Name of the webhook',
  signed: "Whether requests have v3's signature",
  strings: 'v2: every value is a text',
  abuse: 'v2: complaints are named abuse instead of spam',
  'event-ids': 'v2: each event has an EVENTID',
}

const DEFAULTS = {
  headers: {},
  names: null,
  label: '',
  enabled: true,
  signed: true,
  asText: false,
  abuse: false,
  eventIds: false,
}

/** URLs to which events of accounts are reported. */
export const webhookCommands: readonly Command[] = [
  coreCommand({
    name: 'webhook create',
    usage: `--account ID --url URL --events NAMES ${SETTINGS_USAGE}`,
    summary: 'Create a webhook, and show its secret (once); the URL is probed and must return 2xx',
    parameters: { ...SETTINGS, format: 'Format of the requests (default v2)' },
    examples: ['webhook create --account 12 --url https://ship.example/hook --events sent,bounced'],
    prepare: ({ account, url, format = 'v2', ...given }) => {
      const events = eventsNamed(namesIn(given.events), format)
      const settings = { ...DEFAULTS, ...settingsOf(given) }
      return async ({ webhooks }) => {
        const { webhook, secret } = await webhooks.create(account, { url, format, events, ...settings })
        return { data: { ...webhook, secret }, text: `webhook ${webhook.id}\nsecret ${secret} (shown once)` }
      }
    },
  }),
  coreCommand({
    name: 'webhook list',
    usage: '--account ID',
    summary: 'List the webhooks of an account with their states',
    run: async (core, { account: accountId }) => {
      const webhooks = await core.webhooks.list(accountId)
      const rows = webhooks.map((one) => [
        one.id,
        one.url,
        one.events.join(' '),
        stateOf(one),
        one.succeededAt ?? 'never',
        one.problem,
      ])
      return {
        data: webhooks,
        text: tableOr('no webhooks', ['id', 'url', 'events', 'state', 'last success', 'problem'], rows),
      }
    },
  }),
  coreCommand({
    name: 'webhook show',
    usage: 'ID --account ID',
    summary: 'Show the settings and the state of a webhook',
    run: async (core, given) => {
      const { id, accountId } = await requireWebhook(core, given)
      const webhook = await core.webhooks.show(accountId, id)
      const { url, format, events, headers, label, signed, publicKey, position, succeededAt, problem } = webhook
      const pending = await core.webhooks.pending(webhook)
      const rows = Object.entries({
        url,
        state: stateOf(webhook),
        format,
        events: events.join(' '),
        domains: webhook.domains?.join(' ') ?? '',
        tags: webhook.tags?.join(', ') ?? '',
        // A value may be a password.
        'header fields': Object.keys(headers).join(' '),
        label,
        'public key': signed ? publicKey : '',
        'reported to event': position,
        'events behind': `${pending.events}${pending.isAtLeast ? ' or more' : ''}`,
        'last success': succeededAt ?? 'never',
        problem,
      })
      return { data: webhook, text: table(['setting', 'value'], rows, { whole: ['value'] }) }
    },
  }),
  coreCommand({
    name: 'webhook update',
    usage: `ID --account ID [--url URL] [--events NAMES] [--enabled on|off] ${SETTINGS_USAGE} [--clear-headers]`,
    summary: 'Change a webhook; if it is enabled again, it resumes where it stopped',
    parameters: {
      ...SETTINGS,
      format: 'Format of the requests',
      enabled: 'Whether events are sent',
      'clear-headers': 'Remove all header fields',
    },
    prepare: ({ url, format, enabled, events: names, 'clear-headers': clears, ...given }) => {
      if (given.header.length > 0 && clears)
        throw new UsageError('--header and --clear-headers cannot be used together')
      const headers = clears ? { headers: {} } : {}
      const change = defined({ url, format, enabled, ...settingsOf(given), ...headers })
      if (names === undefined && Object.keys(change).length === 0) throw new UsageError('no changes given')
      return async (core) => {
        const act = await requireWebhook(core, given)
        const inFormat = format ?? (await core.webhooks.show(act.accountId, act.id)).format
        const events = names === undefined ? {} : { events: eventsNamed(namesIn(names), inFormat), names: null }
        const webhook = await core.webhooks.update(act, { ...change, ...events })
        return { data: webhook, text: `webhook ${act.id} is changed and ${stateOf(webhook)}` }
      }
    },
  }),
  coreCommand({
    name: 'webhook delete',
    destroys: true,
    usage: 'ID --account ID',
    summary: 'Delete a webhook and its pending batches',
    look: requireWebhook,
    run: async (core, given) => {
      const act = await requireWebhook(core, given)
      await core.webhooks.remove(act)
      return { data: { deleted: act.id }, text: `webhook ${act.id} deleted` }
    },
  }),
  coreCommand({
    name: 'webhook test',
    usage: 'ID --account ID [--event NAME]',
    summary: 'Send a sample of each of its events, and show the response; exit status 1 if it is not a success',
    parameters: { event: 'Only this event, also if the webhook does not get it' },
    run: async (core, { event, ...given }) => {
      const { id, accountId } = await requireWebhook(core, given)
      const { text: body, exchange: _, ...result } = await core.webhooks.test(accountId, id, event)
      const text = `${result.events} events, status ${result.status ?? 'none'}, ${result.milliseconds} ms`
      return { data: { ...result, answer: body }, text, ...defined({ failure: result.problem }) }
    },
  }),
  coreCommand({
    name: 'webhook rotate',
    destroys: ({ options }) => Number(options['overlap-hours']) === 0,
    usage: 'ID --account ID [--overlap-hours N]',
    summary: 'Create a new secret (shown once); requests are signed with both during a grace period',
    parameters: { 'overlap-hours': 'Hours for which the old secret also signs (default 24, maximum 720)' },
    look: requireWebhook,
    prepare: ({ 'overlap-hours': hours, ...given }) => {
      if (hours !== undefined && hours > 720)
        throw new UsageError(`--overlap-hours must be from 0 to 720 (got ${hours})`)
      return async (core) => {
        const act = await requireWebhook(core, given)
        const secret = await core.webhooks.rotateSecret(act, hours)
        return { data: { id: act.id, secret }, text: `secret ${secret} (shown once)` }
      }
    },
  }),
  ...webhookDeliveryCommands,
  ...webhookListenCommands,
]

/** The settings that are given, of those that every format has or lacks. */
function settingsOf(given: Omit<Given<typeof SETTINGS_USAGE>, 'format'>) {
  const { header, label, signed, strings: asText, abuse, 'event-ids': eventIds, domain, tag } = given
  // An empty list is no limit.
  const limits = { ...(domain.length > 0 ? { domains: domain } : {}), ...(tag.length > 0 ? { tags: tag } : {}) }
  return defined({ ...limits, headers: headersIn(header), label, signed, asText, abuse, eventIds })
}

function stateOf({ enabled, failingSince }: Webhook): string {
  return enabled ? (failingSince ? 'failing' : 'active') : 'disabled'
}

function namesIn(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}

/** The header fields that are given; undefined if there are none. Errors never quote a value. */
function headersIn(given: readonly string[]): Record<string, string> | undefined {
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((field) => {
      const at = field.indexOf(':')
      if (at < 1) throw new UsageError('--header must be a name and a value with a colon in between')
      return [field.slice(0, at).trim(), field.slice(at + 1).trim()]
    }),
  )
}
