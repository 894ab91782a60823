import { ServiceError } from '../../../platform/errors.ts'
import type { WebhooksDependencies } from '../dependencies.ts'
import { reviveDead } from '../store.ts'
import type { WebhookAct } from '../webhook.ts'
import { changeWebhook } from './require-webhook.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function redeliver(
  dependencies: WebhooksDependencies,
  act: WebhookAct,
  batchId?: string,
): Promise<number> {
  const count = await changeWebhook(dependencies, act, 'redeliver', async (transaction) => {
    const named = batchId === undefined || UUID.test(batchId)
    const revived = named ? await reviveDead(transaction, act.id, batchId) : 0
    if (revived === 0 && batchId !== undefined) throw new ServiceError('webhookFailureUnknown')
    return revived === 0 ? undefined : { result: revived, after: { batches: revived } }
  })
  return count ?? 0
}
