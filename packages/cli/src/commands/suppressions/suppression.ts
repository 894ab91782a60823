import {
  ACCOUNT_REASONS,
  type Core,
  defined,
  EVERY_ACCOUNT,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '@postrider/core'
import { type Answer, type Call, type Command, requiredId, textOption, UsageError } from '../../command.ts'
import { type Progress, progressOf } from '../../importing/progress.ts'
import { table, tableOr } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand, type Given } from '../core-command.ts'
import { ruleText, sourceText } from './suppression-cause.ts'

const SCOPE_USAGE = '(--account ID | --global)'
const VALUE_USAGE = '(--email ADDRESS | --domain DOMAIN)'

/** Maximum number of rows listed; "suppression export" has no limit. */
const LIMIT = 1000

export const suppressionCommands: readonly Command[] = [
  coreCommand({
    name: 'suppression add',
    usage: `${SCOPE_USAGE} ${VALUE_USAGE} [--group ID] [--reason ${ACCOUNT_REASONS.join('|')}]`,
    summary: 'Suppress an address or a domain',
    parameters: {
      global: 'For all accounts',
      domain: "Recipients' domain to suppress",
      group: 'Only for mail of the unsubscribe group with this number; addresses only',
      reason: 'Reason of the suppression (default manual)',
    },
    examples: ['suppression add --account 12 --email lena@harbor.example'],
    prepare: ({ group, ...given }, call) => {
      const accountId = requiredList(call)
      const { scope, value, change } = requiredValue(given)
      const own = ownReason(call)
      const reason = accountId === EVERY_ACCOUNT ? 'global' : own
      return async ({ suppressions }) => {
        const added = await suppressions.addAll({ accountId, ...change, ...defined({ group }), reason })
        return {
          data: { scope, value, added },
          text: added > 0 ? `${value} is suppressed` : `${value} was already suppressed`,
        }
      }
    },
  }),
  coreCommand({
    name: 'suppression remove',
    destroys: ({ options }) => options.all === true,
    usage: `${SCOPE_USAGE} {${VALUE_USAGE} [--group ID] | --all --reason REASON}`,
    summary: 'Remove the suppression of an address or a domain, or of all addresses with a reason',
    parameters: {
      global: 'The suppression for all accounts',
      group: 'Only that for mail of the unsubscribe group with this number',
      all: 'All addresses that are suppressed for all mail',
      reason: 'With --all: their reason',
    },
    look: (core, { account }) => requireAccount(core, account),
    prepare: ({ all, group, ...given }, call) => {
      const accountId = requiredList(call)
      if (all)
        return removalOf(accountId, reasonOption(call), { named: optionalValue(given), progress: progressOf(call) })
      const { scope, value, change } = requiredValue(given)
      return async ({ suppressions }) => {
        const removed = await suppressions.removeAll({ accountId, ...change, ...defined({ group }) })
        return {
          data: { scope, value, removed },
          text: `${value} ${removed > 0 ? 'is no longer' : 'was not'} suppressed`,
        }
      }
    },
  }),
  coreCommand({
    name: 'suppression list',
    usage: `${SCOPE_USAGE} [--email ADDRESS | --domain DOMAIN] [--group ID] [--reason REASON]`,
    summary: 'List suppressions, with the rule that made them',
    detail: 'At most 1000 are listed; "suppression export" writes all',
    parameters: {
      global: 'Those for all accounts',
      reason: 'Only with this reason',
      domain: 'Only of this domain',
      email: 'Only of this address',
      group: 'Only for mail of the unsubscribe group with this number',
    },
    prepare: ({ group, ...given }, call) => {
      const accountId = requiredList(call)
      const named = optionalValue(given)?.change
      const filter = { ...named, ...defined({ group, reason: reasonOption(call) }), limit: LIMIT, offset: 0 }
      return async (core) => {
        const { suppressions } = await core.suppressions.list(accountId, filter)
        return { data: suppressions, text: table(HEADING, suppressions.map(row)) }
      }
    },
  }),
  coreCommand({
    name: 'suppression show',
    usage: '--account ID --email ADDRESS [--group ID]',
    summary: 'Show all entries that suppress an address at an account, and what made each',
    detail: 'Entries of the operator are included',
    parameters: { group: 'For mail of the unsubscribe group with this number' },
    run: async (core, { account, email, group }) => {
      await requireAccount(core, account)
      const found = await core.suppressions.holding(account, email, group)
      const rows = found.map((one) => [...row(one), sourceText(one.cause)])
      return { data: found, text: tableOr(`${email} is not suppressed`, [...HEADING, 'source'], rows) }
    },
  }),
]

