import { eventsNamed, MAX_WEBHOOKS } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { commaList } from '../comma-list.ts'
import { type Operation, operation } from '../operation.ts'
import { WEBHOOK_DELIVERIES } from './webhook-deliveries.ts'
import { WEBHOOK_LISTEN } from './webhook-listen.ts'
import { NamedWebhook, Settings, ShownWebhook, shownWebhook, Url, WEBHOOK_GROUP, WebhookId } from './webhook-schema.ts'

const Secret = { secret: Type.String({ description: 'secret of the Standard Webhooks signature; shown only once' }) }

const EXAMPLE: Static<typeof ShownWebhook> = {
  webhookId: 1,
  url: 'https://ship.example/hook',
  events: ['sent', 'bounced', 'opened'],
  domains: ['ship.example'],
  tags: [],
  enabled: 1,
  headers: { 'X-A': 'b' },
  format: 'v2',
  strings: 0,
  abuse: 0,
  eventIds: 0,
  publicKey: 'MFkwEwYHKoZIzj0CAQYI…',
  state: 'active',
  problem: null,
  since: null,
  lastSuccess: null,
  lastEvent: 1200,
  createdTime: '2026-01-05T10:11:12.000Z',
}
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw8wq7GmJq2cI='

const settingErrors = ['webhookUrlInvalid', 'webhookEventInvalid', 'webhookUnanswered', 'overloaded'] as const

/** Webhooks, to which the account's events are sent (contract section 16). */
export const WEBHOOKS: readonly Operation[] = [
  operation({
    ...WEBHOOK_GROUP,
    name: 'createWebhook',
    creates: true,
    summary: 'Create a webhook. The URL is probed first and must return 2xx',
    cli: 'webhook create',
    routes: [['/webhooks', 'POST']],
    input: Type.Object({ url: Url, ...Settings }),
    answer: Type.Object({ ...ShownWebhook.properties, ...Secret }),
    errors: [...settingErrors, 'webhooksTooMany'],
    example: {
      input: {
        url: 'https://ship.example/hook',
        events: 'sent,bounced,opened',
        domains: 'ship.example',
        enabled: 1,
        headers: { 'X-A': 'b' },
      },
      data: { ...EXAMPLE, secret: SECRET },
    },
    async act({ url, events, ...rest }, { core, principal, by, reply }) {
      const format = rest.format ?? 'v2'
      const settings = {
        url,
        format,
        events: eventsNamed(commaList('events', events), format),
        headers: rest.headers ?? {},
        names: null,
        domains: limitOf('domains', rest.domains) ?? null,
        tags: limitOf('tags', rest.tags) ?? null,
        label: '',
        signed: true,
        enabled: flag(rest.enabled, true),
        asText: flag(rest.strings),
        abuse: flag(rest.abuse),
        eventIds: flag(rest.eventIds),
      }
      const { webhook, secret } = await core.webhooks.create(principal.account.id, settings, by)
      reply.header('cache-control', 'no-store')
      return { data: { ...shownWebhook(webhook), secret } }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'listWebhooks',
    summary: `List the webhooks (at most ${MAX_WEBHOOKS}) without their secrets`,
    cli: 'webhook list',
    routes: [
      ['/webhooks', 'GET'],
      ['/getWebhooks', 'GET', 'POST'],
    ],
    input: Type.Object({}),
    answer: Type.Array(ShownWebhook),
    errors: [],
    example: { input: {}, data: [EXAMPLE] },
    async act(_input, { core, principal }) {
      const webhooks = await core.webhooks.list(principal.account.id)
      return { data: webhooks.map(shownWebhook), totalRecords: webhooks.length }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'showWebhook',
    summary: 'Show a webhook and its state',
    cli: 'webhook show',
    routes: [
      ['/webhooks/:webhookId', 'GET'],
      ['/getWebhook', 'POST'],
    ],
    input: NamedWebhook,
    answer: ShownWebhook,
    errors: ['webhookUnknown'],
    example: { input: { webhookId: 1 }, data: EXAMPLE },
    act: async ({ webhookId }, { core, principal }) => ({
      data: shownWebhook(await core.webhooks.show(principal.account.id, webhookId)),
    }),
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'updateWebhook',
    summary: 'Change a webhook. Omitted parameters are unchanged. If it is enabled again, it resumes where it stopped',
    cli: 'webhook update',
    routes: [['/webhooks/:webhookId', 'PATCH', 'PUT', 'POST']],
    input: Type.Object({
      webhookId: WebhookId,
      url: Type.Optional(Url),
      ...Settings,
      events: Type.Optional(Settings.events),
    }),
    answer: ShownWebhook,
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
        url,
        headers,
        format: given.format,
        ...(events === undefined ? {} : { events: eventsNamed(commaList('events', events), format), names: null }),
        domains: limitOf('domains', given.domains),
        tags: limitOf('tags', given.tags),
        enabled: maybe(given.enabled),
        asText: maybe(strings),
        abuse: maybe(given.abuse),
        eventIds: maybe(given.eventIds),
      }
      return { data: shownWebhook(await core.webhooks.update({ accountId, id: webhookId, by }, defined(change))) }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'removeWebhook',
    summary: 'Delete a webhook and its pending batches',
    cli: 'webhook delete',
    routes: [
      ['/webhooks/:webhookId', 'DELETE'],
      ['/deleteWebhook', 'POST'],
    ],
    input: NamedWebhook,
    answer: Type.Object({}),
    errors: ['webhookUnknown'],
    example: { input: { webhookId: 1 }, data: {} },
    async act({ webhookId }, { core, principal, by }) {
      await core.webhooks.remove({ accountId: principal.account.id, id: webhookId, by })
      return { data: {} }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'testWebhook',
    summary: 'Send a sample of each of its events, or of one kind, to the URL and return the response',
    cli: 'webhook test',
    routes: [['/webhooks/:webhookId/test', 'POST']],
    input: Type.Object({
      webhookId: WebhookId,
      event: Type.Optional(
        Type.String({ description: 'only this event, also if the webhook does not get it; default: its events' }),
      ),
    }),
    answer: Type.Object({
      delivered: Type.Boolean(),
      events: Type.Integer(),
      status: Type.Union([Type.Integer(), Type.Null()], { description: 'null if there was no response' }),
      milliseconds: Type.Integer(),
      problem: Type.Union([Type.String(), Type.Null()]),
      answer: Type.String({ description: 'beginning of the response body' }),
    }),
    errors: ['webhookUnknown', 'webhookEventInvalid', 'overloaded'],
    example: {
      input: { webhookId: 1 },
      data: { delivered: true, events: 3, status: 200, milliseconds: 84, problem: null, answer: 'ok' },
    },
    async act({ webhookId, event }, { core, principal }) {
      const told = await core.webhooks.test(principal.account.id, webhookId, event || undefined)
      const { events, status, milliseconds, problem = null, text } = told
      return { data: { delivered: problem === null, events, status, milliseconds, problem, answer: text } }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'rotateWebhookSecret',
    creates: true,
    summary: 'Rotate the secret. The new one is shown once; requests are signed with both during a grace period',
    cli: 'webhook rotate',
    routes: [['/webhooks/:webhookId/rotate', 'POST']],
    input: Type.Object({
      webhookId: WebhookId,
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
  ...WEBHOOK_DELIVERIES,
  ...WEBHOOK_LISTEN,
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

/** Null removes a limit; undefined leaves it as it is. */
function limitOf(
  name: string,
  given: string | readonly string[] | null | undefined,
): readonly string[] | null | undefined {
  return given == null ? given : commaList(name, given)
}
