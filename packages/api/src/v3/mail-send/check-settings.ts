import { isGiven } from './body.ts'
import type { Check } from './validation-errors.ts'

const MAIL_SETTINGS = [
  'bypass_list_management',
  'bypass_spam_management',
  'bypass_bounce_management',
  'bypass_unsubscribe_management',
  'footer',
  'sandbox_mode',
]

/** Rows 64 to 66. The settings `bcc` and `spam_check` are retired and not checked. */
export function checkMailSettings({ mail, errors }: Check): void {
  const settings = mail.mail_settings
  if (!isGiven(settings)) return
  for (const name of MAIL_SETTINGS) {
    const enable = settings[name]?.enable
    if (!isGiven(enable) || typeof enable === 'boolean') continue
    errors.add('mailSettingInvalid', `mail_settings.${name}.enable`, { setting: name.replaceAll('_', ' ') })
  }
  const others = ['bypass_spam_management', 'bypass_bounce_management', 'bypass_unsubscribe_management']
  if (isGiven(settings.bypass_list_management) && others.some((name) => isGiven(settings[name]))) {
    errors.add('bypassConflict', 'mail_settings.bypass_list_management')
  }
  for (const [part, kind] of [
    ['text', 'text/plain'],
    ['html', 'text/html'],
  ] as const) {
    const footer = settings.footer?.[part]
    if (isGiven(footer) && typeof footer !== 'string') {
      errors.add('footerInvalid', `mail_settings.footer.${part}`, { kind })
    }
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
export function checkTrackingSettings({ mail, errors }: Check): void {
  for (const [name, { flags, texts }] of Object.entries(TRACKING)) {
    const given = mail.tracking_settings?.[name]
    if (!isGiven(given)) continue
    const setting = name.replaceAll('_', ' ')
    const wrong = (params: readonly string[], type: string): readonly string[] =>
      params.filter((param) => isGiven(given[param]) && typeof given[param] !== type)
    for (const param of wrong(flags, 'boolean')) {
      errors.add('trackingInvalid', `tracking_settings.${name}.${param}`, { setting, param })
    }
    for (const param of wrong(texts, 'string')) {
      errors.add('trackingNotText', `tracking_settings.${name}.${param}`, { setting, param })
    }
  }
}
