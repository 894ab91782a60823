import { defined, eventsNamed, type Webhook } from '@postrider/core'
import {
  type Call,
  type Command,
  requiredId,
  requiredText,
  textOption,
  textsOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'
import { onWebhook, webhookDeliveryCommands } from './webhook-deliveries.ts'

const SETTINGS_USAGE =
  '[--format v2|v3] [--header NAME:VALUE]... [--label TEXT] [--signed on|off] ' +
  '[--strings on|off] [--abuse on|off] [--event-ids on|off]'
const SETTINGS = {
  url: 'URL of the receiver',
  events: 'Names of events, separated by commas, for example sent,bounced,opened',
  header: 'Header field of the requests, such as "Authorization: Bearer x"; replaces all earlier ones',
  label: 'Name of the webhook',
  signed: "Whether requests have v3's signature",
  strings: 'v2: every value is a text',
  abuse: 'v2: complaints are named abuse instead of spam',
  'event-ids': 'v2: each event has an EVENTID',
}

/** URLs to which events of accounts are reported. */
export const webhookCommands: readonly Command[] = [
  {
    name: 'webhook create',
    usage: `--account ID --url URL --events NAMES ${SETTINGS_USAGE}`,
    summary: 'Create a webhook, and show its secret (once); the URL is probed and must return 200',
    parameters: { ...SETTINGS, format: 'Format of the requests (default v2)' },
    examples: ['webhook create --account 12 --url https://ship.example/hook --events sent,bounced'],
    run: (call) => {
      const [accountId, url] = [requiredId(call, 'account'), requiredText(call, 'url')]
      const format = formatOption(call) ?? 'v2'
      const events = eventsNamed(namesIn(requiredText(call, 'events')), format)
      const rest = {
        ...{ headers: {}, names: null, label: '', enabled: true },
        ...{ signed: true, asText: false, abuse: false, eventIds: false },
        ...settingsOf(call),
      }
      return call.withCore(async (core) => {
        const { webhook, secret } = await core.webhooks.create(accountId, { url, format, events, ...rest })
        return { data: { ...webhook, secret }, text: `webhook ${webhook.id}\nsecret ${secret} (shown once)` }
      })
    },
  },
  {
    name: 'webhook list',
    usage: '--account ID',
    summary: 'List the webhooks of an account with their states',
    run: (call) => {
      const accountId = requiredId(call, 'account')
      return call.withCore(async (core) => {
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
          text:
            rows.length > 0 ? table(['id', 'url', 'events', 'state', 'last success', 'problem'], rows) : 'no webhooks',
        }
      })
    },
  },
  {
    name: 'webhook show',
    usage: 'ID --account ID',
    summary: 'Show the settings and the state of a webhook',
    run: (call) =>
      onWebhook(call, async (core, act) => {
        const webhook = await core.webhooks.show(act.accountId, act.id)
        const { url, format, events, headers, label, signed, publicKey, position, succeededAt, problem } = webhook
        const fields = Object.keys(headers)
        const rows = [
          ['url', url],
          ['state', stateOf(webhook)],
          ['format', format],
          ['events', events.join(' ')],
          // A value may be a password.
          ['header fields', fields.join(' ')],
          ['label', label],
          ['public key', signed ? publicKey : ''],
          ['reported to event', position],
          ['last success', succeededAt ?? 'never'],
          ['problem', problem],
        ]
        return { data: webhook, text: table(['setting', 'value'], rows, ['value']) }
      }),
  },
  {
    name: 'webhook update',
    usage: `ID --account ID [--url URL] [--events NAMES] [--enabled on|off] ${SETTINGS_USAGE} [--clear-headers]`,
    summary: 'Change a webhook; if it is enabled again, it resumes where it stopped',
    parameters: {
      ...SETTINGS,
      format: 'Format of the requests',
      enabled: 'Whether events are sent',
      'clear-headers': 'Remove all header fields',
    },
    run: (call) => {
      const names = textOption(call, 'events')
      if (call.options.header && call.options['clear-headers']) {
        throw new UsageError('--header and --clear-headers cannot be used together')
      }
      const given = defined({
        url: textOption(call, 'url'),
        format: formatOption(call),
        enabled: switchOption(call, 'enabled'),
        ...settingsOf(call),
        ...(call.options['clear-headers'] ? { headers: {} } : {}),
      })
      if (names === undefined && Object.keys(given).length === 0) throw new UsageError('no changes given')
      return onWebhook(call, async (core, act) => {
        const format = given.format ?? (await core.webhooks.show(act.accountId, act.id)).format
        const events = names === undefined ? {} : { events: eventsNamed(namesIn(names), format), names: null }
        const webhook = await core.webhooks.update(act, { ...given, ...events })
        return { data: webhook, text: `webhook ${act.id} is changed and ${stateOf(webhook)}` }
      })
    },
  },
  {
    name: 'webhook delete',
    usage: 'ID --account ID',
    summary: 'Delete a webhook and its pending batches',
    run: (call) =>
      onWebhook(call, async (core, act) => {
        await core.webhooks.remove(act)
        return { data: { deleted: act.id }, text: `webhook ${act.id} deleted` }
      }),
  },
  {
    name: 'webhook test',
    usage: 'ID --account ID',
    summary: 'Send a sample of each of its events, and show the response; exit status 1 if it is not a success',
    run: (call) =>
      onWebhook(call, async (core, act) => {
        const { text: body, ...result } = await core.webhooks.test(act.accountId, act.id)
        const text = `${result.events} events, status ${result.status ?? 'none'}, ${result.milliseconds} ms`
        const answer = { data: { ...result, answer: body }, text }
        return result.problem === undefined ? answer : { ...answer, failure: result.problem }
      }),
  },
  {
    name: 'webhook rotate',
    usage: 'ID --account ID [--overlap-hours N]',
    summary: 'Create a new secret (shown once); requests are signed with both during a grace period',
    parameters: { 'overlap-hours': 'Hours for which the old secret also signs (default 24, maximum 720)' },
    run: (call) => {
      const hours = wholeOption(call, 'overlap-hours')
      if (hours !== undefined && hours > 720)
        throw new UsageError(`--overlap-hours must be from 0 to 720 (got ${hours})`)
      return onWebhook(call, async (core, act) => {
        const secret = await core.webhooks.rotateSecret(act, hours)
        return { data: { id: act.id, secret }, text: `secret ${secret} (shown once)` }
      })
    },
  },
  ...webhookDeliveryCommands,
]

