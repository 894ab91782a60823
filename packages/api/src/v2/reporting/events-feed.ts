import {
  type Core,
  EVENT_TYPES,
  type Event,
  type EventType,
  eventType,
  eventWord,
  invalidParameter,
  requireScope,
  ServiceError,
} from '@postrider/core'
import Type, { type Static } from 'typebox'
import { commaList } from '../comma-list.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { Count, exactNumber, pageOf } from '../shapes.ts'
import { CLOSED } from '../unknown-parameters.ts'

/**
 * The event names of webhooks, or core's own if v2 has none (contract 16.4). Unlike webhooks, the feed tells an expired delivery from
 * a bounced one.
 */
const eventNameOf = (type: EventType): string => (type === 'expired' ? type : (eventType(type).v2 ?? type))
const TYPES: ReadonlyMap<string, EventType> = new Map(EVENT_TYPES.map((type) => [eventNameOf(type), type]))

/** Maximum number of seconds to wait for an event; proxies commonly time out after 60. */
export const MAX_WAIT_SECONDS = 30
const MAX_EVENTS = 1000

const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()])

const Entry = Type.Object(
  {
    number: Type.Integer({ description: 'sequence number of the account: 1, 2, 3, without gaps' }),
    id: Type.String({ description: 'never changes; the same in webhooks' }),
    type: Type.Enum([...TYPES.keys()]),
    time: Type.String({ description: 'ISO 8601, UTC' }),
    trid: OrNull(
      Type.Integer({ description: 'transaction number; null if the event has no message or the message was deleted' }),
    ),
    messageId: OrNull(Type.String()),
    email: OrNull(Type.String({ description: 'the recipient' })),
    fromaddress: OrNull(Type.String()),
    xapiheader: OrNull(Type.String()),
    tags: OrNull(Type.String()),
    metadata: OrNull(
      Type.Record(Type.String(), Type.String(), { description: 'the own data of the message: names and values' }),
    ),
  },
  { description: 'with further fields that depend on the type, such as reply, class, url, ip' },
)

/** The account's events by sequence number. */
export const FEED: readonly Operation[] = [
  operation({
    name: 'readEventFeed',
    summary: 'List events after a sequence number; optionally wait for new ones',
    cli: 'events',
    group: 'Events',
    scope: 'events',
    routes: [['/events/feed', 'GET', 'POST']],
    input: Type.Object(
      {
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            description: '`next` of the previous response; 0: from the first event',
          }),
        ),
        epoch: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 1_000_000_000,
            description:
              '`epoch` of the previous response: if the database was restored to an earlier moment since then, the response begins ' +
              'with the first event that has changed',
          }),
        ),
        limit: Count(`at most ${MAX_EVENTS}; default 100`),
        types: Type.Optional(
          Type.Union([Type.String(), Type.Array(Type.String())], { description: 'only these event types' }),
        ),
        wait: Type.Optional(
          Type.Integer({ minimum: 0, description: `seconds to wait for an event, at most ${MAX_WAIT_SECONDS}` }),
        ),
      },
      CLOSED,
    ),
    answer: Type.Array(Entry),
    envelope: {
      beside: Type.Object({
        next: Type.Integer({ description: 'value of `after` for the next request' }),
        last: Type.Integer({ description: 'number of the latest event' }),
        oldest: Type.Integer({
          description: 'number of the oldest event not deleted; earlier events after `after` have been deleted',
        }),
        epoch: Type.Integer({
          description:
            'increases when the database is restored to an earlier moment: later numbers then mean other events',
        }),
      }),
      example: { next: 1, last: 1, oldest: 1, epoch: 1 },
    },
    errors: [],
    example: {
      input: { after: 0, epoch: 1, limit: 100, wait: 30 },
      data: [
        {
          number: 1,
          id: '41',
          type: 'sent',
          time: '2026-01-05T10:11:14.000Z',
          trid: 17676078720000004,
          messageId: '019b8d6a3c80700080000000000000a1',
          email: 'lena@harbor.example',
          fromaddress: 'desk@ship.example',
          xapiheader: 'order-9001',
          tags: 'berth,confirm',
          metadata: { order: '9001' },
          // Fields of one event type are not in the schema.
          ...{ attempt: 1, host: 'mx.harbor.example', code: 250, enhanced: '2.0.0', reply: 'OK' },
        },
      ],
    },
    async act({ after = 0, epoch, limit, types, wait = 0 }, call) {
      const page = await feedOf(call, 'events', wait, {
        after,
        epoch,
        limit: pageOf({ limit }, { byDefault: 100, most: MAX_EVENTS }).limit,
        types: typesOf(types),
      })
      const { events, next, last, oldest, epoch: current } = page
      return { data: events.map(shown), beside: { next, last, oldest, epoch: current } }
    },
  }),
]

function typesOf(types: string | readonly string[] | undefined): EventType[] | undefined {
  const named = new Set(commaList('types', types ?? []).map(eventWord))
  if (named.size === 0) return undefined
  return Array.from(named, (word) => {
    const type = TYPES.get(word)
    if (!type) throw invalidParameter('types', `must be a comma-separated list of: ${[...TYPES.keys()].join(', ')}`)
    return type
  })
}

type Feed = Core['events']['feed']

/**
 * Returns a page of the feed, for which the call waits `wait` seconds at most. Throws keyInvalid and
 * scopeMissing if its key was revoked meanwhile or has lost the scope: what has happened since is not for it (V45).
 */
export async function feedOf(
  call: Call,
  scope: 'events' | 'webhooks',
  wait: number,
  query: Omit<Parameters<Feed>[0], 'accountId' | 'milliseconds' | 'signal'>,
): ReturnType<Feed> {
  const { core, principal } = call
  const milliseconds = Math.min(wait, MAX_WAIT_SECONDS) * 1000
  const accountId = principal.account.id
  const page = await core.events.feed({ ...query, accountId, milliseconds, signal: goneOrDraining(call) })
  if (milliseconds > 0) {
    const still = await core.auth.principalOf(principal.keyId)
    if (!still) throw new ServiceError('keyInvalid')
    requireScope(still, scope)
  }
  return page
}

/** Returns a signal that is aborted when the client disconnects or the process stops. */
function goneOrDraining({ request, reply }: Call): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return AbortSignal.any([gone.signal, request.server.draining])
}

function shown({ number, id, type, occurredAt, detail, delivery }: Event): Static<typeof Entry> {
  return {
    ...detail,
    number,
    id,
    type: eventNameOf(type),
    time: occurredAt.toISOString(),
    trid: delivery ? exactNumber(delivery.transactionNumber) : null,
    messageId: delivery?.messageId ?? null,
    email: delivery?.recipient ?? null,
    fromaddress: delivery?.from ?? null,
    xapiheader: delivery ? (delivery.reference ?? '') : null,
    tags: delivery?.tags.join(',') ?? null,
    metadata: delivery?.customArgs ?? null,
  }
}
