import type { Core, MessageStory } from '@postrider/core'
import { type Call, type Command, CommandError, requiredWord, table } from '../command.ts'

export const messageCommands: readonly Command[] = [
  {
    name: 'message show',
    usage: 'ID',
    summary: 'show a message with its deliveries, attempts and events in time order',
    words: 1,
    options: {},
    run: (call) => {
      return withStory(call, async (story) => ({ data: story, text: tell(story) }))
    },
  },
  {
    name: 'message aside',
    usage: '',
    summary: 'list the deliveries that are set aside, since they cost workers their lives',
    options: {},
    run: (call) =>
      call.withCore(async (core) => {
        const aside = await core.deliveries.setAside()
        const rows = aside.map((one) => [one.messageId, one.recipientNo, one.accountId, one.attempt, one.reason])
        const text = table(['message', 'no', 'account', 'attempts', 'reason'], rows)
        return { data: aside, text: rows.length > 0 ? text : 'no delivery is set aside' }
      }),
  },
  {
    name: 'message release',
    usage: 'ID',
    summary: 'try the deliveries of a message that are set aside again, now and for three days',
    words: 1,
    options: {},
    run: (call) => settle(call, 'released', (core, id) => core.deliveries.releaseSetAside(id)),
  },
  {
    name: 'message fail',
    usage: 'ID',
    summary: 'give the deliveries of a message that are set aside up: they end as dropped',
    words: 1,
    options: {},
    run: (call) => settle(call, 'failed', (core, id) => core.deliveries.failSetAside(id)),
  },
]

async function withStory<T>(call: Call, act: (story: MessageStory, core: Core) => Promise<T>): Promise<T> {
  const id = requiredWord(call, 'the message id')
  return call.withCore(async (core) => {
    const story = await core.messages.show(id)
    if (!story) throw new CommandError(`there is no message "${id}": the id is the one sendEmail or the relay answered`)
    return act(story, core)
  })
}

function settle(call: Call, done: 'released' | 'failed', act: (core: Core, id: string) => Promise<number>) {
  return withStory(call, async ({ id }, core) => {
    const count = await act(core, id)
    if (count === 0) throw new CommandError(`no delivery of message ${id} is set aside`)
    return {
      data: { id, [done]: count },
      text: `${done} ${count} ${count === 1 ? 'delivery' : 'deliveries'} of message ${id}`,
    }
  })
}

function tell(story: MessageStory): string {
  const { id, door, acceptedAt, from, subject, size, deliveries, events } = story
  const states = deliveries.map(({ recipientNo, kind, recipient, state, attempt, nextAt, reason }) => [
    ...[recipientNo, kind, recipient, isAside({ state, reason }) ? 'set aside' : state, attempt],
    nextAt && state !== 'sending' && !isAside({ state, reason }) ? nextAt : '',
  ])
  return [
    `message ${id}, by ${door}, accepted ${acceptedAt.toISOString()}`,
    `from ${from}, ${size} bytes, subject: ${subject}`,
    '',
    table(['no', 'kind', 'recipient', 'state', 'attempts', 'next'], states),
    ...aside(deliveries),
    '',
    table(['time', 'no', 'what', 'detail'], timeline({ deliveries, events })),
  ].join('\n')
}

/** In the queue with a reason: why it is not tried. */
function isAside({ state, reason }: Pick<MessageStory['deliveries'][number], 'state' | 'reason'>): boolean {
  return reason !== null && (state === 'deferred' || state === 'queued')
}

function aside(deliveries: MessageStory['deliveries']): string[] {
  const set = deliveries.filter(isAside)
  if (set.length === 0) return []
  const why = set.map(({ recipientNo, reason }) => `delivery ${recipientNo} is set aside: ${reason}`)
  return ['', ...why, '"postrider message release ID" tries it again, "postrider message fail ID" gives it up']
}

/** Attempts and events of all deliveries as they happened. */
function timeline({ deliveries, events }: Pick<MessageStory, 'deliveries' | 'events'>): unknown[][] {
  const attempts = deliveries
    .flatMap((delivery) => delivery.attempts)
    .map(({ startedAt, recipientNo, attempt, outcome, indeterminate, host, code, enhanced, reply, milliseconds }) => ({
      at: startedAt,
      row: [
        recipientNo,
        `attempt ${attempt}: ${outcome}${indeterminate ? ' (indeterminate)' : ''}`,
        [host, code, enhanced, reply, `${milliseconds} ms`].filter(Boolean).join(' '),
      ],
    }))
  const happened = events.map(({ occurredAt, recipientNo, type, detail }) => ({
    at: occurredAt,
    row: [recipientNo ?? '', type, detail ? JSON.stringify(detail) : ''],
  }))
  return [...attempts, ...happened].sort((a, b) => a.at.getTime() - b.at.getTime()).map(({ at, row }) => [at, ...row])
}
