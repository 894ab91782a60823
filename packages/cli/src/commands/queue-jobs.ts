import {
  type ConfirmProblem,
  DELIVERY_CLASSES,
  type DeliveryClass,
  type JobPlan,
  type QueueAction,
  type QueueJob,
} from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  requiredTarget,
  table,
  textOption,
  UsageError,
  wholeOption,
} from '../command.ts'
import { accountOption, durationOption, requireAccount } from './queue-place.ts'

const SELECTORS =
  '--place PLACE | --domain DOMAIN | --account ID | --class CLASS | --tag TAG | --older DURATION | --all'
const SUMMARIES: Readonly<Record<QueueAction, string>> = {
  flush:
    'Make retries and parked mail due now. Does not lift pauses: mail at a paused place stays there. Scheduled and held mail, and mail after an ' +
    'indeterminate attempt, are left out',
  fail: 'Drop waiting mail, also scheduled and held mail',
  hold: 'Hold waiting and scheduled mail until it is released; it still expires',
  release: 'Release held mail; it is due when it was before',
}

export const queueJobCommands: readonly Command[] = [
  ...Object.entries(SUMMARIES).map(([action, summary]) => actionCommand(action as QueueAction, summary)),
  {
    name: 'queue jobs',
    usage: '[ID]',
    summary: 'List the jobs that were confirmed, the latest first, or show one',
    words: 1,
    options: {},
    run: (call) =>
      call.withCore(async (core) => {
        if (call.words[0] === undefined) {
          const jobs = await core.queue.jobs()
          return { data: jobs, text: jobs.length > 0 ? jobsTable(jobs) : 'no jobs' }
        }
        const id = requiredTarget(call, 'job')
        const job = await core.queue.job(id)
        if (!job) throw new CommandError(`job ${id} not found; "queue jobs" lists them`)
        return { data: job, text: jobsTable([job]) }
      }),
  },
  {
    name: 'queue stop',
    usage: 'ID',
    summary: 'Stop a running job; what it has done stays',
    words: 1,
    options: {},
    run: (call) => {
      const id = requiredTarget(call, 'job')
      return call.withCore(async (core) => {
        const job = await core.queue.stop(id)
        if (!job) throw new CommandError(`job ${id} is not running; "queue jobs" lists all`)
        return { data: job, text: `stopped job ${id} after ${job.done} deliveries` }
      })
    },
  },
]

function actionCommand(action: QueueAction, summary: string): Command {
  const text = { type: 'string' } as const
  return {
    name: `queue ${action}`,
    usage: `${SELECTORS} | --confirm ID`,
    summary: `${summary}. Selectors are combined. Prints a plan; --confirm ID executes it in the background. Deliveries in flight are not affected`,
    options: {
      ...{ place: text, domain: text, account: text, class: text, tag: text, older: text },
      ...{ all: { type: 'boolean' }, confirm: text },
    },
    run: (call) => (textOption(call, 'confirm') === undefined ? plan(call, action) : confirm(call, action)),
  }
}

function plan(call: Call, action: QueueAction): Promise<Answer> {
  const accountId = accountOption(call) ?? undefined
  const older = durationOption(call, 'older')
  const filter = {
    place: textOption(call, 'place'),
    domain: textOption(call, 'domain')?.toLowerCase(),
    accountId,
    class: classOption(call),
    tag: textOption(call, 'tag'),
    before: older === undefined ? undefined : new Date(Date.now() - older * 1000).toISOString(),
  }
  const given = Object.values(filter).some((value) => value !== undefined)
  if (!given && call.options.all !== true) throw new UsageError('missing selector; --all selects the whole queue')
  if (given && call.options.all === true) throw new UsageError('--all cannot be combined with other selectors')
  return call.withCore(async (core) => {
    await requireAccount(core, accountId ?? null)
    const made = await core.queue.plan(action, filter)
    return { data: made, text: planText(made) }
  })
}

function confirm(call: Call, action: QueueAction): Promise<Answer> {
  const id = wholeOption(call, 'confirm') as number
  return call.withCore(async (core) => {
    const result = await core.queue.confirm(id, action)
    if ('why' in result) throw new CommandError(problemText(result, id, action))
    return {
      data: result,
      text: `job ${id} began: ${action} ${result.planned} deliveries; "queue jobs ${id}" shows its progress`,
    }
  })
}

/** Throws {@link UsageError}. */
function classOption(call: Call): DeliveryClass | undefined {
  const text = textOption(call, 'class')
  if (text === undefined) return undefined
  const at = (DELIVERY_CLASSES as readonly string[]).indexOf(text)
  if (at === -1) throw new UsageError(`--class must be one of ${DELIVERY_CLASSES.join(', ')} (got "${text}")`)
  return at as DeliveryClass
}

function planText({ id, action, count, partial, byPlace, byAccount, sample, expiresAt }: JobPlan): string {
  if (count === 0) return 'no deliveries match'
  return [
    `plan ${id}: ${action} ${partial ? 'at least ' : ''}${count} ${count === 1 ? 'delivery' : 'deliveries'}`,
    '',
    table(
      ['place', 'deliveries'],
      byPlace.map((one) => [one.place ?? '(not parked)', one.count]),
    ),
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

function problemText(problem: ConfirmProblem, id: number, action: QueueAction): string {
  switch (problem.why) {
    case 'unknown':
      return `plan ${id} of queue ${action} not found`
    case 'expired':
      return `plan ${id} has expired; make a new one`
    case 'confirmed':
      return `plan ${id} was already confirmed; "queue jobs ${id}" shows its progress`
    case 'empty':
      return `no deliveries match plan ${id}`
    case 'moved':
      return `plan ${id} was for ${problem.planned} deliveries, now there are ${problem.now}; make a new one`
  }
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
