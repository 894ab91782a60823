import type { Cancellation } from '@postrider/core'
import { type Answer, type Command, CommandError } from '../../command.ts'
import { coreCommand } from '../core-command.ts'
import { recipientNumbers } from './message-content.ts'
import { messageNotFound, requireMessage } from './message-not-found.ts'
import { requeue } from './message-requeue.ts'

/** Commands that take deliveries of one message out of the queue, and put them back. */
export const messageQueueCommands: readonly Command[] = [
  coreCommand({
    name: 'message cancel',
    destroys: true,
    usage: 'ID [--recipient-no N]...',
    summary: 'Drop the deliveries of a message that are scheduled, queued or deferred',
    detail: 'Those in flight are not affected',
    parameters: { 'recipient-no': 'Only that of the recipient with this number (default: all)' },
    hasTextId: true,
    look: (core, { ID: id }) => requireMessage(core, id),
    prepare: ({ ID: id, 'recipient-no': numbers }) => {
      const recipientNos = recipientNumbers(numbers)
      return async (core) => {
        const result = await core.messages.cancel({ messageId: id, recipientNos })
        if (!result) throw messageNotFound(id)
        return toCancelAnswer(result)
      }
    },
  }),
  coreCommand({
    name: 'message reschedule',
    usage: 'ID WHEN',
    summary: 'Give the deliveries of a message that are scheduled and not yet due another time',
    parameters: {
      WHEN: 'ISO 8601 with offset or zone, or Unix seconds; without a zone, that of the account. One that has passed: now',
    },
    examples: ['message reschedule 01a20468da3678e4ae0150514402a171 "2026-12-24T09:00:00[Europe/Berlin]"'],
    hasTextId: true,
    run: async (core, { ID: id, WHEN: schedule }) => {
      const result = await core.messages.reschedule({ messageId: id, schedule })
      if (!result) throw messageNotFound(id)
      const { rescheduled, others, scheduledAt } = result
      const left = others > 0 ? `; ${deliveries(others)} were due already or have ended` : ''
      return {
        data: result,
        text: `${deliveries(rescheduled)} of message ${result.id} scheduled for ${scheduledAt.toISOString()}${left}`,
      }
    },
  }),
  coreCommand({
    name: 'message try',
    usage: 'ID',
    summary: 'Make the deferred deliveries of a message due now',
    detail: 'Limits, pauses and holds apply as before',
    hasTextId: true,
    run: async (core, { ID: id }) => {
      const result = await core.messages.tryNow({ messageId: id })
      if (!result) throw messageNotFound(id)
      const { due, notYet } = result
      if (due === 0) throw new CommandError(`no delivery of message ${result.id} can be tried now: ${notYet} not yet`)
      const left = notYet > 0 ? `; ${notYet} not yet (see "message why")` : ''
      return { data: result, text: `${deliveries(due)} of message ${result.id} due now${left}` }
    },
  }),
  coreCommand({
    name: 'message requeue',
    usage: 'ID [--recipient ADDRESS]',
    summary: 'Try the bounced and expired deliveries of a message again',
    detail: 'They are due immediately, and tried for as long as those of a new message',
    hasTextId: true,
    run: requeue,
  }),
]

function toCancelAnswer(result: Cancellation): Answer {
  const { id, cancelled, inFlight, final } = result
  const others = [
    ...(inFlight > 0 ? [`${inFlight} in flight`] : []),
    ...(final > 0 ? [`${final} already final`] : []),
  ].join(', ')
  if (cancelled === 0) throw new CommandError(`no delivery of message ${id} can be cancelled: ${others}`)
  const text = `cancelled ${deliveries(cancelled)} of message ${id}${others === '' ? '' : `; not cancelled: ${others}`}`
  const again = 'a delivery in flight that is deferred returns to the queue; repeat the command to cancel it'
  return { data: result, text: inFlight > 0 ? `${text}\n${again}` : text }
}

function deliveries(count: number): string {
  return `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
}
