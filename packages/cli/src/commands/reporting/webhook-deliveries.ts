import type { Core } from '@postrider/core'
import { type Command, CommandError, UsageError } from '../../command.ts'
import { table, tableOr } from '../../table.ts'
import { coreCommand, type Given } from '../core-command.ts'

const REQUEST = { REQUEST: 'Number of the request; "webhook deliveries" lists them' }

/** The requests of a webhook, and those that failed. */
export const webhookDeliveryCommands: readonly Command[] = [
  coreCommand({
    name: 'webhook deliveries',
    usage: 'ID --account ID [--failed] [--limit N]',
    summary: 'List the requests of a webhook of the last 7 days, newest first',
    parameters: { limit: 'Maximum number of requests (default 50)', failed: 'Only those that failed' },
    run: async (core, { limit, failed, ...given }) => {
      const { id, accountId } = await requireWebhook(core, given)
      const found = await core.webhooks.deliveries(accountId, id, { limit, failed })
      const rows = found.map(({ id: request, at, after, to, attempt, status, milliseconds, problem }) => [
        request,
        at,
        `${after + 1} to ${to}`,
        attempt,
        status ?? 'none',
        milliseconds,
        problem,
      ])
      const heading = ['request', 'time', 'events', 'attempt', 'status', 'ms', 'problem']
      return { data: found, text: tableOr('no requests', heading, rows) }
    },
  }),
  coreCommand({
    name: 'webhook delivery',
    usage: 'ID REQUEST --account ID',
    summary: 'Show a request of a webhook with both sides: header fields, body, response',
    parameters: REQUEST,
    run: async (core, { REQUEST: text, ...given }) => {
      const { id: webhookId, accountId } = await requireWebhook(core, given)
      const request = await core.webhooks.request(accountId, { webhookId, id: requestIdIn(text) })
      const { at, attempt, status, milliseconds, problem, batchState, nextTryAt } = request
      const facts = Object.entries({
        time: at,
        attempt,
        status: status ?? 'none',
        ms: milliseconds,
        problem,
        batch: batchState ?? 'delivered',
        'next try': nextTryAt,
      })
      const parts = [
        table(['', ''], facts),
        (request.headers ?? []).map(([name, value]) => `${name}: ${value ?? '(changed since)'}`).join('\n'),
        request.body ?? '(not stored)',
        request.answerHeaders.map(([name, value]) => `${name}: ${value}`).join('\n'),
        request.answer,
      ]
      return { data: request, text: parts.filter((part) => part !== '').join('\n\n') }
    },
  }),
  coreCommand({
    name: 'webhook resend',
    usage: 'ID REQUEST --account ID',
    summary: 'Send the batch of a request again, or at once if it waits for its next try',
    parameters: REQUEST,
    run: async (core, { REQUEST: text, ...given }) => {
      const batch = await core.webhooks.resend(await requireWebhook(core, given), requestIdIn(text))
      return { data: { batch }, text: `batch ${batch} is sent again` }
    },
  }),
  coreCommand({
    name: 'webhook failures',
    usage: 'ID --account ID [--limit N]',
    summary: 'List the dead-lettered batches of a webhook, latest first',
    run: async (core, { limit, ...given }) => {
      const { id, accountId } = await requireWebhook(core, given)
      const found = await core.webhooks.dead(accountId, id, { limit, offset: 0 })
      const rows = found.batches.map(({ id, after, to, attempts, failedAt, problem }) => [
        id,
        `${after + 1} to ${to}`,
        attempts,
        failedAt,
        problem,
      ])
      const heading = ['batch', 'events', 'attempts', 'failed', 'problem']
      return { data: found, text: tableOr('no failed batches', heading, rows) }
    },
  }),
  coreCommand({
    name: 'webhook redeliver',
    usage: 'ID --account ID [--batch ID]',
    summary: 'Send the dead-lettered batches of a webhook again, or one of them',
    parameters: { batch: 'Only the batch with this id; "webhook failures" lists them' },
    run: async (core, { batch, ...given }) => {
      const batches = await core.webhooks.redeliver(await requireWebhook(core, given), batch)
      return { data: { batches }, text: `${batches} ${batches === 1 ? 'batch is' : 'batches are'} sent again` }
    },
  }),
  coreCommand({
    name: 'webhook replay',
    usage: 'ID --account ID --from NUMBER',
    summary: 'Resume a webhook at an event number: this event and all later ones are sent, or sent again',
    parameters: { from: 'Number of the first event' },
    run: async (core, { from, ...given }) => {
      const act = await requireWebhook(core, given)
      await core.webhooks.replay(act, from)
      return { data: { id: act.id, from }, text: `webhook ${act.id} resumes at event ${from}` }
    },
  }),
]

/** Throws {@link UsageError}. */
function requestIdIn(text: string): number {
  if (!/^\d{1,16}$/.test(text)) throw new UsageError(`the request must be a number (got "${text}")`)
  return Number(text)
}

/** Throws {@link CommandError}. */
export async function requireWebhook({ webhooks }: Core, { ID: id, account: accountId }: Given<'ID --account ID'>) {
  if (!(await webhooks.list(accountId)).some((one) => one.id === id)) {
    throw new CommandError(`account ${accountId} has no webhook ${id}; "webhook list" lists them`)
  }
  return { id, accountId }
}
