import { type AccountSettings, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from './operation.ts'
import { Flag, Text } from './send-email-schema.ts'
import { flagOf } from './to-submission.ts'

const Days = (what: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: 36_500 }), Type.Null()], {
    description: `days that ${what} are kept; 0 or null: as long as the operator keeps them`,
  })

const Change = Type.Object({
  openTracking: Type.Optional(Flag),
  clickTracking: Type.Optional(Flag),
  unsubscribeLink: Type.Optional(Flag),
  footerHtml: Type.Optional(Text),
  footerText: Type.Optional(Text),
  privacyMode: Type.Optional(Flag),
  timeZone: Type.Optional(Type.String({ maxLength: 100, description: 'an IANA name, like Europe/Lisbon' })),
  eventDays: Type.Optional(Days('events')),
  bodyDays: Type.Optional(Days('bodies')),
})

const Kept = (what: string) =>
  Type.Union([Type.Integer(), Type.Null()], {
    description: `days that ${what} are kept; null: as long as the operator keeps them`,
  })

const Settings = Type.Object({
  openTracking: Type.Boolean({ description: 'an open pixel in HTML, unless the message says otherwise' }),
  clickTracking: Type.Boolean({ description: 'links that are counted, unless the message says otherwise' }),
  unsubscribeLink: Type.Boolean({ description: 'a link to unsubscribe, unless the message says otherwise' }),
  footerHtml: Type.Union([Type.String(), Type.Null()]),
  footerText: Type.Union([Type.String(), Type.Null()]),
  privacyMode: Type.Boolean({ description: 'what readers do is kept without their address and program' }),
  timeZone: Type.String(),
  eventDays: Kept('events'),
  bodyDays: Kept('bodies'),
})

const common = { group: 'Account', scope: 'account' } as const
const example: Static<typeof Settings> = {
  ...{ openTracking: true, clickTracking: false, unsubscribeLink: true, footerHtml: '<p>Ship & Co</p>' },
  ...{ footerText: 'Ship & Co', privacyMode: false, timeZone: 'Europe/Lisbon', eventDays: null, bodyDays: 7 },
}

/** How the account's mail is made, told and kept, unless a message says otherwise. */
export const ACCOUNT: readonly Operation[] = [
  operation({
    ...common,
    name: 'showAccount',
    summary: "The account's settings",
    routes: [
      ['/account', 'GET'],
      ['/account/show', 'GET', 'POST'],
    ],
    input: Type.Object({}),
    answer: Settings,
    errors: [],
    example: { input: {}, data: example },
    act: async (_input, { core, principal }) => ({
      data: { ...(await core.accounts.settings.show(principal.account.id)) },
    }),
  }),
  operation({
    ...common,
    name: 'changeAccount',
    summary: "Change the account's settings; what isn't named stays as it is. For mail accepted from now on",
    routes: [['/account', 'POST', 'PATCH']],
    input: Change,
    answer: Settings,
    errors: [],
    example: { input: { clickTracking: 0, footerText: 'Ship & Co', timeZone: 'Europe/Lisbon' }, data: example },
    async act(input, { core, principal, by }) {
      if (Object.keys(input).length === 0) throw new ServiceError('bodyBlank')
      return { data: { ...(await core.accounts.settings.change(principal.account.id, changeIn(input), by)) } }
    },
  }),
]

/** A flag that is null or blank is not given, as in sendEmail. */
function changeIn(input: Static<typeof Change>): Partial<AccountSettings> {
  const { openTracking, clickTracking, unsubscribeLink, privacyMode, eventDays, bodyDays, ...texts } = input
  const flags = { openTracking, clickTracking, unsubscribeLink, privacyMode }
  const read = Object.entries(flags).map(([name, flag]) => [name, flagOf(flag)] as const)
  return {
    ...texts,
    ...Object.fromEntries(read.filter(([, flag]) => flag !== undefined)),
    ...(eventDays === undefined ? {} : { eventDays: eventDays || null }),
    ...(bodyDays === undefined ? {} : { bodyDays: bodyDays || null }),
  }
}
