import type { MessageStory } from '@postrider/core'
import { type Command, CommandError, requiredWord, table } from '../command.ts'

export const messageCommands: readonly Command[] = [
  {
    name: 'message show',
    usage: 'ID',
    summary: 'show a message with its deliveries, attempts and events in time order',
    words: 1,
    options: {},
    run: (call) => {
      const id = requiredWord(call, 'the message id')
      return call.withCore(async (core) => {
        const story = await core.messages.show(id)
        if (!story)
          throw new CommandError(`there is no message "${id}": the id is the one sendEmail or the relay answered`)
        return { data: story, text: tell(story) }
      })
    },
  },
]

function tell(story: MessageStory): string {
  const { id, door, acceptedAt, from, subject, size, deliveries, events } = story
  const states = deliveries.map(({ recipientNo, kind, recipient, state, attempt, nextAt }) => [
    ...[recipientNo, kind, recipient, state, attempt],
    nextAt && state !== 'sending' ? nextAt : '',
  ])
  return [
    `message ${id}, by ${door}, accepted ${acceptedAt.toISOString()}`,
    `from ${from}, ${size} bytes, subject: ${subject}`,
    '',
    table(['no', 'kind', 'recipient', 'state', 'attempts', 'next'], states),
    '',
    table(['time', 'no', 'what', 'detail'], timeline({ deliveries, events })),
  ].join('\n')
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