const HEADING = ['value', 'scope', 'group', 'reason', 'since', 'rule'] as const

function row({ value, scope, group, reason, since, cause }: Suppression): unknown[] {
  return [value, scope, group || '', reason, since, ruleText(cause)]
}

/** The list's scope. It is always explicit, to prevent accidental global suppressions. Throws {@link UsageError}. */
function requiredList(call: Call): number {
  const named = textOption(call, 'account') !== undefined
  if (named && call.options.global) throw new UsageError('--account and --global cannot be used together')
  return call.options.global ? EVERY_ACCOUNT : requiredId(call, 'account')
}

interface Named {
  readonly scope: 'address' | 'domain'
  readonly value: string
  readonly change: { readonly emails: readonly string[] } | { readonly domains: readonly string[] }
}

type Value = Given<'[--email ADDRESS] [--domain DOMAIN]'>

/** Throws {@link UsageError}. */
function optionalValue({ email, domain }: Value): Named | undefined {
  if (email !== undefined && domain !== undefined) throw new UsageError('--email and --domain cannot be used together')
  if (email !== undefined) return { scope: 'address', value: email, change: { emails: [email] } }
  return domain === undefined ? undefined : { scope: 'domain', value: domain, change: { domains: [domain] } }
}

/** Throws {@link UsageError}. */
function requiredValue(given: Value): Named {
  const named = optionalValue(given)
  if (!named) throw new UsageError('missing option --email or --domain')
  return named
}

function reasonOption(call: Call): SuppressionReason | undefined {
  const text = textOption(call, 'reason')
  const reason = SUPPRESSION_REASONS.find((one) => one === text)
  if (text !== undefined && !reason) throw new UsageError(`--reason must be one of ${SUPPRESSION_REASONS.join(', ')}`)
  return reason
}

/** Addresses per transaction. */
const BATCH = 1000

/** Throws {@link UsageError}. */
function removalOf(
  accountId: number,
  reason: SuppressionReason | undefined,
  { named, progress }: { readonly named: Named | undefined; readonly progress: Progress },
) {
  if (reason === undefined || named) throw new UsageError('--all needs --reason and no --email or --domain')
  return async ({ suppressions }: Core): Promise<Answer> => {
    let removed = 0
    for (;;) {
      const found = await suppressions.browse(accountId, { reasons: [reason], group: 0, limit: BATCH, offset: 0 })
      const emails = found.map(({ email }) => email)
      const count = emails.length === 0 ? 0 : await suppressions.removeAll({ accountId, emails, reasons: [reason] })
      if (count === 0) break
      removed += count
      progress.show('suppressions', removed)
    }
    progress.end()
    return { data: { reason, removed }, text: `${removed} suppressions removed` }
  }
}

/** The reason of a new suppression. Throws {@link UsageError}. */
function ownReason(call: Call): SuppressionReason {
  const text = textOption(call, 'reason') ?? 'manual'
  const reason = ACCOUNT_REASONS.find((one) => one === text)
  if (!reason) throw new UsageError(`--reason must be one of ${ACCOUNT_REASONS.join(', ')} (got "${text}")`)
  return reason
}
