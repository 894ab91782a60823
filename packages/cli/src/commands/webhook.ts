import { type Core, defined, eventsNamed, type Webhook } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  limitOption,
  requiredId,
  requiredTarget,
  requiredText,
  textOption,
  UsageError,
  wholeOption,
} from '../command.ts'
import { table } from '../table.ts'

const EVENTS = 'Names of events, separated by commas, for example sent,bounced,opened'

/** URLs to which events of accounts are reported. */
export const webhookCommands: readonly Command[] = [
  {
    name: 'webhook create',
    usage: '--account ID --url URL --events NAMES [--format v2|v3]',
    summary: 'Create a webhook, and show its secret (once); the URL is probed and must return 200',
    parameters: { url: 'URL of the receiver', events: EVENTS, format: 'Format of the requests (default v2)' },
    examples: ['webhook create --account 12 --url https://ship.example/hook --events sent,bounced'],
    run: (call) => {
      const [accountId, url] = [requiredId(call, 'account'), requiredText(call, 'url')]
      const format = formatOption(call) ?? 'v2'
      const events = eventsNamed(namesIn(requiredText(call, 'events')), format)
      const rest = {
        headers: {},
        names: null,
        label: '',
        signed: true,
        enabled: true,
        asText: false,
        abuse: false,
        eventIds: false,
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
    name: 'webhook update',
    usage: 'ID --account ID [--url URL] [--events NAMES] [--enabled on|off]',
    summary: 'Change a webhook; if it is enabled again, it resumes where it stopped',
    parameters: { url: 'URL of the receiver', events: EVENTS, enabled: 'Whether events are sent' },
    run: (call) => {
      const [names, enabled] = [textOption(call, 'events'), switchOption(call)]
      const given = defined({ url: textOption(call, 'url'), enabled })
      if (names === undefined && Object.keys(given).length === 0) throw new UsageError('no changes given')
      return onWebhook(call, async (core, act) => {
        const { format } = await core.webhooks.show(act.accountId, act.id)
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
  {
    name: 'webhook deliveries',
    usage: 'ID --account ID [--limit N]',
    summary: 'List the latest requests of a webhook, newest first',
    parameters: { limit: 'Maximum number of requests (default 50)' },
    run: (call) => {
      const limit = limitOption(call)
      return onWebhook(call, async (core, act) => {
        const found = await core.webhooks.deliveries(act.accountId, act.id, limit)
        const rows = found.map((one) => [
          one.at,
          one.batchId,
          `${one.after + 1} to ${one.to}`,
          one.attempt,
          one.status ?? 'none',
          one.milliseconds,
          one.problem,
        ])
        return {
          data: found,
          text:
            rows.length > 0
              ? table(['time', 'batch', 'events', 'attempt', 'status', 'ms', 'problem'], rows)
              : 'no requests',
        }
      })
    },
  },
  {
    name: 'webhook failures',
    usage: 'ID --account ID [--limit N]',
    summary: 'List the dead-lettered batches of a webhook, latest first',
    run: (call) => {
      const limit = limitOption(call)
      return onWebhook(call, async (core, act) => {
        const found = await core.webhooks.dead(act.accountId, act.id, { limit, offset: 0 })
        const rows = found.batches.map((one) => [
          one.id,
          `${one.after + 1} to ${one.to}`,
          one.attempts,
          one.failedAt,
          one.problem,
        ])
        return {
          data: found,
          text:
            rows.length > 0 ? table(['batch', 'events', 'attempts', 'failed', 'problem'], rows) : 'no failed batches',
        }
      })
    },
  },
  {
    name: 'webhook redeliver',
    usage: 'ID --account ID [--batch ID]',
    summary: 'Send the dead-lettered batches of a webhook again, or one of them',
    parameters: { batch: 'Only the batch with this id; "webhook failures" lists them' },
    run: (call) =>
      onWebhook(call, async (core, act) => {
        const batches = await core.webhooks.redeliver(act, textOption(call, 'batch'))
        return { data: { batches }, text: `${batches} ${batches === 1 ? 'batch is' : 'batches are'} sent again` }
      }),
  },
  {
    name: 'webhook replay',
    usage: 'ID --account ID --from NUMBER',
    summary: 'Resume a webhook at an event number: this event and all later ones are sent, or sent again',
    parameters: { from: 'Number of the first event' },
    run: (call) => {
      const from = requiredId(call, 'from')
      return onWebhook(call, async (core, act) => {
        await core.webhooks.replay(act, from)
        return { data: { id: act.id, from }, text: `webhook ${act.id} resumes at event ${from}` }
      })
    },
  },
]

interface NamedWebhook {
  readonly accountId: number
  readonly id: number
}

function onWebhook(call: Call, fn: (core: Core, act: NamedWebhook) => Promise<Answer>): Promise<Answer> {
  const act = { id: requiredTarget(call, 'webhook'), accountId: requiredId(call, 'account') }
  return call.withCore(async (core) => {
    if (!(await core.webhooks.list(act.accountId)).some(({ id }) => id === act.id)) {
      throw new CommandError(`account ${act.accountId} has no webhook ${act.id}; "webhook list" lists them`)
    }
    return fn(core, act)
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

function switchOption(call: Call): boolean | undefined {
  const value = textOption(call, 'enabled')
  if (value !== undefined && value !== 'on' && value !== 'off')
    throw new UsageError(`--enabled must be on or off (got "${value}")`)
  return value === undefined ? undefined : value === 'on'
}
