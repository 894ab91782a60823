import { type DeliveryWhy, MAX_EXPLAINED, type MessageWhy } from '@postrider/core'
import { type Answer, type Command, CommandError } from '../../command.ts'
import { printable, table } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { messageNotFound } from './message-not-found.ts'

export const messageWhyCommands: readonly Command[] = [
  coreCommand({
    name: 'message why',
    usage: 'ID [--recipient ADDRESS] [--trid TRANSID]',
    summary: 'Show what the deliveries of a message wait for and when they are expected',
    detail: `The first ${MAX_EXPLAINED} are shown`,
    hasTextId: true,
    parameters: { trid: 'Only the delivery with this TRANSID' },
    run: async (core, { ID: messageId, recipient, trid: transactionNumber }) => {
      const why = await core.messages.why({ messageId, recipient, transactionNumber })
      if (!why && transactionNumber !== undefined && (await core.messages.why({ messageId }))) {
        throw new CommandError(`message ${messageId} has no delivery ${transactionNumber}`)
      }
      if (!why) throw messageNotFound(messageId)
      if (why.deliveries.length === 0) throw new CommandError(`message ${why.id} has no recipient ${recipient}`)
      return { data: why, text: textOf(why) }
    },
  }),
]

function textOf({ id, acceptedAt, total, deliveries }: MessageWhy): Answer['text'] {
  const rows = deliveries.map(({ recipientNo, recipient, state, waitingFor, nextAt, expected, ahead, deadline }) => [
    recipientNo,
    recipient,
    state,
    waitingFor ?? '',
    nextAt ?? '',
    expected?.p50 ?? '',
    ahead ?? '',
    deadline ?? '',
  ])
  const left = total - deliveries.length
  return [
    `message ${id}, accepted ${acceptedAt.toISOString()}`,
    '',
    table(['no', 'recipient', 'state', 'waiting for', 'next try', 'expected', 'ahead', 'deadline'], rows),
    '',
    ...deliveries.map(sentence),
    ...(left > 0 ? [`${left} more deliveries; --recipient or --trid selects one`] : []),
  ].join('\n')
}

function sentence({ recipientNo, text, expected }: DeliveryWhy): string {
  const basis = expected ? ` (expected: ${expected.basis})` : ''
  return printable(`${recipientNo}: ${text}${basis}`)
}
