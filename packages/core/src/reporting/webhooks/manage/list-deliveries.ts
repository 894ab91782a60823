import type { WebhooksDependencies } from '../dependencies.ts'
import { selectDead, selectDeliveries } from '../store.ts'
import type { DeadBatch, WebhookDelivery } from '../webhook.ts'
import { requireWebhook } from './require-webhook.ts'

export async function listDeliveries(
  dependencies: WebhooksDependencies,
  accountId: number,
  id: number,
  limit: number,
): Promise<WebhookDelivery[]> {
  await requireWebhook(dependencies, accountId, id)
  return selectDeliveries(dependencies.sql, id, limit)
}

export async function listDead(
  dependencies: WebhooksDependencies,
  accountId: number,
  id: number,
  page: { limit: number; offset: number },
): Promise<{ batches: DeadBatch[]; total: number }> {
  await requireWebhook(dependencies, accountId, id)
  return selectDead(dependencies.sql, id, page)
}