/** The settings that are given, of those that every format has or lacks. */
function settingsOf(call: Call) {
  return defined({
    headers: headersOption(call),
    label: textOption(call, 'label'),
    signed: switchOption(call, 'signed'),
    asText: switchOption(call, 'strings'),
    abuse: switchOption(call, 'abuse'),
    eventIds: switchOption(call, 'event-ids'),
  })
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

function formatOption(call: Call): Webhook['format'] | undefined {
  const value = textOption(call, 'format')
  if (value !== undefined && value !== 'v2' && value !== 'v3')
    throw new UsageError(`--format must be v2 or v3 (got "${value}")`)
  return value
}

function switchOption(call: Call, name: string): boolean | undefined {
  const value = textOption(call, name)
  if (value !== undefined && value !== 'on' && value !== 'off')
    throw new UsageError(`--${name} must be on or off (got "${value}")`)
  return value === undefined ? undefined : value === 'on'
}

/** The header fields that are given; undefined if there are none. Errors never quote a value. */
function headersOption(call: Call): Record<string, string> | undefined {
  const given = textsOption(call, 'header')
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((field) => {
      const at = field.indexOf(':')
      if (at < 1) throw new UsageError('--header must be a name and a value with a colon in between')
      return [field.slice(0, at).trim(), field.slice(at + 1).trim()]
    }),
  )
}
