import {
  addToSearch,
  type DeliveryPage,
  type ListedDelivery,
  type MessageSearch,
  parseSearch,
  type SearchClock,
  type SearchKey,
  ServiceError,
} from '@postrider/core'
import { type Answer, type Call, type Command, textOption, UsageError } from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'
import { nextAttemptText } from './next-attempt-text.ts'
import { stateText } from './state-text.ts'

/** Days of messages that are listed without `--since`, and without `after:` in the search. */
const DEFAULT_DAYS = 7

const HEADING = [
  ...['message', 'no', 'account', 'state', 'recipient', 'subject'],
  ...['attempts', 'accepted', 'next try', 'finished'],
]
/** A row is one line of 80 characters, with its subject. */
const NARROW = {
  minor: ['next try', 'accepted', 'no', 'account', 'attempts', 'finished'],
  tight: ['state', 'recipient', 'subject'],
}

export const messageListCommands: readonly Command[] = [
  coreCommand({
    name: 'message list',
    usage:
      '[SEARCH] [--account ID] [--state STATE] [--recipient ADDRESS] [--tag TAG] [--since TIME] [--until TIME] [--limit N] [--after CURSOR]',
    summary: 'List deliveries, newest first',
    detail: 'By default those of messages accepted in the last seven days',
    parameters: {
      SEARCH: "As in the API: words, or 'from:desk@ship.example subject:invoice state:failed after:2d'",
      recipient: 'Only to this address',
      state: 'Only in these states, separated by commas',
      after: 'Cursor of the previous page',
    },
    examples: ['message list --account 12 --state deferred,bounced', "message list 'invoice lena after:yesterday'"],
    prepare: ({ account: accountId, limit, after }, call) => {
      const query = { accountId, search: searchOf(call), days: DEFAULT_DAYS, limit, after }
      return async (core) => {
        await requireAccount(core, accountId)
        const search = searchOf(call, await core.messages.searchClock(accountId))
        return toAnswer(await core.messages.list({ ...query, search }))
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
function searchOf(call: Call, clock: Partial<SearchClock> = {}): MessageSearch {
  const [text = ''] = call.words
  let search = read('search', text, () => parseSearch(text, clock))
  for (const [option, key] of Object.entries(OPTIONS)) {
    const value = textOption(call, option)
    if (value === undefined) continue
    search = read(`--${option}`, value, () => addToSearch(search, key, value, clock))
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

function toAnswer({ deliveries, next, partial, searchedTo, searchedFrom }: DeliveryPage): Answer {
  const since = searchedFrom ? ` since ${searchedFrom.toISOString()}` : ''
  const none = partial ? [] : [`no deliveries found${since}`]
  const found = deliveries.length > 0 ? [table(HEADING, deliveries.map(row), NARROW)] : none
  const more = `${partial ? `searched back to ${searchedTo?.toISOString()}` : 'there are more'}; continue with --after ${next}`
  return {
    data: { deliveries, next, partial, searchedTo, searchedFrom },
    text: [...found, ...(next === null ? [] : [more])].join('\n'),
  }
}

function row(one: ListedDelivery): unknown[] {
  const { messageId, recipientNo, accountId, recipient, subject, attempts, acceptedAt, finishedAt } = one
  const about = [messageId, recipientNo, accountId, stateText(one), recipient, subject]
  return [...about, attempts, acceptedAt, nextAttemptText(one), finishedAt]
}
