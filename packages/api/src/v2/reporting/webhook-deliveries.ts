import type { DeadBatch, WebhookDelivery } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { Count, Offset, pageOf } from '../shapes.ts'
import { CLOSED } from '../unknown-parameters.ts'
import { Switch, WEBHOOK_GROUP, WebhookId } from './webhook-schema.ts'

/** The microsecond in which it ended: more digits than a number in a path has. */
const RequestId = Type.String({ maxLength: 20 })
const Field = Type.Object({ name: Type.String(), value: Type.Union([Type.String(), Type.Null()]) })
const Delivery = Type.Object({
  requestId: Type.String(),
  batch: Type.String({ description: 'its webhook-id header' }),
  time: Type.String(),
  firstEvent: Type.Integer(),
  lastEvent: Type.Integer(),
  events: Type.Union([Type.Integer(), Type.Null()], {
    description: 'events in it; null for requests of older versions',
  }),
  attempt: Type.Integer(),
  status: Type.Union([Type.Integer(), Type.Null()]),
  milliseconds: Type.Integer(),
  problem: Type.Union([Type.String(), Type.Null()]),
})
const DELIVERY: Static<typeof Delivery> = {
  requestId: '1767607872000000',
  batch: 'msg_5b0c2f5d3c6e4b0f8f0e7a1d2c3b4a59',
  time: '2026-01-05T10:11:12.000Z',
  firstEvent: 1101,
  lastEvent: 1200,
  events: 100,
  attempt: 1,
  status: 200,
  milliseconds: 84,
  problem: null,
}

