import type { DeadBatch, WebhookDelivery } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { Count, Offset, pageOf } from '../shapes.ts'
import { CLOSED } from '../unknown-parameters.ts'
import { WEBHOOK_GROUP, WebhookId } from './webhook-schema.ts'

/** The requests of webhooks, and how batches and events are sent again (contract section 16). */
export const WEBHOOK_DELIVERIES: readonly Operation[] = [
  operation({
    ...WEBHOOK_GROUP,
    name: 'listWebhookDeliveries',
    summary: 'List the latest requests, newest first: up to 100 successful and 100 failed',
    cli: 'webhook deliveries',
    routes: [['/webhooks/:webhookId/deliveries', 'GET', 'POST']],
    input: Type.Object({ webhookId: WebhookId, limit: Count('at most 200 (default)') }),
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
          batch: 'msg_5b0c2f5d3c6e4b0f8f0e7a1d2c3b4a59',
          time: '2026-01-05T10:11:12.000Z',
          firstEvent: 1101,
          lastEvent: 1200,
          attempt: 1,
          status: 200,
          milliseconds: 84,
          problem: null,
        },
      ],
    },
    act: async ({ webhookId, ...input }, { core, principal }) => {
      const { limit } = pageOf(input, { byDefault: 200, most: 200 })
      return { data: (await core.webhooks.deliveries(principal.account.id, webhookId, limit)).map(shownDelivery) }
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

function shownDelivery({ batchId, at, after, to, ...delivery }: WebhookDelivery) {
  return {
    batch: `msg_${batchId.replaceAll('-', '')}`,
    time: at.toISOString(),
    firstEvent: after + 1,
    lastEvent: to,
    ...delivery,
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
