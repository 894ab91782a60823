import { generationOf } from '../../content/editable/template-id.ts'
import { defined } from '../../platform/defined.ts'
import type { Values } from './smtpapi-values.ts'

/**
 * The `filters` of X-SMTPAPI. Omitted filters are absent; `enable` is absent if the filter omits it. Retired filters (bcc,
 * spamcheck, gravatar), dkim, template and unknown ones are ignored (v3 contract section 13).
 */
export interface Filters {
  /** v3's mail_settings.bypass_list_management and the three narrower ones. */
  readonly bypassListManagement?: Switch
  readonly bypassSpamManagement?: Switch
  readonly bypassBounceManagement?: Switch
  readonly bypassUnsubscribeManagement?: Switch
  /** MessageSettings.clickTracking; `enableText`: also in the plain text. */
  readonly clickTracking?: Switch & { readonly enableText?: boolean }
  /** MessageSettings.openTracking; `tag` is where the pixel goes (v3's substitution_tag). */
  readonly openTracking?: Switch & { readonly tag?: string }
  /** MessageSettings.unsubscribe; in texts `<% %>` is the link, `tag` is replaced by the bare URL (v3's substitution_tag). */
  readonly subscriptionTracking?: Switch & Texts & { readonly tag?: string; readonly landing?: string }
  /** MessageSettings.footer with custom texts (v3's mail_settings.footer). */
  readonly footer?: Switch & Texts
  /** v3's tracking_settings.ganalytics: utm_… → value. */
  readonly ganalytics?: Switch & { readonly utm: ReadonlyMap<string, string> }
  /** A legacy template (becomes Submission.templateId); dynamic ones cannot be used over SMTP. */
  readonly template?: Switch & { readonly templateId?: string }
}

export interface Switch {
  readonly enable?: boolean
}

export interface Texts {
  readonly html?: string
  readonly text?: string
}

/** Limits far above real use. */
const MAX_FILTERS = 50
const MAX_SETTINGS = 50
const MAX_TEXT_LENGTH = 100_000
const UTM = ['utm_source', 'utm_medium', 'utm_term', 'utm_content', 'utm_campaign']

export function readFilters(values: Values, value: unknown): Filters {
  const named = values.object('filters', value)
  if (!named) return {}
  if (named.size > MAX_FILTERS) {
    values.wrong('filters', `must have at most ${MAX_FILTERS} keys`)
    return {}
  }
  const filters: Record<string, unknown> = {}
  for (const [name, filter] of named) {
    const reader = READERS.get(name)
    if (!reader) continue
    const [member, read] = reader
    filters[member] = read(new Settings(values, `filters.${name}`, filter))
  }
  return filters as Filters
}

type Reader = readonly [member: keyof Filters, read: (settings: Settings) => Filters[keyof Filters]]

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['bypass_list_management', ['bypassListManagement', (settings) => settings.enabled()]],
  ['bypass_spam_management', ['bypassSpamManagement', (settings) => settings.enabled()]],
  ['bypass_bounce_management', ['bypassBounceManagement', (settings) => settings.enabled()]],
  ['bypass_unsubscribe_management', ['bypassUnsubscribeManagement', (settings) => settings.enabled()]],
  ['clicktrack', ['clickTracking', (settings) => settings.enabled({ enableText: settings.flag('enable_text') })]],
  ['opentrack', ['openTracking', (settings) => settings.enabled({ tag: settings.text('replace') })]],
  [
    'subscriptiontrack',
    [
      'subscriptionTracking',
      (settings) =>
        settings.enabled({ ...settings.texts(), tag: settings.text('replace'), landing: settings.text('landing') }),
    ],
  ],
  ['footer', ['footer', (settings) => settings.enabled(settings.texts())]],
  ['ganalytics', ['ganalytics', (settings) => settings.enabled({ utm: settings.utm() })]],
  ['templates', ['template', (settings) => settings.enabled({ templateId: settings.templateId() })]],
])

/** The settings of one filter. */
class Settings {
  readonly #values: Values
  readonly #path: string
  readonly #settings: ReadonlyMap<string, unknown>

  constructor(values: Values, path: string, filter: unknown) {
    this.#values = values
    this.#path = `${path}.settings`
    const settings = values.object(this.#path, values.object(path, filter)?.get('settings'))
    if (settings && settings.size > MAX_SETTINGS) values.wrong(this.#path, `must have at most ${MAX_SETTINGS} keys`)
    this.#settings = settings ?? new Map()
  }

  /** `enable` with the given members of `others`. */
  enabled<T extends object>(others?: T): Switch & T {
    const all = { enable: this.flag('enable'), ...others }
    return Object.fromEntries(Object.entries(all).filter(([, given]) => given !== undefined)) as Switch & T
  }

  flag(name: string): boolean | undefined {
    return this.#values.flag(`${this.#path}.${name}`, this.#settings.get(name))
  }

  text(name: string): string | undefined {
    return this.#values.text(`${this.#path}.${name}`, this.#settings.get(name), MAX_TEXT_LENGTH)
  }

  texts(): Texts {
    const [html, text] = [this.text('text/html'), this.text('text/plain')]
    return defined({ html, text })
  }

  utm(): ReadonlyMap<string, string> {
    const given = UTM.map((name) => [name, this.text(name)] as const)
    return new Map(given.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])))
  }

  templateId(): string | undefined {
    const id = this.text('template_id')
    if (id === undefined || generationOf(id.toLowerCase()) === 'legacy') return id
    const dynamic = id.startsWith('d-')
      ? 'dynamic templates cannot be used over SMTP'
      : 'must be the id of a legacy template'
    return this.#values.wrong(`${this.#path}.template_id`, dynamic)
  }
}