/** The requests of webhooks, and how batches and events are sent again (contract section 16). */
export const WEBHOOK_DELIVERIES: readonly Operation[] = [
  operation({
    ...WEBHOOK_GROUP,
    name: 'listWebhookDeliveries',
    summary: 'List the requests of the last 7 days, newest first',
    cli: 'webhook deliveries',
    routes: [['/webhooks/:webhookId/deliveries', 'GET', 'POST']],
    input: Type.Object({
      webhookId: WebhookId,
      limit: Count('at most 200 (default)'),
      offset: Offset,
      failed: Type.Optional(Switch('1: only those that failed')),
    }),
    answer: Type.Array(Delivery),
    errors: ['webhookUnknown'],
    example: { input: { webhookId: 1, limit: 50 }, data: [DELIVERY] },
    act: async ({ webhookId, failed, ...input }, { core, principal }) => {
      const { limit, offset } = pageOf(input, { byDefault: 200, most: 200 })
      const page = { limit, offset, failed: Boolean(failed) }
      return { data: (await core.webhooks.deliveries(principal.account.id, webhookId, page)).map(shownDelivery) }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'showWebhookDelivery',
    summary: 'Show a request of the last 7 days with both sides: header fields, body, response',
    cli: 'webhook delivery',
    routes: [['/webhooks/:webhookId/deliveries/:requestId', 'GET', 'POST']],
    input: Type.Object({ webhookId: WebhookId, requestId: RequestId }),
    answer: Type.Object({
      ...Delivery.properties,
      headers: Type.Union([Type.Array(Field), Type.Null()], {
        description:
          'null for requests of older versions; values that look like secrets are ***, those changed since null',
      }),
      body: Type.Union([Type.String(), Type.Null()], {
        description: 'written again from the events: of erased recipients it has the pseudonyms',
      }),
      missingEvents: Type.Integer({ description: 'events of the body that are no longer stored' }),
      answerHeaders: Type.Array(Field),
      answer: Type.String({ description: 'the first 4096 octets of the response body' }),
      state: Type.Enum(['delivered', 'waiting', 'dead'], { description: 'of its batch' }),
      nextTry: Type.Union([Type.String(), Type.Null()]),
    }),
    errors: ['webhookUnknown'],
    example: {
      input: { webhookId: 1, requestId: '1767607872000000' },
      data: {
        ...DELIVERY,
        headers: [
          { name: 'content-type', value: 'application/json' },
          { name: 'webhook-id', value: 'msg_5b0c2f5d3c6e4b0f8f0e7a1d2c3b4a59' },
        ],
        body: '[{"TRANSID":17676078720000004,"EVENT":"sent","EMAIL":"lena@harbor.example"}]',
        missingEvents: 0,
        answerHeaders: [{ name: 'Content-Type', value: 'text/plain' }],
        answer: 'ok',
        state: 'delivered',
        nextTry: null,
      },
    },
    async act({ webhookId, requestId }, { core, principal }) {
      const request = await core.webhooks.request(principal.account.id, { webhookId, id: numberOf(requestId) })
      const { headers, body, missing, answerHeaders, answer, batchState, nextTryAt, ...delivery } = request
      return {
        data: {
          ...shownDelivery(delivery),
          headers: headers?.map(([name, value]) => ({ name, value })) ?? null,
          body,
          missingEvents: missing,
          answerHeaders: answerHeaders.map(([name, value]) => ({ name, value })),
          answer,
          state: batchState ?? ('delivered' as const),
          nextTry: nextTryAt?.toISOString() ?? null,
        },
      }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'resendWebhookDelivery',
    summary: 'Send the batch of a request again, or at once if it waits for its next try',
    cli: 'webhook resend',
    routes: [['/webhooks/:webhookId/deliveries/:requestId/resend', 'POST']],
    input: Type.Object({ webhookId: WebhookId, requestId: RequestId }),
    answer: Type.Object({ batch: Type.String({ description: 'its webhook-id header' }) }),
    errors: ['webhookUnknown', 'overloaded'],
    example: {
      input: { webhookId: 1, requestId: '1767607872000000' },
      data: { batch: 'msg_5b0c2f5d3c6e4b0f8f0e7a1d2c3b4a59' },
    },
    async act({ webhookId, requestId }, { core, principal, by }) {
      const batchId = await core.webhooks.resend(
        { accountId: principal.account.id, id: webhookId, by },
        numberOf(requestId),
      )
      return { data: { batch: webhookIdOf(batchId) } }
    },
  }),
  operation({
    ...WEBHOOK_GROUP,
    name: 'listWebhookFailures',
    summary: 'List dead-lettered batches, latest first: they failed while others succeeded',
    cli: 'webhook failures',
    routes: [['/webhooks/:webhookId/failures', 'GET', 'POST']],
    input: Type.Object({
      webhookId: WebhookId,
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
          failureId: '5b0c2f5d-3c6e-4b0f-8f0e-7a1d2c3b4a59',
          firstEvent: 1101,
          lastEvent: 1200,
          attempts: 62,
          since: '2026-01-05T10:11:12.000Z',
          lastTime: '2026-01-08T14:02:40.000Z',
          problem: 'received status 500',
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
    ...WEBHOOK_GROUP,
    name: 'redeliverWebhookFailures',
    summary: 'Retry a dead-lettered batch, or all of them',
    cli: 'webhook redeliver',
    routes: [['/webhooks/:webhookId/redeliver', 'POST']],
    input: Type.Object(
      { webhookId: WebhookId, failureId: Type.Optional(Type.String({ description: 'default: all' })) },
      CLOSED,
    ),
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
    ...WEBHOOK_GROUP,
    name: 'replayWebhook',
    summary: 'Resume a webhook at an event number: that event and all later ones are sent, or sent again',
    cli: 'webhook replay',
    routes: [['/webhooks/:webhookId/replay', 'POST']],
    input: Type.Object({
      webhookId: WebhookId,
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

/** One that cannot be an id is of no request. */
function numberOf(requestId: string): number {
  return /^\d{1,16}$/.test(requestId) ? Number(requestId) : 0
}

function webhookIdOf(batchId: string): string {
  return `msg_${batchId.replaceAll('-', '')}`
}

function shownDelivery({ id, batchId, at, after, to, ...delivery }: WebhookDelivery) {
  const { attempt, status, milliseconds, problem, events } = delivery
  return {
    requestId: String(id),
    batch: webhookIdOf(batchId),
    time: at.toISOString(),
    firstEvent: after + 1,
    lastEvent: to,
    events,
    attempt,
    status,
    milliseconds,
    problem,
  }
}

function shownDead({ id, after, to, attempts, failedSince, failedAt, problem }: DeadBatch) {
  return {
    failureId: id,
    firstEvent: after + 1,
    lastEvent: to,
    attempts,
    since: failedSince.toISOString(),
    lastTime: failedAt.toISOString(),
    problem,
  }
}
