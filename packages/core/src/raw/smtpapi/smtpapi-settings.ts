import { defined } from '../../platform/defined.ts'
import type { MessageSettings } from '../../submission/submission.ts'
import type { Bypass } from '../../submission/submission-details.ts'
import type { SmtpApi } from './smtpapi.ts'
import type { Filters } from './smtpapi-filters.ts'

/** The settings given in X-SMTPAPI. Omitted ones keep the value of X-SETTINGS or of the account. */
export function settingsOf({ filters, groupId, groupsToDisplay, ipPool }: SmtpApi): MessageSettings {
  const { clickTracking, openTracking, subscriptionTracking, footer, ganalytics } = filters
  const bypass = bypassOf(filters)
  const utm = ganalytics?.enable ? Object.fromEntries([...ganalytics.utm].filter(([, value]) => value !== '')) : {}
  return {
    ...switchOf('clickTracking', clickTracking?.enable),
    // As in v3: if click tracking is given, links in the text part are tracked only on request.
    ...(clickTracking?.enable === undefined ? {} : { clickTrackingInText: clickTracking.enableText === true }),
    ...switchOf('openTracking', openTracking?.enable),
    ...(openTracking?.enable && openTracking.tag ? { openTag: openTracking.tag } : {}),
    ...switchOf('unsubscribe', subscriptionTracking?.enable),
    ...unsubscribeTexts(subscriptionTracking),
    ...footerOf(footer),
    ...(Object.keys(utm).length > 0 ? { linkParameters: utm } : {}),
    ...(bypass.length > 0 ? { bypass } : {}),
    ...(groupId === undefined ? {} : { group: groupId, groupLink: true }),
    ...defined({ groupsToDisplay, pool: ipPool || undefined }),
  }
}

/** The legacy template to use. A template_id without `enable` counts as enabled. */
export function templateKeyOf({ filters: { template } }: SmtpApi): string | undefined {
  return template?.enable === false ? undefined : template?.templateId || undefined
}

function switchOf(
  name: 'clickTracking' | 'openTracking' | 'unsubscribe',
  on: boolean | undefined,
): Partial<Record<typeof name, boolean>> {
  return on === undefined ? {} : { [name]: on }
}

function bypassOf(filters: Filters): Bypass[] {
  if (filters.bypassListManagement?.enable) return ['all']
  return [
    ...(filters.bypassBounceManagement?.enable ? (['hardbounce'] as const) : []),
    ...(filters.bypassSpamManagement?.enable ? (['abuse'] as const) : []),
    ...(filters.bypassUnsubscribeManagement?.enable ? (['unsubscribe'] as const) : []),
  ]
}

function unsubscribeTexts(filter: Filters['subscriptionTracking']): Pick<MessageSettings, 'unsubscribeTexts'> {
  if (!filter?.enable) return {}
  const { text, html, tag } = filter
  const texts = { ...(text ? { text } : {}), ...(html ? { html } : {}), ...(tag ? { tag } : {}) }
  return Object.keys(texts).length > 0 ? { unsubscribeTexts: texts } : {}
}

function footerOf(filter: Filters['footer']): Pick<MessageSettings, 'footer' | 'footerTexts'> {
  if (filter?.enable === false) return { footer: false }
  if (!filter?.enable || !(filter.text || filter.html)) return {}
  return { footer: true, footerTexts: { text: filter.text ?? '', html: filter.html ?? '' } }
}
