import type { Bypass, MessageSettings } from '@postrider/core'
import { isEnabled, isGiven, type RawMail, type RawSetting } from './body.ts'

/** Returns the settings of a valid message; omitted ones default to the account's settings. */
export function settingsOf({ asm, mail_settings: mail, tracking_settings: tracking }: RawMail): MessageSettings {
  const { click_tracking: click, open_tracking: open, subscription_tracking: unsubscribe, ganalytics } = tracking ?? {}
  const bypass = bypassOf(mail)
  return {
    ...flag('clickTracking', click),
    // If click tracking is given, links in the text part are tracked only on request.
    ...(isGiven(click) && isGiven(click.enable) ? { clickTrackingInText: click.enable_text === true } : {}),
    ...flag('openTracking', open),
    ...(isEnabled(open) && isText(open?.substitution_tag) ? { openTag: open.substitution_tag } : {}),
    ...flag('unsubscribe', unsubscribe),
    ...unsubscribeTexts(unsubscribe),
    ...linkParameters(ganalytics),
    ...footerOf(mail?.footer),
    ...(bypass.length > 0 ? { bypass } : {}),
    ...(isGiven(asm) ? { group: Number(asm.group_id), groupLink: true } : {}),
    // An empty list means all groups, so that no recipient loses a choice (contract section 13).
    ...(isGiven(asm) && Array.isArray(asm.groups_to_display) && asm.groups_to_display.length > 0
      ? { groupsToDisplay: asm.groups_to_display as number[] }
      : {}),
  }
}

type Flag = 'clickTracking' | 'openTracking' | 'unsubscribe'

function flag(name: Flag, setting: RawSetting | null | undefined): Partial<Record<Flag, boolean>> {
  return typeof setting?.enable === 'boolean' ? { [name]: setting.enable } : {}
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function bypassOf(mail: RawMail['mail_settings']): Bypass[] {
  if (isEnabled(mail?.bypass_list_management)) return ['all']
  const kinds: readonly [string, Bypass][] = [
    ['bypass_bounce_management', 'hardbounce'],
    ['bypass_spam_management', 'abuse'],
    ['bypass_unsubscribe_management', 'unsubscribe'],
  ]
  return kinds.flatMap(([name, kind]) => (isEnabled(mail?.[name]) ? [kind] : []))
}

function footerOf(footer: RawSetting | null | undefined): Pick<MessageSettings, 'footer' | 'footerTexts'> {
  if (footer?.enable === false) return { footer: false }
  if (!isEnabled(footer) || !(isText(footer?.text) || isText(footer?.html))) return {}
  const { text, html } = footer
  return { footer: true, footerTexts: { text: isText(text) ? text : '', html: isText(html) ? html : '' } }
}

function unsubscribeTexts(setting: RawSetting | null | undefined): Pick<MessageSettings, 'unsubscribeTexts'> {
  if (!isEnabled(setting)) return {}
  const { text, html, substitution_tag: tag } = setting ?? {}
  const texts = {
    ...(isText(text) ? { text } : {}),
    ...(isText(html) ? { html } : {}),
    ...(isText(tag) ? { tag } : {}),
  }
  return Object.keys(texts).length > 0 ? { unsubscribeTexts: texts } : {}
}

function linkParameters(setting: RawSetting | null | undefined): Pick<MessageSettings, 'linkParameters'> {
  if (!isEnabled(setting)) return {}
  const given = Object.entries(setting ?? {}).filter(([name, value]) => name.startsWith('utm_') && isText(value))
  return given.length > 0 ? { linkParameters: Object.fromEntries(given) as Record<string, string> } : {}
}
