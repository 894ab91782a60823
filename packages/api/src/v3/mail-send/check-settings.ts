import { isEnabled, isGiven, type RawSetting } from './body.ts'
import { addressOf } from './check-mailboxes.ts'
import type { Check, Complaints } from './complaints.ts'

const MAIL_SETTINGS = [
  ...(['bypass_list_management', 'bypass_spam_management', 'bypass_bounce_management'] as const),
  ...(['bypass_unsubscribe_management', 'footer', 'sandbox_mode', 'bcc', 'spam_check'] as const),
]

/** Rows 64 to 68. */
export function checkMailSettings({ mail, complaints }: Check): void {
  const settings = mail.mail_settings
  if (!isGiven(settings)) return
  for (const name of MAIL_SETTINGS) {
    const enable = settings[name]?.enable
    if (!isGiven(enable) || typeof enable === 'boolean') continue
    complaints.add('mailSettingInvalid', `mail_settings.${name}.enable`, { setting: name.replaceAll('_', ' ') })
  }
  const others = ['bypass_spam_management', 'bypass_bounce_management', 'bypass_unsubscribe_management']
  if (isGiven(settings.bypass_list_management) && others.some((name) => isGiven(settings[name]))) {
    complaints.add('bypassConflict', 'mail_settings.bypass_list_management')
  }
  for (const [part, kind] of [
    ['text', 'text/plain'],
    ['html', 'text/html'],
  ] as const) {
    const footer = settings.footer?.[part]
    if (isGiven(footer) && typeof footer !== 'string') {
      complaints.add('footerInvalid', `mail_settings.footer.${part}`, { kind })
    }
  }
  checkRetired(settings, complaints)
}

/** Settings that do nothing any more, refused when they could never have done anything. */
function checkRetired({ bcc, spam_check: check }: Readonly<Record<string, RawSetting | null>>, complaints: Complaints) {
  if (isEnabled(bcc) && !addressOf(bcc?.email)) complaints.add('bccInvalid', 'mail_settings.bcc.email')
  if (!isGiven(check)) return
  const { threshold, post_to_url: url } = check
  if (isGiven(threshold) && !(Number.isInteger(threshold) && Number(threshold) >= 1 && Number(threshold) <= 10)) {
    complaints.add('thresholdInvalid', 'mail_settings.spam_check.threshold')
  }
  if ((isGiven(url) || isEnabled(check)) && !(typeof url === 'string' && /^https?:\/\//i.test(url))) {
    complaints.add('postUrlInvalid', 'mail_settings.spam_check.post_to_url')
  }
}

const TRACKING: Readonly<Record<string, { readonly flags: readonly string[]; readonly texts: readonly string[] }>> = {
  click_tracking: { flags: ['enable', 'enable_text'], texts: [] },
  open_tracking: { flags: ['enable'], texts: ['substitution_tag'] },
  subscription_tracking: { flags: ['enable'], texts: ['text', 'html', 'substitution_tag'] },
  ganalytics: {
    flags: ['enable'],
    texts: ['utm_source', 'utm_medium', 'utm_term', 'utm_content', 'utm_campaign'],
  },
}

/** Rows 69 and 70. */
export function checkTrackingSettings({ mail, complaints }: Check): void {
  for (const [name, { flags, texts }] of Object.entries(TRACKING)) {
    const given = mail.tracking_settings?.[name]
    if (!isGiven(given)) continue
    const setting = name.replaceAll('_', ' ')
    const wrong = (params: readonly string[], type: string): readonly string[] =>
      params.filter((param) => isGiven(given[param]) && typeof given[param] !== type)
    for (const param of wrong(flags, 'boolean')) {
      complaints.add('trackingInvalid', `tracking_settings.${name}.${param}`, { setting, param })
    }
    for (const param of wrong(texts, 'string')) {
      complaints.add('trackingNotText', `tracking_settings.${name}.${param}`, { setting, param })
    }
  }
}
