import type { Wall, WallEntry } from './entry.ts'

/** These are off for everybody. */
const NOT_HERE = ['AddressWhitelistSetting', 'BouncePurgeSetting', 'ForwardBounceSetting', 'ForwardSpamSetting']
const NONE = [...NOT_HERE, 'TemplateSetting', 'GoogleAnalyticsTracking']

const footer = { html_content: "the owner's footer" }

/** The owner's is the other way round from everybody else's. */
function switchOf(noun: string, enabled: boolean): Wall {
  const make: Extract<WallEntry, { kind: 'own' }>['make'] = ({ act }, owner) =>
    act(owner, `change${noun}`, { body: { enabled } })
  return {
    [`view${noun}`]: {
      kind: 'list',
      make: async (setting, owner) => {
        await make?.(setting, owner)
        return `"enabled":${enabled}`
      },
    },
    [`change${noun}`]: { kind: 'own', make, input: { body: { enabled: !enabled } }, seen: [`view${noun}`, {}] },
  }
}

export const accountSettings: Wall = {
  ...Object.fromEntries(
    NONE.flatMap((noun) => [`view${noun}`, `change${noun}`].map((name) => [name, { kind: 'none' }])),
  ),
  ...switchOf('ClickTracking', true),
  ...switchOf('OpenTracking', true),
  ...switchOf('SubscriptionTracking', true),
  viewFooterSetting: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'changeFooterSetting', { body: footer })
      return footer.html_content
    },
  },
  changeFooterSetting: {
    kind: 'own',
    make: ({ act }, owner) => act(owner, 'changeFooterSetting', { body: footer }),
    input: { body: { html_content: 'of somebody else' } },
    seen: ['viewFooterSetting', {}],
  },
  listTrackingSettings: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'changeOpenTracking', { body: { enabled: true } })
      return '"enabled":true'
    },
  },
  listMailSettings: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'changeFooterSetting', { body: footer })
      return '"enabled":true'
    },
  },
  viewProfile: {
    kind: 'list',
    make: async ({ service }, { accountId }) => {
      const [row] = await service.sql<{ name: string }[]>`select name from accounts where id = ${accountId}`
      return `"company":"${row?.name}"`
    },
  },
  viewAccount: { kind: 'none' },
  viewEmail: {
    kind: 'list',
    make: async ({ service }, { accountId }) => {
      const email = `owner-${accountId}@harbor.example`
      await service.sql`update accounts set email = ${email} where id = ${accountId}`
      return email
    },
  },
  viewCredits: {
    kind: 'list',
    make: async ({ service }, { accountId }) => {
      await service.core.credits.limit(accountId, 31_415)
      return '"remain":31415'
    },
  },
  viewUsername: { kind: 'list', make: async (_setting, { accountId }) => `"user_id":${accountId}}` },
  viewEnforcedTls: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'changeEnforcedTls', { body: { require_tls: true } })
      return '"require_tls":true'
    },
  },
  changeEnforcedTls: {
    kind: 'own',
    async make({ act }, owner) {
      await act(owner, 'changeEnforcedTls', { body: { require_tls: true } })
    },
    input: { body: { require_tls: false } },
    seen: ['viewEnforcedTls', {}],
  },
}
