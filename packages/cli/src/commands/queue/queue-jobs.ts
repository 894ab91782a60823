import {
  confirmProblemText,
  DELIVERY_CLASSES,
  hasSelectors,
  type JobPlan,
  LEFT_OUT,
  type LeftOut,
  type QueueAction,
  type QueueJob,
} from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  requiredText,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { table } from '../../table.ts'
import { accountOption } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'

const SELECTORS =
  '--place PLACE | --domain DOMAIN | --account ID | --class CLASS | --tag TAG | --older DURATION | --all'
const FINISHED_SELECTORS =
  '--since TIME [--until TIME] [--state bounced|expired] [--bounce-class CLASS] [--place PLACE] [--domain DOMAIN] [--account ID] ' +
  '[--class CLASS] [--tag TAG]'
type ActionHelp = Pick<Command, 'summary' | 'detail' | 'parameters' | 'examples'>

const ACTIONS: Readonly<Record<QueueAction, ActionHelp>> = {
  flush: {
    summary: 'Make retries and parked mail due now',
    detail:
      'Does not lift pauses: mail at a paused destination stays there. Scheduled and held mail, and mail after an indeterminate attempt, are left out',
    examples: ['queue flush --place google', 'queue flush --confirm 7'],
  },
  fail: {
    summary: 'Drop waiting mail, also scheduled and held mail',
    examples: ['queue fail --account 12 --older 2d'],
  },
  hold: { summary: 'Hold waiting and scheduled mail until it is released; it still expires' },
  release: { summary: 'Release held mail; it is due when it was before' },
  reroute: {
    summary: 'Send waiting mail from another pool of source addresses',
    detail: 'Parked mail is due now',
    parameters: { to: 'Name of the pool; none lets the rules choose again' },
    examples: ['queue reroute --to reserve --place google'],
  },
  requeue: {
    summary: 'Send again what bounced or expired in a period',
    detail:
      'Bodies must still be stored. Mail that was delivered, may have been delivered, or is suppressed is left out',
    parameters: {
      since: 'Only what finished from this time on: ISO 8601, or a duration before now such as 2h',
      until: 'Only what finished before this time',
    },
    examples: ['queue requeue --since 2h --state bounced --place google'],
  },
}

/** Sentences about all actions. */
const COMMON_DETAIL =
  'Selectors are combined. Prints a plan; --confirm ID executes it in the background. Deliveries in flight are not affected'

export const queueJobCommands: readonly Command[] = [
  ...Object.entries(ACTIONS).map(([action, help]) => actionCommand(action as QueueAction, help)),
  coreCommand({
    name: 'queue jobs',
    usage: '[ID]',
    summary: 'List the jobs that were confirmed, the latest first, or show one',
    run: async ({ queue }, { ID: id }) => {
      if (id === undefined) {
        const jobs = await queue.jobs()
        return { data: jobs, text: jobs.length > 0 ? jobsTable(jobs) : 'no jobs' }
      }
      const job = await queue.job(id)
      if (!job) throw new CommandError(`job ${id} not found; "queue jobs" lists them`)
      return { data: job, text: jobsTable([job]) }
    },
  }),
  coreCommand({
    name: 'queue stop',
    usage: 'ID',
    summary: 'Stop a running job; what it has done stays',
    run: async (core, { ID: id }) => {
      const job = await core.queue.stop(id)
      if (!job) throw new CommandError(`job ${id} is not running; "queue jobs" lists all`)
      return { data: job, text: `stopped job ${id} after ${job.done} deliveries` }
    },
  }),
]

function actionCommand(action: QueueAction, help: ActionHelp): Command {
  const ofAction = { reroute: `--to POOL|none ${SELECTORS}`, requeue: FINISHED_SELECTORS }
  const selectors = ofAction[action as keyof typeof ofAction] ?? SELECTORS
  return {
    name: `queue ${action}`,
    usage: `${selectors} | --confirm ID`,
    ...help,
    detail: help.detail === undefined ? COMMON_DETAIL : `${help.detail}. ${COMMON_DETAIL}`,
    run: (call) => {
      if (textOption(call, 'confirm') === undefined) return plan(call, action)
      const surplus = Object.keys(call.options).find((name) => !['confirm', 'json', 'help'].includes(name))
      if (surplus !== undefined)
        throw new UsageError(`--${surplus} cannot be combined with --confirm, which executes the plan as it is`)
      return confirm(call, action)
    },
  }
}

