import type { AuditValues } from '../../accounts/audit/index.ts'
import type { OutboundHttp } from '../../platform/net/outbound-http.ts'
import { eventName, unknownEvent } from './names.ts'
import { cleanHeaders, cleanTarget, notedUrl } from './rules.ts'
import type { Webhook, WebhookSettings } from './webhook.ts'

/**
 * Returns settings as they are stored; headers that were sent back hidden have the values of `before`. Throws webhookUrlInvalid,
 * webhookEventInvalid or parameterInvalid (headers).
 */
export function checkSettings(http: OutboundHttp, settings: WebhookSettings, before?: Webhook): WebhookSettings {
  const events = settings.events.filter((type) => eventName(type, settings.format) !== null)
  // A webhook with a list of event names may have an empty list.
  if (events.length === 0 && settings.names === null) throw unknownEvent('', settings.format)
  const { url, headers } = cleanTarget(http, settings)
  return { ...settings, events, url, headers: cleanHeaders(headers, before?.headers) }
}

/** Applies a change of settings. A change of format resets the event names, because they differ by format. */
export function changedSettings(before: Webhook, given: Partial<WebhookSettings>): WebhookSettings {
  const newFormat = given.format !== undefined && given.format !== before.format
  return { ...before, ...(newFormat ? { names: null } : {}), ...given }
}

/** Returns settings for the audit log. Only the names of headers are included, because values may be secrets. */
export function auditValues(settings: WebhookSettings): AuditValues {
  const { url, events, names, format, enabled, headers, label, signed } = settings
  const optional = { ...(names ? { names: [...names] } : {}), ...(label === '' ? {} : { label }), signed }
  return { url: notedUrl(url), events: [...events], ...optional, format, enabled, headers: Object.keys(headers) }
}
