import { RECIPIENT_EVENTS } from '../../../events/event-types.ts'
import { ServiceError } from '../../../platform/errors.ts'
import type { RequestingDependencies } from '../dependencies.ts'
import { eventsNamed } from '../names.ts'
import { cleanTarget } from '../rules.ts'
import { sampleEvents } from '../samples.ts'
import { keysOf } from '../sealing.ts'
import type { Target, WebhookResponse } from '../send.ts'
import { makeSecret } from '../signature.ts'
import { requireWebhook } from './require-webhook.ts'

const UNSIGNED: Target = {
  url: '',
  format: 'v3',
  asText: false,
  abuse: false,
  eventIds: true,
  headers: {},
  signed: false,
  // Throwaway keys: these requests belong to no webhook.
  secrets: [makeSecret()],
  signingKey: Buffer.alloc(0),
}

export async function testWebhook(
  dependencies: RequestingDependencies,
  accountId: number,
  id: number,
  event?: string,
): Promise<WebhookResponse & { readonly events: number }> {
  const webhook = await requireWebhook(dependencies, accountId, id)
  const keys = await keysOf(dependencies, webhook)
  if (!keys) throw new ServiceError('webhookUnknown')
  const types = event === undefined ? webhook.events : eventsNamed([event], webhook.format)
  const events = sampleEvents(types, new Date())
  const response = await dependencies.requests.test(accountId, { ...webhook, ...keys }, events)
  return { ...response, events: events.length }
}

export async function testUrl(
  dependencies: RequestingDependencies,
  accountId: number,
  url: string,
  id?: number,
): Promise<WebhookResponse> {
  const webhook = id === undefined ? undefined : await requireWebhook(dependencies, accountId, id)
  const keys = webhook && (await keysOf(dependencies, webhook))
  const target = { ...UNSIGNED, ...webhook, ...keys }
  const cleaned = cleanTarget(dependencies.http, { url, headers: target.headers })
  return dependencies.requests.test(accountId, { ...target, ...cleaned }, sampleEvents(RECIPIENT_EVENTS, new Date()))
}
