import type { Core } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  limitOption,
  requiredId,
  requiredTarget,
  textOption,
} from '../../command.ts'
import { table } from '../../table.ts'

/** The requests of a webhook, and those that failed. */
export const webhookDeliveryCommands: readonly Command[] = [
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

export function onWebhook(call: Call, fn: (core: Core, act: NamedWebhook) => Promise<Answer>): Promise<Answer> {
  const act = { id: requiredTarget(call, 'webhook'), accountId: requiredId(call, 'account') }
  return call.withCore(async (core) => {
    if (!(await core.webhooks.list(act.accountId)).some(({ id }) => id === act.id)) {
      throw new CommandError(`account ${act.accountId} has no webhook ${act.id}; "webhook list" lists them`)
    }
    return fn(core, act)
  })
}
