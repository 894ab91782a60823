import { namesOf, shownHeaders, WEBHOOK_FORMATS, type Webhook } from '@postrider/core'
import Type, { type Static } from 'typebox'

export const WebhookId = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })
export const NamedWebhook = Type.Object({ webhookId: WebhookId })
export const Switch = (description: string) =>
  Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: 1 })], { description })
const Limit = (description: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 50 }), Type.Null()], {
      description: `${description}, as a list or comma-separated; empty or null: no limit`,
    }),
  )
export const Settings = {
  events: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 50 })], {
    description:
      'a list, or comma-separated: sent, bounced, opened, clicked, unsubscribed, spam, dropped, invalid; or all. v3 also has ' +
      'processed, deferred and resubscribed. About the account: account, domain.inactive, webhook.disabled, key.expiring. Names of v3 and the log will do',
  }),
  enabled: Type.Optional(Switch('default 1; 0: nothing is sent, and the URL is not probed')),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'sent with every request, at most 10; replaces the previous headers',
    }),
  ),
  domains: Limit('only events of messages from these domains and hosts below them'),
  tags: Limit('only events of messages with one of these tags'),
  format: Type.Optional(Type.Enum([...WEBHOOK_FORMATS], { description: 'format of the events; default v2' })),
  strings: Type.Optional(Switch('v2: send every value as text, as before 2019')),
  abuse: Type.Optional(Switch('v2: name complaints abuse instead of spam')),
  eventIds: Type.Optional(Switch('v2: add an EVENTID to each event, the same at every attempt')),
}
export const Url = Type.String({ minLength: 1, maxLength: 2048 })
const Flag = Type.Integer({ description: '0 or 1' })
const Time = Type.Union([Type.String(), Type.Null()])

export const ShownWebhook = Type.Object({
  webhookId: Type.Integer(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  domains: Type.Array(Type.String(), { description: 'the domains to which its events are limited; empty: no limit' }),
  tags: Type.Array(Type.String(), { description: 'the tags to which its events are limited; empty: no limit' }),
  enabled: Flag,
  headers: Type.Record(Type.String(), Type.String(), { description: 'values that look like secrets are shown as ***' }),
  format: Type.Enum([...WEBHOOK_FORMATS]),
  strings: Flag,
  abuse: Flag,
  eventIds: Flag,
  publicKey: Type.String({ description: 'v3: verifies the ECDSA signature' }),
  state: Type.Enum(['active', 'failing', 'disabled'], {
    description: 'failing: only single requests are sent, to test the URL',
  }),
  problem: Type.Union([Type.String(), Type.Null()], {
    description: 'reason why it is failing or was disabled by the service',
  }),
  since: Type.Union([Type.String(), Type.Null()], {
    description: 'time since which it has been failing or disabled by the service',
  }),
  lastSuccess: Time,
  lastEvent: Type.Integer({ description: "the account's events up to this number have been sent or are being sent" }),
  createdTime: Type.String(),
})

/** Properties common to all operations of this group. */
export const WEBHOOK_GROUP = { group: 'Webhook', scope: 'webhooks' } as const

export function shownWebhook(webhook: Webhook): Static<typeof ShownWebhook> {
  const { id, url, events, format, abuse, enabled, headers, failingSince, disabledAt, problem } = webhook
  const state = !enabled ? 'disabled' : failingSince ? 'failing' : 'active'
  const since = disabledAt ?? (enabled ? failingSince : null)
  return {
    webhookId: id,
    url,
    events: namesOf(events, format, abuse),
    domains: [...(webhook.domains ?? [])],
    tags: [...(webhook.tags ?? [])],
    enabled: Number(enabled),
    headers: shownHeaders(headers),
    format,
    strings: Number(webhook.asText),
    abuse: Number(abuse),
    eventIds: Number(webhook.eventIds),
    publicKey: webhook.publicKey,
    state,
    problem: since ? problem : null,
    since: since?.toISOString() ?? null,
    lastSuccess: webhook.succeededAt?.toISOString() ?? null,
    lastEvent: webhook.position,
    createdTime: webhook.createdAt.toISOString(),
  }
}
