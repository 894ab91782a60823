import { type AuditValues, noteChange, OPERATOR } from '../../../accounts/audit/index.ts'
import type { SqlTransaction } from '../../../platform/database/database.ts'
import { ServiceError } from '../../../platform/errors.ts'
import type { WebhooksDependencies } from '../dependencies.ts'
import { openWebhook } from '../sealing.ts'
import { lockWebhook, selectWebhook } from '../store.ts'
import type { Webhook, WebhookAct } from '../webhook.ts'

/** Throws webhookUnknown. */
export async function requireWebhook(
  { sql, secrets }: WebhooksDependencies,
  accountId: number,
  id: number,
): Promise<Webhook> {
  const row = await selectWebhook(sql, accountId, id)
  if (!row) throw new ServiceError('webhookUnknown')
  return openWebhook(secrets, row)
}

/** The result of a change, and the changed values for the audit log. */
export interface NotedChange<T> {
  readonly result: T
  readonly before?: AuditValues
  readonly after?: AuditValues
}

/**
 * Runs `fn` in a transaction that locks the webhook, and records the change in the account's audit log; undefined if `fn` changed
 * nothing. Throws webhookUnknown.
 */
export async function changeWebhook<T>(
  { sql, secrets }: WebhooksDependencies,
  { accountId, id, by = OPERATOR }: WebhookAct,
  what: string,
  fn: (transaction: SqlTransaction, webhook: Webhook) => Promise<NotedChange<T> | undefined>,
): Promise<T | undefined> {
  const done = await sql.begin(async (transaction) => {
    const row = await lockWebhook(transaction, accountId, id)
    if (!row) throw new ServiceError('webhookUnknown')
    const change = await fn(transaction, openWebhook(secrets, row))
    if (!change) return undefined
    const { result, ...values } = change
    await noteChange(transaction, { accountId, by, action: `webhook.${what}`, object: `webhook ${id}`, ...values })
    return { result }
  })
  return done?.result as T | undefined
}
