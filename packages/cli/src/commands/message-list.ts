import {
  DELIVERY_STATES,
  type DeliveryPage,
  type DeliveryState,
  type ListedDelivery,
  MAX_SEARCHED,
} from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  limitOption,
  requiredId,
  table,
  textOption,
  timeOption,
  UsageError,
} from '../command.ts'

const HEADING = ['message', 'no', 'account', 'recipient', 'state', 'attempts', 'accepted', 'next try', 'finished']

export const messageListCommands: readonly Command[] = [
  {
    name: 'message list',
    usage:
      '[--account ID] [--state STATE] [--recipient ADDRESS] [--tag TAG] [--since TIME] [--until TIME] [--limit N] [--after CURSOR]',
    summary: 'List deliveries, newest first; by default those of messages accepted in the last seven days',
    options: {
      account: { type: 'string' },
      state: { type: 'string' },
      recipient: { type: 'string' },
      tag: { type: 'string' },
      since: { type: 'string' },
      until: { type: 'string' },
      limit: { type: 'string' },
      after: { type: 'string' },
    },
    run: (call) => {
      const accountId = textOption(call, 'account') === undefined ? undefined : requiredId(call, 'account')
      const query = {
        accountId,
        state: stateOption(call),
        recipient: textOption(call, 'recipient'),
        tag: textOption(call, 'tag'),
        since: timeOption(call, 'since'),
        until: timeOption(call, 'until'),
        limit: limitOption(call),
        after: textOption(call, 'after'),
      }
      return call.withCore(async (core) => {
        if (accountId !== undefined && !(await core.accounts.list()).some(({ id }) => id === accountId)) {
          throw new CommandError(`account ${accountId} not found; "account list" lists all accounts`)
        }
        return toAnswer(await core.messages.list(query))
      })
    },
  },
]

/** Throws {@link UsageError}. */
function stateOption(call: Call): DeliveryState | undefined {
  const text = textOption(call, 'state')
  if (text === undefined) return undefined
  const states = Object.keys(DELIVERY_STATES) as DeliveryState[]
  const state = states.find((one) => one === text)
  if (!state) throw new UsageError(`--state must be one of ${states.join(', ')} (got "${text}")`)
  return state
}

function toAnswer({ deliveries, next, partial }: DeliveryPage): Answer {
  const found = deliveries.length > 0 ? [table(HEADING, deliveries.map(row))] : partial ? [] : ['no deliveries found']
  const more = `${partial ? `searched ${MAX_SEARCHED} deliveries` : 'there are more'}; continue with --after ${next}`
  return { data: { deliveries, next, partial }, text: [...found, ...(next === null ? [] : [more])].join('\n') }
}

function row(one: ListedDelivery): unknown[] {
  const { messageId, recipientNo, accountId, recipient, state, attempts, acceptedAt, nextAt, finishedAt } = one
  return [messageId, recipientNo, accountId, recipient, state, attempts, acceptedAt, nextAt, finishedAt]
}
