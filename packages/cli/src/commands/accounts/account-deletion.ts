import { type AccountDeletion, type Core, type Counted, type DeletionPlan, deletionProblemText } from '@postrider/core'
import { type Answer, type Command, CommandError, UsageError } from '../../command.ts'
import { table, tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

/** Closing an account, and removing it with all that is stored of it. */
export const accountDeletionCommands: readonly Command[] = [
  coreCommand({
    name: 'account delete',
    usage: '{ID [--grace-days N] | --confirm PLAN}',
    summary: 'Delete an account with all its data',
    detail:
      'Prints a plan; --confirm PLAN closes the account: its keys, passwords and members are refused within 5 seconds, its queued mail waits, and links in ' +
      'its sent mail go on working. "account restore" opens it again until the days have passed; then everything is removed in the background, its ' +
      'subaccounts included',
    parameters: {
      'grace-days': 'Days until the removal begins (default 7, maximum 90; 0: after 5 minutes)',
      confirm: 'Number of the plan to execute',
    },
    target: 'account',
    examples: ['account delete 12', 'account delete --confirm 3'],
    run: async (core, { ID: id, 'grace-days': graceDays, confirm }) => {
      if (confirm === undefined && id === undefined) throw new UsageError('missing argument: account id')
      if (confirm === undefined) return planOf(core, id as number, graceDays)
      const surplus = id !== undefined ? 'the account id' : graceDays !== undefined ? '--grace-days' : undefined
      if (surplus !== undefined)
        throw new UsageError(`${surplus} cannot be combined with --confirm, which executes the plan as it is`)
      return confirmed(core, planNumber(confirm))
    },
  }),
  coreCommand({
    name: 'account restore',
    usage: 'ID',
    summary: 'Open an account again that is closed and will be deleted',
    detail: 'Takes effect within 5 seconds. Its queued mail is sent, unless it has expired',
    target: 'account',
    examples: ['account restore 12'],
    run: async (core, { ID: id }) => {
      const deletion = await core.retention.deletions.restore(id)
      return { data: deletion, text: `account ${id} is open again` }
    },
  }),
  coreCommand({
    name: 'account deletions',
    usage: '',
    summary: 'List the deletions of accounts that were confirmed, the latest first',
    detail:
      "At most 100 are listed, those that are not finished before others. Those of subaccounts are parts of their account's",
    run: async (core) => {
      const deletions = await core.retention.deletions.list()
      const rows = deletions.map((one) => [one.accountId, one.state, one.confirmedAt, one.removeAt, ...doneOf(one)])
      const heading = ['account', 'state', 'confirmed', 'removal', 'rows removed', 'finished']
      return { data: deletions, text: tableOr('no deletions', heading, rows) }
    },
  }),
]

async function planOf(core: Core, id: number, graceDays: number | undefined): Promise<Answer> {
  const plan = await core.retention.deletions.plan(id, graceDays)
  return { data: plan, text: planText(plan) }
}

async function confirmed(core: Core, id: number): Promise<Answer> {
  const result = await core.retention.deletions.confirm(id)
  if ('why' in result) throw new CommandError(deletionProblemText(result, id))
  const { accountId, graceDays, removeAt } = result
  const end = graceDays === 0 ? 'in 5 minutes' : `at ${removeAt?.toISOString()}`
  const text = `account ${accountId} is closed, and will be removed ${end}; until then, "postrider account restore ${accountId}" opens it again`
  return { data: result, text }
}

function planText({ id, accountId, name, graceDays, counts, expiresAt }: DeletionPlan): string {
  const rows = Object.entries(counts).map(([kind, counted]) => [KINDS[kind] ?? kind, countText(counted)])
  const days = graceDays === 1 ? '1 day' : `${graceDays} days`
  return [
    `plan ${id}: delete account ${accountId}, "${name}"; it is closed at once, and removed ${graceDays === 0 ? 'after 5 minutes' : `after ${days}`}`,
    '',
    table(['kind', 'number'], rows),
    '',
    `to execute it: postrider account delete --confirm ${id} (until ${expiresAt.toISOString()})`,
  ].join('\n')
}

/** Kinds whose names over HTTP are not words. */
const KINDS: Readonly<Record<string, string>> = {
  queued: 'messages in the queue',
  editableTemplates: 'templates of v3',
  unsubscribeGroups: 'unsubscribe groups',
}

function countText({ count, partial }: Counted): string {
  return partial ? `at least ${count}` : String(count)
}

function doneOf({ removed, finishedAt }: AccountDeletion): [number, Date | null] {
  return [Object.values(removed).reduce((sum, count) => sum + count, 0), finishedAt]
}

/** Throws {@link UsageError}. */
function planNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--confirm must be the number of a plan (got "${text}")`)
  return Number(text)
}
