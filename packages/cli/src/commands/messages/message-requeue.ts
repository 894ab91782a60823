import type { Core, HoldingEntry, RequeueProblem, RequeueResult } from '@postrider/core'
import { type Answer, CommandError } from '../../command.ts'
import type { Given } from '../core-command.ts'
import { messageNotFound } from './message-not-found.ts'

type Refused = RequeueResult['refused'][number]

/** Runs `message requeue`. Throws {@link CommandError} if no delivery was requeued, with the reason for each. */
export async function requeue({ messages }: Core, given: Given<'ID [--recipient ADDRESS]', true>): Promise<Answer> {
  const { ID: messageId, recipient } = given
  const result = await messages.requeue({ messageId, recipient })
  if (!result) throw messageNotFound(messageId)
  const { id, accountId, problem, requeued, refused } = result
  if (problem) throw new CommandError(PROBLEMS[problem]({ id, accountId, recipient: recipient ?? '' }))
  const told = refused.map((one) => ({ ...one, text: sentence(one, accountId) }))
  if (requeued.length === 0)
    throw new CommandError([`no delivery of message ${id} was requeued`, ...told.map(({ text }) => text)].join('\n'))
  const lines = requeued.map((one) => `requeued ${one.recipient} (${one.state} after attempt ${one.attempt})`)
  const follow = `follow it with: postrider message show ${id}`
  return {
    data: { id, accountId, requeued, refused: told },
    text: [...lines, ...told.map(({ text }) => `not requeued: ${text}`), follow].join('\n'),
  }
}

interface Context {
  readonly id: string
  readonly accountId: number
  readonly recipient: string
}

const PROBLEMS: Readonly<Record<RequeueProblem, (context: Context) => string>> = {
  'recipient-unknown': ({ id, recipient }) => `message ${id} has no recipient ${recipient}`,
  'body-deleted': ({ id }) =>
    `message ${id} cannot be requeued: its body is no longer stored (its retention period has ended, or a recipient was erased)`,
  'domain-lost': ({ id }) =>
    `message ${id} cannot be requeued: its sending domain was lost or rejected; "domain list" shows its state`,
  erasing: ({ id, accountId }) =>
    `could not requeue message ${id}: recipients of account ${accountId} are being erased; retry when the erasure is completed`,
  dropping: ({ id }) => `could not requeue message ${id}: expired data is being deleted; retry in some minutes`,
}

function sentence({ recipient, state, reason, refusal }: Refused, accountId: number): string {
  switch (refusal.why) {
    case 'erased':
      return `${recipient} cannot be requeued: the recipient was erased`
    case 'indeterminate':
      return `${recipient} cannot be requeued: after an attempt the connection was lost, so the server may already have the message`
    case 'suppressed':
      return `${recipient} is suppressed (${refusal.by.reason}); remove the suppression first: ${removal(refusal.by, accountId)}`
    case 'state':
      if (state === 'delivered') return `${recipient} was already delivered`
      if (state !== 'dropped') return `${recipient} is still in the queue (${state})`
      return `${recipient} was dropped (${reason}); only bounced and expired deliveries can be requeued`
  }
}

/** How to remove an entry. Unsubscribes from a group are removed over the API. */
function removal({ scope, value, group, global }: HoldingEntry, accountId: number): string {
  if (scope === 'group') return `${value} unsubscribed from group ${group} of account ${accountId}`
  const owner = global ? '--global' : `--account ${accountId}`
  return `postrider suppression remove ${owner} --${scope === 'domain' ? 'domain' : 'email'} ${value}`
}
