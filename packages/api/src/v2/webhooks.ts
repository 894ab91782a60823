import {
  type DeadBatch,
  eventsNamed,
  MAX_WEBHOOKS,
  namesOf,
  shownHeaders,
  WEBHOOK_FORMATS,
  type Webhook,
  type WebhookDelivery,
} from '@postrider/core'
import Type, { type Static } from 'typebox'
import { commaList } from './comma-list.ts'
import { type Operation, operation } from './operation.ts'
import { Count, Offset, pageOf } from './shapes.ts'

const Id = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })
const Named = Type.Object({ webhookId: Id })
const Switch = (description: string) =>
  Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: 1 })], { description })
const Settings = {
  events: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 50 })], {
    description:
      'a list, or comma-separated: sent, bounced, opened, clicked, unsubscribed, spam, dropped, invalid; or all. ' +
      'v3: processed, deferred, delivered, bounce, open, click, unsubscribe, spamreport, dropped',
  }),
  enabled: Type.Optional(Switch('default 1; 0: nothing is sent, and the URL is not probed')),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'sent with every request, at most 10; replaces the previous headers',
    }),
  ),
  format: Type.Optional(Type.Enum([...WEBHOOK_FORMATS], { description: 'format of the events; default v2' })),
  strings: Type.Optional(Switch('v2: send every value as text, as before 2019')),
  abuse: Type.Optional(Switch('v2: name complaints abuse instead of spam')),
  eventIds: Type.Optional(Switch('v2: add an EVENTID to each event, the same at every attempt')),
}
const Url = Type.String({ minLength: 1, maxLength: 2048 })
const Flag = Type.Integer({ description: '0 or 1' })
const Time = Type.Union([Type.String(), Type.Null()])

