import { type AccountSettings, NOTICE_KINDS, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { Flag, Text } from '../messages/send-email-schema.ts'
import { parseFlag } from '../messages/to-submission.ts'
import { type Operation, operation } from '../operation.ts'

const Days = (what: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: 36_500 }), Type.Null()], {
    description: `retention of ${what} in days; 0 or null: the operator's setting`,
  })

const Change = Type.Object({
  openTracking: Type.Optional(Flag),
  clickTracking: Type.Optional(Flag),
  unsubscribeLink: Type.Optional(Flag),
  mailClass: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'urgent, normal or bulk' })),
  footerHtml: Type.Optional(Text),
  footerText: Type.Optional(Text),
  unsubscribeHtml: Type.Optional(Text),
  unsubscribeText: Type.Optional(Text),
  generateText: Type.Optional(Flag),
  hostsMaySend: Type.Optional(Flag),
  fallbackSender: Type.Optional(Text),
  mailReports: Type.Optional(Flag),
  privacyMode: Type.Optional(Flag),
  accountNotices: Type.Optional(Flag),
  mutedNotices: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: `kinds of notices that are not sent, comma-separated: ${NOTICE_KINDS.join(', ')}`,
    }),
  ),
  requirements: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: "warn or hold; blank or null: the operator's setting" }),
  ),
  timeZone: Type.Optional(Type.String({ maxLength: 100, description: 'IANA name, like Europe/Lisbon' })),
  keepContent: Type.Optional(Flag),
  eventDays: Type.Optional(Days('events')),
  bodyDays: Type.Optional(Days('bodies')),
})

const Kept = (what: string) =>
  Type.Union([Type.Integer(), Type.Null()], {
    description: `retention of ${what} in days; null: the operator's setting`,
  })

const Settings = Type.Object({
  openTracking: Type.Boolean({ description: 'add an open pixel to HTML; default for messages' }),
  clickTracking: Type.Boolean({ description: 'count clicks on links; default for messages' }),
  unsubscribeLink: Type.Boolean({ description: 'add an unsubscribe link; default for messages' }),
  mailClass: Type.String({ description: 'class of messages without their own: urgent, normal or bulk' }),
  footerHtml: Type.Union([Type.String(), Type.Null()]),
  footerText: Type.Union([Type.String(), Type.Null()]),
  unsubscribeHtml: Type.Union([Type.String(), Type.Null()], {
    description: "sentence around the unsubscribe link, which <% %> marks; null: the service's",
  }),
  unsubscribeText: Type.Union([Type.String(), Type.Null()], { description: 'the same in plain text' }),
  generateText: Type.Boolean({ description: 'generate the plain text of messages that have HTML alone' }),
  hostsMaySend: Type.Boolean({ description: 'hosts below active domains may send, such as web1.example.com' }),
  fallbackSender: Type.Union([Type.String(), Type.Null()], {
    description: 'address that mail of hosts without a sending domain is sent from, by SMTP; null: it is refused',
  }),
  mailReports: Type.Boolean({ description: 'senders by SMTP are notified of failures and delays by mail' }),
  privacyMode: Type.Boolean({ description: 'do not store the IP address and user agent of opens and clicks' }),
  accountNotices: Type.Boolean({ description: 'mail to the owners about what they have to see to' }),
  mutedNotices: Type.String({ description: 'kinds of notices that are not sent, comma-separated' }),
  requirements: Type.Union([Type.String(), Type.Null()], {
    description:
      "bulk mail without what large receivers demand is sent (warn) or waits (hold); null: the operator's setting",
  }),
  timeZone: Type.String(),
  keepContent: Type.Boolean({ description: 'content of messages stays stored after their last outcome' }),
  eventDays: Kept('events'),
  bodyDays: Kept('bodies'),
})

const common = { group: 'Account', scope: 'account' } as const
const example: Static<typeof Settings> = {
  openTracking: true,
  clickTracking: false,
  unsubscribeLink: true,
  mailClass: 'normal',
  footerHtml: '<p>Ship & Co</p>',
  footerText: 'Ship & Co',
  unsubscribeHtml: null,
  unsubscribeText: null,
  generateText: true,
  hostsMaySend: false,
  fallbackSender: null,
  mailReports: false,
  privacyMode: false,
  accountNotices: true,
  mutedNotices: 'import',
  requirements: null,
  timeZone: 'Europe/Lisbon',
  keepContent: true,
  eventDays: null,
  bodyDays: 7,
}

/** Account settings: defaults for messages, tracking and retention. */
export const ACCOUNT: readonly Operation[] = [
  operation({
    ...common,
    name: 'showAccount',
    summary: 'Show the account settings',
    cli: 'account settings',
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
    summary: 'Change the account settings for messages accepted from now on. Omitted parameters keep their values',
    cli: 'account settings',
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

/** A null or blank flag counts as omitted, as in sendEmail; so does a class. */
function changeIn(input: Static<typeof Change>): Partial<AccountSettings> {
  const { mailClass, requirements, eventDays, bodyDays, mutedNotices, ...others } = input
  const read = Object.entries(others).map(([name, value]) => [name, isFlag(name) ? parseFlag(value) : value] as const)
  return {
    ...Object.fromEntries(read.filter(([, value]) => value !== undefined)),
    ...(mutedNotices === undefined ? {} : { mutedNotices: mutedNotices ?? '' }),
    ...(mailClass ? { mailClass: mailClass as AccountSettings['mailClass'] } : {}),
    ...(requirements === undefined ? {} : { requirements: (requirements || null) as AccountSettings['requirements'] }),
    ...(eventDays === undefined ? {} : { eventDays: eventDays || null }),
    ...(bodyDays === undefined ? {} : { bodyDays: bodyDays || null }),
  }
}

function isFlag(name: string): boolean {
  const schemas: Readonly<Record<string, object>> = Settings.properties
  return (schemas[name] as { readonly type?: string } | undefined)?.type === 'boolean'
}
