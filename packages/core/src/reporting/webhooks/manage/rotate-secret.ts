import type { WebhooksDependencies } from '../dependencies.ts'
import { seal } from '../sealing.ts'
import { makeSecret, secretText } from '../signature.ts'
import { replaceSecret } from '../store.ts'
import type { WebhookAct } from '../webhook.ts'
import { changeWebhook } from './require-webhook.ts'

const OVERLAP_HOURS = 24

export async function rotateSecret(
  dependencies: WebhooksDependencies,
  act: WebhookAct,
  overlapHours = OVERLAP_HOURS,
): Promise<string> {
  const secret = makeSecret()
  await changeWebhook(dependencies, act, 'rotate', async (transaction) => {
    await replaceSecret(transaction, act.id, seal(dependencies.secrets, act.accountId, secret), overlapHours)
    return { result: undefined, after: { overlapHours } }
  })
  return secretText(secret)
}
