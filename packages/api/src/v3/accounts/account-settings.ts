import { type AccountSettings, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { refuse } from '../refusal.ts'

/** Clients send back the values they received, including null. */
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })
const Change = Type.Object({
  enabled: Type.Optional(Type.Boolean()),
  html_content: Type.Optional(TextOrNull),
  plain_content: Type.Optional(TextOrNull),
})
const Switch = Type.Object({ enabled: Change.properties.enabled })
type Change = Static<typeof Change>

/** One account setting of v3. Its flag is called `enabled`, where mail/send has `enable`. */
interface Setting {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Further fields besides `enabled`, with their empty values. */
  readonly rest: Readonly<Record<string, unknown>>
  /** The corresponding account setting. If undefined, the setting is not supported and always off. */
  readonly own?: {
    readonly shown: (settings: AccountSettings) => Readonly<Record<string, unknown>>
    /** Throws V3Refusal. */
    readonly change: (given: Change, before: AccountSettings) => Partial<AccountSettings>
  }
}

function switched(name: 'openTracking' | 'clickTracking'): Required<Setting>['own'] {
  return {
    shown: (settings) => ({ enabled: settings[name] }),
    change: ({ enabled }) => (enabled === undefined ? {} : { [name]: enabled }),
  }
}

/** The texts stay while the link is off. */
const subscription: Required<Setting>['own'] = {
  shown: ({ unsubscribeLink, unsubscribeHtml, unsubscribeText }) => ({
    enabled: unsubscribeLink,
    html_content: unsubscribeHtml ?? '',
    plain_content: unsubscribeText ?? '',
  }),
  change: ({ enabled, html_content: html, plain_content: text }) => ({
    ...(enabled === undefined ? {} : { unsubscribeLink: enabled }),
    ...(html === undefined ? {} : { unsubscribeHtml: html || null }),
    ...(text === undefined ? {} : { unsubscribeText: text || null }),
  }),
}

const footer: Required<Setting>['own'] = {
  shown: ({ footerHtml, footerText }) => ({
    enabled: footerHtml !== null || footerText !== null,
    html_content: footerHtml ?? '',
    plain_content: footerText ?? '',
  }),
  // A disabled footer is deleted.
  change: ({ enabled, html_content: html, plain_content: text }, { footerHtml, footerText }) => {
    if (enabled === false) return { footerHtml: null, footerText: null }
    const after = {
      footerHtml: html === undefined ? footerHtml : html || null,
      footerText: text === undefined ? footerText : text || null,
    }
    if (enabled && after.footerHtml === null && after.footerText === null) {
      throw refuse(400, 'A footer needs html_content or plain_content.', 'enabled')
    }
    return after
  },
}

const TRACKING: readonly Setting[] = [
  {
    name: 'click',
    title: 'Click Tracking',
    description: 'Counts clicks on links',
    rest: { enable_text: false },
    own: switched('clickTracking'),
  },
  {
    name: 'google_analytics',
    title: 'Google Analytics',
    description: 'Not available for an account',
    rest: { utm_campaign: '', utm_content: '', utm_medium: '', utm_source: '', utm_term: '' },
  },
  {
    name: 'open',
    title: 'Open Tracking',
    description: 'Counts opens by a pixel in HTML',
    rest: {},
    own: switched('openTracking'),
  },
  {
    name: 'subscription',
    title: 'Subscription Tracking',
    description: 'Adds an unsubscribe link',
    rest: { html_content: '', landing: '', plain_content: '', replace: '', url: '' },
    own: subscription,
  },
]

const NOT_AVAILABLE = 'Not available'
const MAIL: readonly Setting[] = [
  { name: 'address_whitelist', title: 'Address Whitelist', description: NOT_AVAILABLE, rest: { list: [] } },
  {
    name: 'bounce_purge',
    title: 'Bounce Purge',
    description: NOT_AVAILABLE,
    rest: { hard_bounces: null, soft_bounces: null },
  },
  {
    name: 'footer',
    title: 'Footer',
    description: 'Appended to every message',
    rest: { html_content: '', plain_content: '' },
    own: footer,
  },
  { name: 'forward_bounce', title: 'Forward Bounce', description: NOT_AVAILABLE, rest: { email: '' } },
  { name: 'forward_spam', title: 'Forward Spam', description: NOT_AVAILABLE, rest: { email: '' } },
  { name: 'template', title: 'Legacy Email Template', description: NOT_AVAILABLE, rest: { html_content: '' } },
]

