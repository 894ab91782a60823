import { acceptMessage } from '../../../core/submission.ts'
import { numberEvents } from '../../../helpers/number-events.ts'
import type { Caller, Setting, Wall } from './entry.ts'

/** Disabled, so that no url is asked. */
const settings = { url: 'https://hooks.example/here', events: 'sent', enabled: 0 }

/** An account has ten at most. */
async function make({ act }: Setting, owner: Caller) {
  const others = (await act(owner, 'listWebhooks', {})) as { webhookId: number }[]
  for (const { webhookId } of others.slice(0, -5)) await act(owner, 'removeWebhook', { webhookId })
  const { webhookId } = (await act(owner, 'createWebhook', settings)) as { webhookId: number }
  return { webhookId }
}

const missing = { webhookId: 2_000_000_000 }
const seen = ({ webhookId }: { webhookId?: unknown }) => ['showWebhook', { webhookId }] as const

/** A request that was sent, and a batch that was given up. */
async function withRequest(setting: Setting, owner: Caller) {
  const { webhookId } = await make(setting, owner)
  const [row] = await setting.service.sql<{ requestId: string }[]>`
    insert into webhook_deliveries (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status,
                                    milliseconds, types, events)
    values (${webhookId}, 1, ${owner.accountId}, gen_random_uuid(), now(), 0, 1, 1, 200, 1, '{sent}', 1)
    returning (extract(epoch from at) * 1000000)::bigint::text as "requestId"`
  return { webhookId, requestId: row?.requestId }
}
async function withFailure(setting: Setting, owner: Caller) {
  const { webhookId } = await make(setting, owner)
  const [row] = await setting.service.sql<{ failureId: string }[]>`
    insert into webhook_batches (webhook_id, account_id, after_number, to_number, types, state, failed_at, events)
    values (${webhookId}, ${owner.accountId}, 0, 1, '{sent}', 'dead', service_now(), 1) returning id as "failureId"`
  return { webhookId, failureId: row?.failureId }
}

export const webhooks: Wall = {
  createWebhook: { kind: 'own', make, input: settings, seen: ['listWebhooks', {}] },
  listWebhooks: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'createWebhook', { ...settings, url: 'https://marked.example/own' })
      return 'marked.example'
    },
  },
  showWebhook: { kind: 'object', make, missing, seen },
  showWebhookDelivery: { kind: 'object', make: withRequest, missing, seen },
  resendWebhookDelivery: { kind: 'object', make: withRequest, missing, seen },
  redeliverWebhookFailures: { kind: 'object', make: withFailure, missing, seen },
  replayWebhook: {
    kind: 'object',
    async make(setting, owner) {
      await acceptMessage(setting.service, { ...owner, accountName: '' }, {})
      await numberEvents(setting.service)
      return { ...(await make(setting, owner)), from: 1 }
    },
    missing,
    seen,
  },
}
