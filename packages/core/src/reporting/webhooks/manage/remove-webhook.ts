import type { WebhooksDependencies } from '../dependencies.ts'
import { auditValues } from '../settings.ts'
import { deleteWebhook } from '../store.ts'
import type { WebhookAct } from '../webhook.ts'
import { changeWebhook } from './require-webhook.ts'

export async function removeWebhook(dependencies: WebhooksDependencies, act: WebhookAct): Promise<void> {
  await changeWebhook(dependencies, act, 'remove', async (transaction, webhook) => {
    await deleteWebhook(transaction, webhook.id)
    return { result: undefined, before: auditValues(webhook) }
  })
}
