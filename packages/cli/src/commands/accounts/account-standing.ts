import { type AccountStanding, classOf, DELIVERY_CLASSES, isClassName, type ShownHold } from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { progressOf } from '../../importing/progress.ts'
import { tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'

const HEADINGS = ['rule', 'level', 'classes', 'per hour', 'figures', 'since', 'until'] as const

/** The standing of accounts, and what follows from it. */
export const accountStandingCommands: readonly Command[] = [
  coreCommand({
    name: 'account standing',
    usage: '[ID]',
    summary: 'Show the standing of an account: how its mail fares',
    detail: 'Shows also whether its mail is slowed or held. Without ID, all accounts whose mail is',
    target: 'account',
    run: async ({ reputation }, { ID: id }) => {
      if (id === undefined) {
        const holds = await reputation.list()
        const rows = holds.map((hold) => [hold.accountId, ...cells(hold)])
        return { data: holds, text: tableOr('no holds or warnings', ['account', ...HEADINGS], rows) }
      }
      const standing = await reputation.show(id)
      return { data: standing, text: standingText(standing) }
    },
  }),
  coreCommand({
    name: 'account rules',
    usage: 'ID [none|standard|strict|default]',
    summary: 'Set or show what follows when much mail of an account bounces or is complained about',
    detail:
      'none: warnings only; standard; strict: at half of the shares; default: REPUTATION_RULES. Without rules, those of the account are shown',
    examples: ['account rules 12 strict'],
    run: async ({ reputation }, { ID: id, 'none|standard|strict|default': rules }) => {
      if (rules !== undefined) await reputation.setRules(id, rules === 'default' ? null : rules)
      const standing = await reputation.show(id)
      return { data: standing, text: `account ${id} has the rules ${rulesText(standing)}` }
    },
  }),
  coreCommand({
    name: 'account hold',
    usage: 'ID --reason TEXT [--class CLASS]',
    summary: 'Hold the mail of an account, or of one class',
    detail: 'It is accepted and waits. Takes effect within 2 seconds',
    examples: ['account hold 12 --reason "under review"'],
    target: 'account',
    prepare: ({ ID: accountId, reason, class: name }) => {
      if (name !== undefined && !isClassName(name)) {
        throw new UsageError(`--class must be ${DELIVERY_CLASSES.join(', ')} (got "${name}")`)
      }
      return async ({ reputation }) => {
        await reputation.hold({ accountId, reason, ...(name === undefined ? {} : { classes: [classOf(name)] }) })
        const standing = await reputation.show(accountId)
        return { data: standing, text: `account ${accountId}: ${name ?? 'all'} mail is held` }
      }
    },
  }),
  coreCommand({
    name: 'account release',
    destroys: ({ options }) => options.purge === true,
    usage: 'ID [--purge]',
    summary: 'End all holds and warnings of an account',
    detail: 'What was counted until now no longer matters',
    parameters: { purge: 'First drop the mail that was held' },
    target: 'account',
    look: ({ reputation }, { ID: id }) => reputation.show(id),
    run: async ({ reputation }, { ID: id, purge }, call) => {
      if (!purge) {
        const rules = await reputation.release(id)
        return { data: { dropped: 0, rules }, text: releasedText(id, rules) }
      }
      const progress = progressOf(call)
      const purged = await reputation.purge(id, { onProgress: (dropped) => progress.show('deliveries', dropped) })
      progress.end()
      return { data: purged, text: `dropped ${purged.dropped} deliveries\n${releasedText(id, purged.rules)}` }
    },
  }),
]

function releasedText(id: number, rules: readonly string[]): string {
  return rules.length > 0 ? `released account ${id} (${rules.join(', ')})` : `account ${id} was not held`
}

function rulesText({ rules, hasOwnRules }: AccountStanding): string {
  return hasOwnRules ? rules : `${rules} (default)`
}

function standingText(standing: AccountStanding): string {
  const { accountId, holds, day, since } = standing
  const outcomes = day.delivered + day.hard
  const share = outcomes === 0 ? '' : ` (${((day.hard / outcomes) * 100).toFixed(1)} %)`
  const lines = [
    `account ${accountId}, rules ${rulesText(standing)}${since ? `, released ${since.toISOString()}` : ''}`,
    `last 24 hours: ${day.accepted} accepted, ${day.delivered} delivered, ${day.hard} hard bounces${share}, ${day.soft} soft bounces, ` +
      `${day.complained} complaints`,
  ]
  return [...lines, tableOr('no holds or warnings', HEADINGS, holds.map(cells))].join('\n')
}

function cells({ rule, level, classes, rate, figures, reason, since, until }: ShownHold): unknown[] {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${name === 'share' ? percent(value) : value}`)
  return [rule, level, classes.join(', '), rate, reason ?? shown.join(', '), since, until]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
