import type { Sql } from '../../platform/database/database.ts'
import type { SealedColumn } from '../../platform/security/key-rotation.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { type Row, selectKeys } from './store.ts'
import type { Webhook, WebhookKeys } from './webhook.ts'

/** Encrypts headers or a key of one of the account's webhooks. */
export function seal(secrets: Secrets, accountId: number, plain: Buffer | string): Buffer {
  return secrets.seal(Buffer.from(plain), `webhook ${accountId}`)
}

/** Returns a stored webhook with its headers decrypted. */
export function openWebhook(secrets: Secrets, { headers, ...row }: Row): Webhook {
  const plain = open(secrets, row.accountId, headers).toString()
  return { ...row, headers: JSON.parse(plain) as Record<string, string> }
}

/** Returns the keys of a webhook; undefined if it was deleted. */
export async function keysOf(
  { sql, secrets }: { readonly sql: Sql; readonly secrets: Secrets },
  { id, accountId }: Webhook,
): Promise<WebhookKeys | undefined> {
  const sealed = await selectKeys(sql, id)
  if (!sealed) return undefined
  const all = [sealed.secret, ...(sealed.formerSecret ? [sealed.formerSecret] : [])]
  return {
    secrets: all.map((box) => open(secrets, accountId, box)),
    signingKey: open(secrets, accountId, sealed.signingKey),
  }
}

/** The stored values that are sealed here. */
export const SEALED_WEBHOOK_COLUMNS: readonly SealedColumn[] = (
  ['headers', 'secret', 'former_secret', 'signing_key'] as const
).map((column) => ({
  what: 'secrets of webhooks',
  table: 'webhooks',
  keyType: 'int',
  column,
  context: (sql) => sql`'webhook ' || t.account_id`,
}))

function open(secrets: Secrets, accountId: number, box: Buffer): Buffer {
  return secrets.open(box, `webhook ${accountId}`)
}