const Shown = Type.Object({
  webhookId: Type.Integer(),
  url: Type.String(),
  events: Type.Array(Type.String()),
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
const Secret = { secret: Type.String({ description: 'secret of the Standard Webhooks signature; shown only once' }) }

const EXAMPLE: Static<typeof Shown> = {
  ...{ webhookId: 1, url: 'https://ship.example/hook', events: ['sent', 'bounced', 'opened'], enabled: 1 },
  ...{
    headers: { 'X-A': 'b' },
    format: 'v2' as const,
    strings: 0,
    abuse: 0,
    eventIds: 0,
    publicKey: 'MFkwEwYHKoZIzj0CAQYI…',
  },
  ...{ state: 'active' as const, problem: null, since: null, lastSuccess: null, lastEvent: 1200 },
  createdTime: '2026-01-05T10:11:12.000Z',
}
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw8wq7GmJq2cI='

const common = { group: 'Webhook', scope: 'webhooks' } as const
const settingErrors = ['webhookUrlInvalid', 'webhookEventInvalid', 'webhookUnanswered', 'overloaded'] as const

/** Webhooks, to which the account's events are sent (contract section 16). */
export const WEBHOOKS: readonly Operation[] = [
  operation({
    ...common,
    name: 'createWebhook',
    creates: true,
    summary: 'Create a webhook. The URL is probed first and must return 200',
    routes: [['/webhooks', 'POST']],
    input: Type.Object({ url: Url, ...Settings }),
    answer: Type.Object({ ...Shown.properties, ...Secret }),
    errors: [...settingErrors, 'webhooksTooMany'],
    example: {
      input: { url: 'https://ship.example/hook', events: 'sent,bounced,opened', enabled: 1, headers: { 'X-A': 'b' } },
      data: { ...EXAMPLE, secret: SECRET },
    },
    async act({ url, events, ...rest }, { core, principal, by, reply }) {
      const format = rest.format ?? 'v2'
      const settings = {
        ...{ url, format, events: eventsNamed(commaList('events', events), format), headers: rest.headers ?? {} },
        ...{ names: null, label: '', signed: true },
        ...{ enabled: flag(rest.enabled, true), asText: flag(rest.strings), abuse: flag(rest.abuse) },
        eventIds: flag(rest.eventIds),
      }
      const { webhook, secret } = await core.webhooks.create(principal.account.id, settings, by)
      reply.header('cache-control', 'no-store')
      return { data: { ...shown(webhook), secret } }
    },
  }),
  operation({
    ...common,
    name: 'listWebhooks',
    summary: `List the webhooks (at most ${MAX_WEBHOOKS}) without their secrets`,
    routes: [
      ['/webhooks', 'GET'],
      ['/getWebhooks', 'GET', 'POST'],
    ],
    input: Type.Object({}),
    answer: Type.Array(Shown),
    errors: [],
    example: { input: {}, data: [EXAMPLE] },
    async act(_input, { core, principal }) {
      const webhooks = await core.webhooks.list(principal.account.id)
      return { data: webhooks.map(shown), totalRecords: webhooks.length }
    },
  }),
  operation({
    ...common,
    name: 'showWebhook',
    summary: 'Show a webhook and its state',
    routes: [
      ['/webhooks/:webhookId', 'GET'],
      ['/getWebhook', 'POST'],
    ],
    input: Named,
    answer: Shown,
    errors: ['webhookUnknown'],
    example: { input: { webhookId: 1 }, data: EXAMPLE },
    act: async ({ webhookId }, { core, principal }) => ({
      data: shown(await core.webhooks.show(principal.account.id, webhookId)),
    }),
  }),
  operation({
    ...common,
    name: 'updateWebhook',
    summary: 'Change a webhook. Omitted parameters are unchanged. If it is enabled again, it resumes where it stopped',
    routes: [['/webhooks/:webhookId', 'PATCH', 'PUT', 'POST']],
    input: Type.Object({ webhookId: Id, url: Type.Optional(Url), ...Settings, events: Type.Optional(Settings.events) }),
    answer: Shown,
    errors: [...settingErrors, 'webhookUnknown'],
    example: {
      input: { webhookId: 1, events: 'sent', enabled: 0 },
      data: { ...EXAMPLE, events: ['sent'], enabled: 0 },
    },
    async act({ webhookId, events, strings, ...given }, { core, principal, by }) {
      const { id: accountId } = principal.account
      const format = given.format ?? (await core.webhooks.show(accountId, webhookId)).format
      const { url, headers } = given
      const change = {
        ...{
          url,
          headers,
          format: given.format,
          ...(events === undefined ? {} : { events: eventsNamed(commaList('events', events), format), names: null }),
        },
        ...{ enabled: maybe(given.enabled), asText: maybe(strings), abuse: maybe(given.abuse) },
        eventIds: maybe(given.eventIds),
      }
      return { data: shown(await core.webhooks.update({ accountId, id: webhookId, by }, defined(change))) }
    },
  }),
  operation({
    ...common,
    name: 'removeWebhook',
    summary: 'Delete a webhook and its pending batches',
    routes: [
      ['/webhooks/:webhookId', 'DELETE'],
      ['/deleteWebhook', 'POST'],
    ],
    input: Named,
    answer: Type.Object({}),
    errors: ['webhookUnknown'],
    example: { input: { webhookId: 1 }, data: {} },
    async act({ webhookId }, { core, principal, by }) {
      await core.webhooks.remove({ accountId: principal.account.id, id: webhookId, by })
      return { data: {} }
    },
  }),
  operation({
    ...common,
    name: 'testWebhook',
    summary: 'Send a sample of each of its events to the URL and return the response',
    routes: [['/webhooks/:webhookId/test', 'POST']],
    input: Named,
    answer: Type.Object({
      delivered: Type.Boolean(),
      events: Type.Integer(),
      status: Type.Union([Type.Integer(), Type.Null()], { description: 'null if there was no response' }),
      milliseconds: Type.Integer(),
      problem: Type.Union([Type.String(), Type.Null()]),
      answer: Type.String({ description: 'beginning of the response body' }),
    }),
    errors: ['webhookUnknown', 'overloaded'],
    example: {
      input: { webhookId: 1 },
      data: { delivered: true, events: 3, status: 200, milliseconds: 84, problem: null, answer: 'ok' },
    },
    async act({ webhookId }, { core, principal }) {
      const told = await core.webhooks.test(principal.account.id, webhookId)
      const { events, status, milliseconds, problem = null, text } = told
      return { data: { delivered: problem === null, events, status, milliseconds, problem, answer: text } }
    },
  }),
  operation({
    ...common,
    name: 'rotateWebhookSecret',
    creates: true,
    summary: 'Rotate the secret. The new one is shown once; requests are signed with both during a grace period',
    routes: [['/webhooks/:webhookId/rotate', 'POST']],
    input: Type.Object({
      webhookId: Id,
      overlapHours: Type.Optional(Type.Integer({ minimum: 0, maximum: 720, description: 'default 24' })),
    }),
    answer: Type.Object({ webhookId: Type.Integer(), ...Secret }),
    errors: ['webhookUnknown'],
    example: { input: { webhookId: 1, overlapHours: 24 }, data: { webhookId: 1, secret: SECRET } },
    async act({ webhookId, overlapHours }, { core, principal, by, reply }) {
      const act = { accountId: principal.account.id, id: webhookId, by }
      const secret = await core.webhooks.rotateSecret(act, overlapHours)
      reply.header('cache-control', 'no-store')
      return { data: { webhookId, secret } }
    },
  }),
  operation({
    ...common,
    name: 'listWebhookDeliveries',
    summary: 'List the latest requests, newest first: up to 100 successful and 100 failed',
    routes: [['/webhooks/:webhookId/deliveries', 'GET', 'POST']],
    input: Type.Object({ webhookId: Id, limit: Count('at most 200 (default)') }),
    answer: Type.Array(
      Type.Object({
        batch: Type.String({ description: 'its webhook-id header' }),
        time: Type.String(),
        firstEvent: Type.Integer(),
        lastEvent: Type.Integer(),
        attempt: Type.Integer(),
        status: Type.Union([Type.Integer(), Type.Null()]),
        milliseconds: Type.Integer(),
        problem: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
    errors: ['webhookUnknown'],
    example: {
      input: { webhookId: 1, limit: 50 },
      data: [
        {
          ...{ batch: 'msg_5b0c2f5d3c6e4b0f8f0e7a1d2c3b4a59', time: '2026-01-05T10:11:12.000Z', firstEvent: 1101 },
          ...{ lastEvent: 1200, attempt: 1, status: 200, milliseconds: 84, problem: null },
        },
      ],
    },
    act: async ({ webhookId, ...input }, { core, principal }) => {
      const { limit } = pageOf(input, { byDefault: 200, most: 200 })
      return { data: (await core.webhooks.deliveries(principal.account.id, webhookId, limit)).map(shownDelivery) }
    },
  }),
  operation({
    ...common,
    name: 'listWebhookFailures',
    summary: 'List dead-lettered batches, latest first: they failed while others succeeded',
    routes: [['/webhooks/:webhookId/failures', 'GET', 'POST']],
    input: Type.Object({
      webhookId: Id,
      limit: Count('at most 1000; default 100'),
      offset: Offset,
    }),
    answer: Type.Array(
      Type.Object({
        failureId: Type.String(),
        firstEvent: Type.Integer(),
        lastEvent: Type.Integer(),
        attempts: Type.Integer(),
        since: Type.String(),
        lastTime: Type.String(),
        problem: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
    errors: ['webhookUnknown'],
    example: {
      input: { webhookId: 1, limit: 100 },
      data: [
        {
          ...{ failureId: '5b0c2f5d-3c6e-4b0f-8f0e-7a1d2c3b4a59', firstEvent: 1101, lastEvent: 1200, attempts: 62 },
          ...{
            since: '2026-01-05T10:11:12.000Z',
            lastTime: '2026-01-08T14:02:40.000Z',
            problem: 'received status 500',
          },
        },
      ],
    },
    async act({ webhookId, ...input }, { core, principal }) {
      const page = pageOf(input, { byDefault: 100, most: 1000 })
      const { batches, total } = await core.webhooks.dead(principal.account.id, webhookId, page)
      return { data: batches.map(shownDead), totalRecords: total }
    },
  }),
  operation({
    ...common,
    name: 'redeliverWebhookFailures',
    summary: 'Retry a dead-lettered batch, or all of them',
    routes: [['/webhooks/:webhookId/redeliver', 'POST']],
    input: Type.Object({ webhookId: Id, failureId: Type.Optional(Type.String({ description: 'default: all' })) }),
    answer: Type.Object({ batches: Type.Integer({ description: 'number of batches to be sent again' }) }),
    errors: ['webhookUnknown', 'webhookFailureUnknown'],
    example: { input: { webhookId: 1, failureId: '5b0c2f5d-3c6e-4b0f-8f0e-7a1d2c3b4a59' }, data: { batches: 1 } },
    act: async ({ webhookId, failureId }, { core, principal, by }) => ({
      data: {
        batches: await core.webhooks.redeliver({ accountId: principal.account.id, id: webhookId, by }, failureId),
      },
    }),
  }),
  operation({
    ...common,
    name: 'replayWebhook',
    summary: 'Resume a webhook at an event number: that event and all later ones are sent, or sent again',
    routes: [['/webhooks/:webhookId/replay', 'POST']],
    input: Type.Object({
      webhookId: Id,
      from: Type.Integer({
        minimum: 1,
        maximum: 2 ** 53 - 1,
        description: 'an event of the last 30 days, or the next event',
      }),
    }),
    answer: Type.Object({ from: Type.Integer() }),
    errors: ['webhookUnknown', 'webhookReplayInvalid'],
    example: { input: { webhookId: 1, from: 1101 }, data: { from: 1101 } },
    async act({ webhookId, from }, { core, principal, by }) {
      await core.webhooks.replay({ accountId: principal.account.id, id: webhookId, by }, from)
      return { data: { from } }
    },
  }),
]

function flag(given: boolean | number | undefined, byDefault = false): boolean {
  return given === undefined ? byDefault : Boolean(given)
}

function maybe(given: boolean | number | undefined): boolean | undefined {
  return given === undefined ? undefined : Boolean(given)
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}

function shown(webhook: Webhook): Static<typeof Shown> {
  const { id, url, events, format, abuse, enabled, headers, failingSince, disabledAt, problem } = webhook
  const state = !enabled ? 'disabled' : failingSince ? 'failing' : 'active'
  const since = disabledAt ?? (enabled ? failingSince : null)
  return {
    ...{ webhookId: id, url, events: namesOf(events, format, abuse), enabled: Number(enabled) },
    ...{ headers: shownHeaders(headers), format, strings: Number(webhook.asText), abuse: Number(abuse) },
    ...{ eventIds: Number(webhook.eventIds), publicKey: webhook.publicKey, state, problem: since ? problem : null },
    ...{ since: since?.toISOString() ?? null, lastSuccess: webhook.succeededAt?.toISOString() ?? null },
    ...{ lastEvent: webhook.position, createdTime: webhook.createdAt.toISOString() },
  }
}

function shownDelivery({ batchId, at, after, to, ...delivery }: WebhookDelivery) {
  return {
    ...{ batch: `msg_${batchId.replaceAll('-', '')}`, time: at.toISOString(), firstEvent: after + 1, lastEvent: to },
    ...delivery,
  }
}

function shownDead({ id, after, to, attempts, failedSince, failedAt, problem }: DeadBatch) {
  return {
    ...{ failureId: id, firstEvent: after + 1, lastEvent: to, attempts, since: failedSince.toISOString() },
    ...{ lastTime: failedAt.toISOString(), problem },
  }
}
