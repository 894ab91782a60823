import {
  addToSearch,
  type DeliveryPage,
  type ListedDelivery,
  MAX_SEARCHED,
  type MessageSearch,
  parseSearch,
  type SearchKey,
  ServiceError,
} from '@postrider/core'
import { type Answer, type Call, type Command, textOption, timeOption, UsageError } from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'
import { nextAttemptText } from './next-attempt-text.ts'
import { stateText } from './state-text.ts'

/** Days of messages that are listed without `--since`, and without `after:` in the search. */
const DEFAULT_DAYS = 7

const HEADING = ['message', 'no', 'account', 'recipient', 'state', 'attempts', 'accepted', 'next try', 'finished']

export const messageListCommands: readonly Command[] = [
  coreCommand({
    name: 'message list',
    usage:
      '[SEARCH] [--account ID] [--state STATE] [--recipient ADDRESS] [--tag TAG] [--since TIME] [--until TIME] [--limit N] [--after CURSOR]',
    summary: 'List deliveries, newest first',
    detail: 'By default those of messages accepted in the last seven days',
    parameters: {
      SEARCH: 'As in the API, such as \'from:desk@ship.example subject:"Your inv"* state:failed\'',
      recipient: 'Only to this address',
      state: 'Only in these states, separated by commas',
      after: 'Cursor of the previous page',
    },
    examples: ['message list --account 12 --state deferred,bounced', 'message list \'subject:"Your invoice"\''],
    prepare: ({ account: accountId, limit, after }, call) => {
      const query = { accountId, search: searchOf(call), days: DEFAULT_DAYS, limit, after }
      return async (core) => {
        await requireAccount(core, accountId)
        return toAnswer(await core.messages.list(query))
      }
    },
  }),
]

/** The options, and the key of the search language that each stands for. */
const OPTIONS: Readonly<Record<string, SearchKey>> = {
  state: 'state',
  recipient: 'to',
  tag: 'tag',
  since: 'after',
  until: 'before',
}

/** Throws {@link UsageError}. */
function searchOf(call: Call): MessageSearch {
  const [text = ''] = call.words
  let search = read('search', text, () => parseSearch(text))
  for (const [option, key] of Object.entries(OPTIONS)) {
    const isTime = option === 'since' || option === 'until'
    const value = isTime ? timeOption(call, option)?.toISOString() : textOption(call, option)
    if (value === undefined) continue
    search = read(`--${option}`, value, () => addToSearch(search, key, value))
  }
  return search
}

/** Throws {@link UsageError}. */
function read(name: string, value: string, fn: () => MessageSearch): MessageSearch {
  try {
    return fn()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new UsageError(`${name} ${error.values?.problem ?? error.message} (got "${value}")`)
  }
}

function toAnswer({ deliveries, next, partial }: DeliveryPage): Answer {
  const found = deliveries.length > 0 ? [table(HEADING, deliveries.map(row))] : partial ? [] : ['no deliveries found']
  const more = `${partial ? `searched ${MAX_SEARCHED} deliveries` : 'there are more'}; continue with --after ${next}`
  return { data: { deliveries, next, partial }, text: [...found, ...(next === null ? [] : [more])].join('\n') }
}

function row(one: ListedDelivery): unknown[] {
  const { messageId, recipientNo, accountId, recipient, attempts, acceptedAt, finishedAt } = one
  const about = [messageId, recipientNo, accountId, recipient, stateText(one)]
  return [...about, attempts, acceptedAt, nextAttemptText(one), finishedAt]
}
