import type { AuditValues } from '../../accounts/audit/index.ts'
import { parseDomain } from '../../mime/address.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/net/outbound-http.ts'
import { LIMITS } from '../../submission/limits.ts'
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
  const [domains, tags] = [domainsIn(settings.domains), tagsIn(settings.tags)]
  return { ...settings, domains, tags, events, url, headers: cleanHeaders(headers, before?.headers) }
}

/** Domains, or tags, to which a webhook is limited. */
const MAX_LIMITS = 50

function domainsIn(given: WebhookSettings['domains']): readonly string[] | null {
  return limitsIn('domains', given, (text) => {
    const domain = parseDomain(text)
    if (domain === undefined) throw invalidParameter('domains', 'must be a list of domain names')
    return domain
  })
}

function tagsIn(given: WebhookSettings['tags']): readonly string[] | null {
  return limitsIn('tags', given, (text) => {
    if (text.length > LIMITS.tag || text.includes('\0') || !text.isWellFormed())
      throw invalidParameter('tags', `must be a list of tags, of at most ${LIMITS.tag} characters each`)
    return text
  })
}

/** An empty list is no limit. */
function limitsIn(
  name: 'domains' | 'tags',
  given: readonly string[] | null | undefined,
  read: (text: string) => string,
): readonly string[] | null {
  const texts = (given ?? []).map((text) => text.trim()).filter((text) => text !== '')
  if (texts.length > MAX_LIMITS) throw invalidParameter(name, `must have at most ${MAX_LIMITS} entries`)
  return texts.length === 0 ? null : [...new Set(texts.map(read))]
}

/** Applies a change of settings. A change of format resets the event names, because they differ by format. */
export function changedSettings(before: Webhook, given: Partial<WebhookSettings>): WebhookSettings {
  const newFormat = given.format !== undefined && given.format !== before.format
  return { ...before, ...(newFormat ? { names: null } : {}), ...given }
}

/** Returns settings for the audit log. Only the names of headers are included, because values may be secrets. */
export function auditValues(settings: WebhookSettings): AuditValues {
  const { url, events, names, domains, tags, format, enabled, headers, label, signed } = settings
  const limits = { ...(domains ? { domains: [...domains] } : {}), ...(tags ? { tags: [...tags] } : {}) }
  const optional = { ...(names ? { names: [...names] } : {}), ...limits, ...(label === '' ? {} : { label }), signed }
  return { url: notedUrl(url), events: [...events], ...optional, format, enabled, headers: Object.keys(headers) }
}
