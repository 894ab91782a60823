import { eventsNamed, RECIPIENT_EVENTS, WEBHOOK_FORMATS, webhookBody } from '@postrider/core'
import Type from 'typebox'
import { commaList } from '../comma-list.ts'
import { type Operation, operation } from '../operation.ts'
import { feedOf, MAX_WAIT_SECONDS } from './events-feed.ts'
import { Settings, Switch, WEBHOOK_GROUP } from './webhook-schema.ts'

/** Events of a response, as many as a request of a webhook has. */
const LIMIT = 100

/** Requests that a webhook would get, for programs without a public URL, such as `postrider webhook listen`. */
export const WEBHOOK_LISTEN: readonly Operation[] = [
  operation({
    ...WEBHOOK_GROUP,
    name: 'listenToWebhookEvents',
    summary: 'Read what a webhook would get, without one; optionally wait for it',
    cli: 'webhook listen',
    routes: [['/webhooks/listen', 'GET', 'POST']],
    input: Type.Object({
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: '`next` of the previous response; default: only what happens from now on',
        }),
      ),
      events: Type.Optional(Settings.events),
      format: Type.Optional(Type.Enum([...WEBHOOK_FORMATS], { description: 'format of the events; default v2' })),
      eventIds: Type.Optional(Switch('v2: add an EVENTID to each event')),
      wait: Type.Optional(Type.Integer({ minimum: 0, description: `seconds to wait, at most ${MAX_WAIT_SECONDS}` })),
    }),
    answer: Type.Object({
      body: Type.Union([Type.String(), Type.Null()], {
        description: 'the body of the request, at most 100 events; null if there is none yet',
      }),
    }),
    envelope: {
      beside: Type.Object({ next: Type.Integer({ description: 'value of `after` for the next request' }) }),
      example: { next: 1101 },
    },
    errors: ['webhookEventInvalid'],
    example: {
      input: { after: 1100, events: 'sent', wait: 25 },
      data: { body: '[{"TRANSID":17676078720000004,"EVENT":"sent","EMAIL":"lena@harbor.example"}]' },
    },
    async act({ after, events, format = 'v2', eventIds, wait = 0 }, call) {
      const { core, principal } = call
      const { id: accountId } = principal.account
      const types = events === undefined ? RECIPIENT_EVENTS : eventsNamed(commaList('events', events), format)
      if (after === undefined)
        return { data: { body: null }, beside: { next: await core.events.lastNumber(accountId) } }
      const page = await feedOf(call, 'webhooks', wait, { after, limit: LIMIT, types: [...types] })
      const written = { format, asText: false, abuse: false, eventIds: Boolean(eventIds), names: null }
      return { data: { body: webhookBody(written, page.events) ?? null }, beside: { next: page.next } }
    },
  }),
]
