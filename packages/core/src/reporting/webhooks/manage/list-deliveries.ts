import type { WebhooksDependencies } from '../dependencies.ts'
import { type RequestPage, selectRequests } from '../requests.ts'
import { selectDead } from '../store.ts'
import type { DeadBatch, WebhookDelivery } from '../webhook.ts'
import { requireWebhook } from './require-webhook.ts'

export async function listDeliveries(
  dependencies: WebhooksDependencies,
  accountId: number,
  id: number,
  page: RequestPage,
): Promise<WebhookDelivery[]> {
  await requireWebhook(dependencies, accountId, id)
  return selectRequests(dependencies.sql, id, page)
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
