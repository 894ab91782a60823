import {
  domainOfPlace,
  HELD_ONE_CLICK_PLACE,
  HELD_PLACE,
  HELD_RECIPIENT_PLACE,
  MAX_COUNTED,
  type MessageRate,
  OVERVIEW_LIMIT,
  type Override,
  type QueueGroup,
  type QueueOverview,
  type ServiceTime,
} from '@postrider/core'
import type { Answer, Command } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { queueDestinationCommands } from './queue-destination.ts'
import { bounded, duration, rateText } from './queue-format.ts'
import { queueJobCommands } from './queue-jobs.ts'
import { refusedLines } from './refused.ts'

const HEADING = ['due', 'later', 'parked', 'held', 'in flight', 'oldest']
/** The group of mail that was not tried yet and is not parked; the destination that it goes to is found when it is claimed. */
export const NOT_ASSIGNED = '(not assigned)'
/** Names of the destinations where mail waits for its account, instead of a provider. */
const HELD_NAMES: ReadonlyMap<string, string> = new Map([
  [HELD_PLACE, '(account held or slowed)'],
  [HELD_RECIPIENT_PLACE, '(recipient held)'],
  [HELD_ONE_CLICK_PLACE, '(without one-click unsubscribe)'],
])

export function heldName(place: string): string | undefined {
  const domain = domainOfPlace(place)
  return domain === undefined ? HELD_NAMES.get(place) : `(${domain} held)`
}

export const queueCommands: readonly Command[] = [
  coreCommand({
    name: 'queue',
    usage: '[--by provider|account|class|domain|source] [--limit N]',
    summary: 'Show what is in the queue, the largest groups first',
    detail:
      '">" marks lower bounds: at most 10,000 deliveries of an account and class are counted. ' +
      `By provider, retries are counted where they were tried last, and mail that was not tried yet is "${NOT_ASSIGNED}": where it goes is known only ` +
      'when it is claimed. Then follows what was refused within the last hour, whether mail waits there or not',
    parameters: { by: 'Grouping (default provider)' },
    examples: ['queue --by account'],
    limit: OVERVIEW_LIMIT,
    run: async ({ queue, serviceTime }, { by = 'provider', limit }) =>
      toAnswer(await queue.overview({ by, limit }), await serviceTime.show()),
  }),
  ...queueDestinationCommands,
  ...queueJobCommands,
]

function toAnswer(overview: QueueOverview, time: ServiceTime): Answer {
  const { by, groups, refused, workers, others, partial } = overview
  const now = time.now.getTime()
  const limits = by === 'provider' ? ['connections', 'limits'] : by === 'account' ? ['limits'] : []
  const isTried = groups.some(({ rate }) => rate !== null)
  const rows = groups.map((group) => [
    (by === 'provider' ? heldName(group.name ?? NOT_ASSIGNED) : undefined) ?? group.name ?? NOT_ASSIGNED,
    bounded(group.due),
    bounded(group.later),
    parked(group),
    bounded(group.held),
    group.inFlight,
    group.oldest === null ? '' : duration(now - group.oldest.getTime()),
    ...(isTried ? progress(group, now) : []),
    ...(by === 'provider' ? [connections(group)] : []),
    ...(limits.length > 0 ? [limitsText(group)] : []),
  ])
  const lines = [
    tableOr('the queue is empty', [by, ...HEADING, ...(isTried ? ['tried', 'done in'] : []), ...limits], rows),
    ...(workers === 0 ? ['no delivery worker is running'] : []),
    ...(others > 0 ? [`${others} more groups; show them with --limit`] : []),
    ...(partial
      ? [
          `the queue was read in part (at most ${MAX_COUNTED} deliveries of an account and class); groups may be missing`,
        ]
      : []),
    ...refusedLines(refused, now),
  ]
  return { data: overview, text: lines.join('\n') }
}

/** How fast parked mail of the group is tried, and when all of it is. */
function progress({ rate, doneAt }: QueueGroup, now: number): [string, string] {
  return [
    rate === null ? '' : `${Math.round((60 * rate.tried) / Math.max(rate.seconds, 1))}/min`,
    doneAt === null ? '' : duration(doneAt.getTime() - now),
  ]
}

function parked({ parked }: QueueGroup): string {
  const parts = Object.entries(parked).filter(([, { count }]) => count > 0)
  return parts.length === 0 ? '0' : parts.map(([why, count]) => `${bounded(count)} ${why}`).join(', ')
}

function connections({ limits }: QueueGroup): string {
  return limits ? `${limits.connections.used}/${limits.connections.limit}` : ''
}

function limitsText({ overrides, limits }: QueueGroup): string {
  const base = limits?.rate && !overrides.some(({ setting }) => setting === 'rate') ? [rateText(limits.rate)] : []
  return [...base, ...overrides.map(overrideText)].join('; ')
}

function overrideText({ setting, value, seconds, rule, until, accountId }: Override): string {
  const amount =
    value === null ? '' : ` ${seconds === null ? value : rateText({ messages: value, seconds } as MessageRate)}`
  const whose = accountId === null ? '' : ` of account ${accountId}`
  return `${setting}${amount}${whose} by ${rule} until ${until.toISOString()}`
}
