import { type Actor, noteChange } from '../../../accounts/audit/index.ts'
import { requireActive, requireNotDeleted } from '../../../accounts/require-active.ts'
import { ServiceError } from '../../../platform/errors.ts'
import type { RequestingDependencies } from '../dependencies.ts'
import { openWebhook, seal } from '../sealing.ts'
import { auditValues, checkSettings } from '../settings.ts'
import { makeSecret, makeSigningKey, secretText } from '../signature.ts'
import { countLocked, insertWebhook, type Row, selectWebhooks } from '../store.ts'
import type { Webhook, WebhookSettings } from '../webhook.ts'

export const MAX_WEBHOOKS = 10

export async function createWebhook(
  { sql, secrets, http, requests }: RequestingDependencies,
  settings: WebhookSettings,
  { accountId, by, ask }: { readonly accountId: number; readonly by: Actor; readonly ask: boolean },
): Promise<{ webhook: Webhook; secret: string }> {
  await requireActive(sql, accountId, by)
  const wanted = checkSettings(http, settings)
  const secret = makeSecret()
  const { privateKey, publicKey } = makeSigningKey()
  requireCapacity((await selectWebhooks(sql, accountId)).length)
  if (wanted.enabled && ask)
    await requests.requireResponse(accountId, { ...wanted, secrets: [secret], signingKey: privateKey })
  const row = (await sql.begin(async (transaction) => {
    await requireNotDeleted(transaction, accountId)
    requireCapacity(await countLocked(transaction, accountId))
    const made = await insertWebhook(transaction, {
      ...wanted,
      accountId,
      headers: seal(secrets, accountId, JSON.stringify(wanted.headers)),
      secret: seal(secrets, accountId, secret),
      signingKey: seal(secrets, accountId, privateKey),
      publicKey,
    })
    const object = `webhook ${made.id}`
    await noteChange(transaction, { accountId, by, action: 'webhook.create', object, after: auditValues(wanted) })
    return made
  })) as Row
  return { webhook: openWebhook(secrets, row), secret: secretText(secret) }
}

/** Throws webhooksTooMany. */
function requireCapacity(count: number): void {
  if (count >= MAX_WEBHOOKS) throw new ServiceError('webhooksTooMany', { values: { limit: MAX_WEBHOOKS } })
}
