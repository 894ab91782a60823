import type { RequestingDependencies } from '../dependencies.ts'
import { keysOf, openWebhook, seal } from '../sealing.ts'
import { auditValues, changedSettings, checkSettings } from '../settings.ts'
import { type Row, updateWebhook as updateRow } from '../store.ts'
import type { Webhook, WebhookAct, WebhookSettings } from '../webhook.ts'
import { changeWebhook, requireWebhook } from './require-webhook.ts'

export async function updateWebhook(
  dependencies: RequestingDependencies,
  act: WebhookAct,
  given: Partial<WebhookSettings>,
  ask: boolean,
): Promise<Webhook> {
  const { secrets, http, requests } = dependencies
  const before = await requireWebhook(dependencies, act.accountId, act.id)
  const wanted = checkSettings(http, changedSettings(before, given), before)
  const isNewTarget =
    wanted.url !== before.url || wanted.format !== before.format || !isSame(wanted.headers, before.headers)
  if (ask && wanted.enabled && (isNewTarget || !before.enabled)) {
    const keys = await keysOf(dependencies, before)
    if (keys) await requests.requireResponse(act.accountId, { ...wanted, ...keys })
  }
  const after = await changeWebhook(dependencies, act, 'edit', async (transaction, current) => {
    // Another request may have changed other settings meanwhile; these are kept.
    const merged = checkSettings(http, changedSettings(current, given), current)
    const revived = merged.enabled && (!current.enabled || isNewTarget)
    const headers = seal(secrets, act.accountId, JSON.stringify(merged.headers))
    const row = await updateRow(transaction, act.id, { ...merged, headers, revived })
    return { result: row, before: auditValues(current), after: auditValues(merged) }
  })
  return openWebhook(secrets, after as Row)
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())
}