const COMMAND = 'account settings'
const NEVER_ON = { none: 'a setting of other services that is always off' }

/** Defaults for the account's messages, unless a message overrides them (contract 7.1). */
export const ACCOUNT_SETTINGS: readonly Operation[] = [
  ...operationsOf('tracking', TRACKING),
  ...operationsOf('mail', MAIL),
  operation({
    name: 'viewUsername',
    summary: 'Show the name and number of the account',
    cli: 'account list',
    section: '7',
    method: 'GET',
    path: '/user/username',
    scope: 'account',
    right: 'user.username.read',
    status: 200,
    act: async (_input, { principal: { account } }) => ({ username: account.name, user_id: account.id }),
  }),
]

function operationsOf(kind: 'tracking' | 'mail', settings: readonly Setting[]): Operation[] {
  const all = `/${kind}_settings`
  const common = { scope: 'account', section: '7.1', status: 200 } as const
  return [
    operation({
      name: `list${capital(kind)}Settings`,
      summary: `List the ${kind} settings and whether each is enabled`,
      cli: COMMAND,
      ...common,
      method: 'GET',
      path: all,
      right: `${kind}_settings.read`,
      act: async (_input, call) => {
        const own = await load(call)
        const result = settings.map((setting) => {
          const { name, title, description } = setting
          return { name, title, description, enabled: shown(setting, own).enabled }
        })
        return { result }
      },
    }),
    ...settings.flatMap((setting) => {
      const path = `${all}/${setting.name}`
      const noun = `${setting.name.split('_').map(capital).join('')}${kind === 'mail' ? 'Setting' : 'Tracking'}`
      const right = `${kind}_settings.${setting.name}`
      const cli = setting.own ? COMMAND : NEVER_ON
      return [
        operation({
          name: `view${noun}`,
          summary: setting.title,
          cli,
          ...common,
          method: 'GET',
          path,
          right: `${right}.read`,
          act: async (_input, call) => shown(setting, await load(call)),
        }),
        operation({
          name: `change${noun}`,
          summary: setting.own ? `Change ${setting.title}` : `Reject changes of ${setting.title}, which is always off`,
          cli,
          ...common,
          method: 'PATCH',
          path,
          right: `${right}.update`,
          body: setting.own === footer || setting.own === subscription ? Change : Switch,
          act: async ({ body }, call) => shown(setting, await change(setting, body, call)),
        }),
      ]
    }),
  ]
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function load({ core, principal }: Call): Promise<AccountSettings> {
  return core.accounts.settings.show(principal.account.id)
}

function shown({ rest, own }: Setting, settings: AccountSettings) {
  return { enabled: false as unknown, ...rest, ...own?.shown(settings) }
}

/** Throws V3Refusal for an unsupported setting: if it were accepted silently, it would be missing from every message. */
async function change(setting: Setting, given: Change, call: Call): Promise<AccountSettings> {
  const { core, principal, by } = call
  const before = await load(call)
  if (!setting.own && given.enabled === true) throw notAvailable('enabled')
  if (setting.own && given.enabled !== false) {
    const own = setting.own.shown(before)
    const other = Object.entries(given).find(([name, value]) => name in setting.rest && !(name in own) && value)
    if (other) throw notAvailable(other[0])
  }
  const wanted = setting.own?.change(given, before) ?? {}
  return core.accounts.settings.change(principal.account.id, wanted, by).catch((error: unknown) => {
    const field = error instanceof ServiceError ? FIELDS[String(error.values.parameter)] : undefined
    if (!(error instanceof ServiceError) || field === undefined) throw error
    throw refuse(400, `${field}: ${error.values.problem}`, field)
  })
}

/** v3's names of settings that core rejects. */
const FIELDS: Readonly<Record<string, string>> = {
  footerHtml: 'html_content',
  footerText: 'plain_content',
  unsubscribeHtml: 'html_content',
  unsubscribeText: 'plain_content',
}

function notAvailable(field: string) {
  return refuse(400, 'This setting is not available.', field)
}