function plan(call: Call, action: QueueAction): Promise<Answer> {
  const text = (name: string) => textOption(call, name)
  const all = call.options.all === true
  const selectors = {
    place: text('place'),
    domain: text('domain'),
    class: text('class'),
    account: accountOption(call) ?? undefined,
    tag: text('tag'),
    older: text('older'),
    since: text('since'),
    until: text('until'),
    state: text('state'),
    bounceClass: text('bounce-class'),
    all,
    to: text('to'),
  }
  if (action === 'reroute') requiredText(call, 'to')
  if (action === 'requeue') requiredText(call, 'since')
  else if (!hasSelectors(selectors) && !all) throw new UsageError('missing selector; --all selects the whole queue')
  else if (hasSelectors(selectors) && all) throw new UsageError('--all cannot be combined with other selectors')
  return call.withCore(async (core) => {
    const made = await core.queue.plan(action, selectors)
    return { data: made, text: planText(made) }
  })
}

function confirm(call: Call, action: QueueAction): Promise<Answer> {
  const id = wholeOption(call, 'confirm') as number
  return call.withCore(async (core) => {
    const result = await core.queue.confirm(id, action)
    if ('why' in result) throw new CommandError(confirmProblemText(result, id, action))
    return {
      data: result,
      text: `job ${id} began: ${action} ${result.planned} deliveries; "queue jobs ${id}" shows its progress`,
    }
  })
}

function planText(plan: JobPlan): string {
  const { id, action, count, partial, byPlace, byBounceClass, byAccount, sample, expiresAt } = plan
  if (count === 0) return ['no deliveries match', ...leftOutText(plan)].join('\n')
  return [
    `plan ${id}: ${action} ${partial ? 'at least ' : ''}${count} ${count === 1 ? 'delivery' : 'deliveries'}`,
    ...leftOutText(plan),
    '',
    table(
      ['place', 'deliveries'],
      byPlace.map((one) => [one.place ?? (action === 'requeue' ? '(unknown)' : '(not parked)'), one.count]),
    ),
    ...(byBounceClass
      ? [
          '',
          table(
            ['bounce class', 'deliveries'],
            byBounceClass.map((one) => [one.bounceClass ?? '(expired)', one.count]),
          ),
        ]
      : []),
    '',
    table(
      ['account', 'deliveries'],
      byAccount.map((one) => [one.accountId, one.count]),
    ),
    '',
    table(
      ['message', 'no', 'account', 'recipient', 'state'],
      sample.map((one) => [one.messageId, one.recipientNo, one.accountId, one.recipient, one.state]),
    ),
    '',
    `to execute it: postrider queue ${action} --confirm ${id} (until ${expiresAt.toISOString()})`,
  ].join('\n')
}

function leftOutText({ leftOut = {} }: JobPlan): string[] {
  const parts = Object.entries(leftOut).map(([why, count]) => `${count} ${LEFT_OUT[why as LeftOut]}`)
  return parts.length === 0 ? [] : [`left out: ${parts.join(', ')}`]
}

function jobsTable(jobs: readonly QueueJob[]): string {
  const rows = jobs.map((job) => [
    job.id,
    job.action,
    filterText(job),
    job.state,
    job.done,
    job.planned,
    job.createdAt,
    job.finishedAt,
  ])
  return table(['job', 'action', 'selectors', 'state', 'done', 'planned', 'created', 'finished'], rows)
}

function filterText({ filter }: QueueJob): string {
  const parts = Object.entries(filter).map(
    ([name, value]) => `${name}=${name === 'class' ? DELIVERY_CLASSES[Number(value)] : value}`,
  )
  return parts.length === 0 ? 'all' : parts.join(' ')
}
