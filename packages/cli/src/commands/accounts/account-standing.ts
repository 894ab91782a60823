import { type AccountStanding, classOf, DELIVERY_CLASSES, isClassName, type ShownHold } from '@postrider/core'
import { type Command, requiredTarget, requiredText, textOption, UsageError } from '../../command.ts'
import { table } from '../../table.ts'

const HEADINGS = ['rule', 'level', 'classes', 'per hour', 'figures', 'since', 'until'] as const

/** The standing of accounts, and what follows from it. */
export const accountStandingCommands: readonly Command[] = [
  {
    name: 'account standing',
    usage: '[ID]',
    summary: 'Show the standing of an account: how its mail fares',
    detail: 'Shows also whether its mail is slowed or held. Without ID, all accounts whose mail is',
    target: 'account',
    run: (call) =>
      call.withCore(async ({ reputation }) => {
        if (call.words[0] === undefined && call.options.account === undefined) {
          const holds = await reputation.list()
          const rows = holds.map((hold) => [hold.accountId, ...cells(hold)])
          return { data: holds, text: rows.length > 0 ? table(['account', ...HEADINGS], rows) : 'no holds or warnings' }
        }
        const standing = await reputation.show(requiredTarget(call, 'account'))
        return { data: standing, text: standingText(standing) }
      }),
  },
  {
    name: 'account rules',
    usage: 'ID [none|standard|strict|default]',
    summary: 'Set or show what follows when much mail of an account bounces or is complained about',
    detail:
      'none: warnings only; standard; strict: at half of the shares; default: REPUTATION_RULES. Without rules, those of the account are shown',
    examples: ['account rules 12 strict'],
    run: (call) => {
      const id = requiredTarget(call, 'account')
      const rules = call.words[1]
      return call.withCore(async ({ reputation }) => {
        if (rules !== undefined) await reputation.setRules(id, rules === 'default' ? null : rules)
        const standing = await reputation.show(id)
        return { data: standing, text: `account ${id} has the rules ${rulesText(standing)}` }
      })
    },
  },
  {
    name: 'account hold',
    usage: 'ID --reason TEXT [--class CLASS]',
    summary: 'Hold the mail of an account, or of one class',
    detail: 'It is accepted and waits. Takes effect within 2 seconds',
    examples: ['account hold 12 --reason "under review"'],
    target: 'account',
    run: (call) => {
      const accountId = requiredTarget(call, 'account')
      const reason = requiredText(call, 'reason')
      const name = textOption(call, 'class')
      if (name !== undefined && !isClassName(name)) {
        throw new UsageError(`--class must be ${DELIVERY_CLASSES.join(', ')} (got "${name}")`)
      }
      return call.withCore(async ({ reputation }) => {
        await reputation.hold({ accountId, reason, ...(name === undefined ? {} : { classes: [classOf(name)] }) })
        const standing = await reputation.show(accountId)
        return { data: standing, text: `account ${accountId}: ${name ?? 'all'} mail is held` }
      })
    },
  },
  {
    name: 'account release',
    usage: 'ID [--purge]',
    summary: 'End all holds and warnings of an account',
    detail: 'What was counted until now no longer matters',
    parameters: { purge: 'First drop the mail that was held' },
    target: 'account',
    run: (call) => {
      const id = requiredTarget(call, 'account')
      return call.withCore(async ({ reputation }) => {
        if (call.options.purge !== true) {
          const rules = await reputation.release(id)
          return { data: { dropped: 0, rules }, text: releasedText(id, rules) }
        }
        const purged = await reputation.purge(id, {
          onProgress: (dropped) => {
            if (call.stderr.isTTY) call.stderr.write(`dropped ${dropped}\n`)
          },
        })
        return { data: purged, text: `dropped ${purged.dropped} deliveries\n${releasedText(id, purged.rules)}` }
      })
    },
  },
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
  return [...lines, holds.length > 0 ? table(HEADINGS, holds.map(cells)) : 'no holds or warnings'].join('\n')
}

function cells({ rule, level, classes, rate, figures, reason, since, until }: ShownHold): unknown[] {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${name === 'share' ? percent(value) : value}`)
  return [rule, level, classes.join(', '), rate, reason ?? shown.join(', '), since, until]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
