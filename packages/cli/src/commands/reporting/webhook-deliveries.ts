import type { Core } from '@postrider/core'
import { type Command, CommandError } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { coreCommand, type Given } from '../core-command.ts'

/** The requests of a webhook, and those that failed. */
export const webhookDeliveryCommands: readonly Command[] = [
  coreCommand({
    name: 'webhook deliveries',
    usage: 'ID --account ID [--limit N]',
    summary: 'List the latest requests of a webhook, newest first',
    parameters: { limit: 'Maximum number of requests (default 50)' },
    run: async (core, { limit, ...given }) => {
      const { id, accountId } = await requireWebhook(core, given)
      const found = await core.webhooks.deliveries(accountId, id, limit)
      const rows = found.map(({ at, batchId, after, to, attempt, status, milliseconds, problem }) => [
        at,
        batchId,
        `${after + 1} to ${to}`,
        attempt,
        status ?? 'none',
        milliseconds,
        problem,
      ])
      const heading = ['time', 'batch', 'events', 'attempt', 'status', 'ms', 'problem']
      return { data: found, text: tableOr('no requests', heading, rows) }
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

/** Throws {@link CommandError}. */
export async function requireWebhook({ webhooks }: Core, { ID: id, account: accountId }: Given<'ID --account ID'>) {
  if (!(await webhooks.list(accountId)).some((one) => one.id === id)) {
    throw new CommandError(`account ${accountId} has no webhook ${id}; "webhook list" lists them`)
  }
  return { id, accountId }
}
