import {
  ACCOUNT_REASONS,
  EVERY_ACCOUNT,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  requiredId,
  requiredText,
  textOption,
  UsageError,
} from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { ruleText, sourceText } from './suppression-cause.ts'

const SCOPE_USAGE = '(--account ID | --global)'
const VALUE_USAGE = '(--email ADDRESS | --domain DOMAIN)'

/** Maximum number of rows listed; "suppression export" has no limit. */
const LIMIT = 1000

export const suppressionCommands: readonly Command[] = [
  {
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
    run: (call) => {
      const accountId = requiredList(call)
      const named = requiredValue(call)
      const own = ownReason(call)
      const reason = accountId === EVERY_ACCOUNT ? 'global' : own
      const group = groupOption(call)
      return call.withCore(async (core) => {
        const added = await core.suppressions.addAll({ accountId, ...named.change, ...group, reason })
        const { scope, value } = named
        return {
          data: { scope, value, added },
          text: added > 0 ? `${value} is suppressed` : `${value} was already suppressed`,
        }
      })
    },
  },
  {
    name: 'suppression remove',
    usage: `${SCOPE_USAGE} {${VALUE_USAGE} [--group ID] | --all --reason REASON}`,
    summary: 'Remove the suppression of an address or a domain, or of all addresses with a reason',
    parameters: {
      global: 'The suppression for all accounts',
      group: 'Only that for mail of the unsubscribe group with this number',
      all: 'All addresses that are suppressed for all mail',
      reason: 'With --all: their reason',
    },
    run: (call) => {
      const accountId = requiredList(call)
      if (call.options.all) return removeAll(call, accountId)
      const named = requiredValue(call)
      const group = groupOption(call)
      return call.withCore(async (core) => {
        const removed = await core.suppressions.removeAll({ accountId, ...named.change, ...group })
        const { scope, value } = named
        return {
          data: { scope, value, removed },
          text: `${value} ${removed > 0 ? 'is no longer' : 'was not'} suppressed`,
        }
      })
    },
  },
  {
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
    run: (call) => {
      const accountId = requiredList(call)
      const named = optionalValue(call)?.change ?? {}
      const [reason, group] = [reasonOption(call), groupOption(call)]
      return call.withCore(async (core) => {
        const filter = { ...named, ...group, ...(reason ? { reason } : {}), limit: LIMIT, offset: 0 }
        const { suppressions } = await core.suppressions.list(accountId, filter)
        return {
          data: suppressions,
          text: table(HEADING, suppressions.map(row)),
        }
      })
    },
  },
  {
    name: 'suppression show',
    usage: '--account ID --email ADDRESS [--group ID]',
    summary: 'Show all entries that suppress an address at an account, and what made each',
    detail: 'Entries of the operator are included',
    parameters: { group: 'For mail of the unsubscribe group with this number' },
    run: (call) => {
      const accountId = requiredId(call, 'account')
      const email = requiredText(call, 'email')
      const { group } = groupOption(call)
      return call.withCore(async (core) => {
        await requireAccount(core, accountId)
        const found = await core.suppressions.holding(accountId, email, group)
        const rows = found.map((one) => [...row(one), sourceText(one.cause)])
        const text = found.length > 0 ? table([...HEADING, 'source'], rows) : `${email} is not suppressed`
        return { data: found, text }
      })
    },
  },
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

/** Throws {@link UsageError}. */
function optionalValue(call: Call): Named | undefined {
  const [email, domain] = [textOption(call, 'email'), textOption(call, 'domain')]
  if (email !== undefined && domain !== undefined) throw new UsageError('--email and --domain cannot be used together')
  if (email !== undefined) return { scope: 'address', value: email, change: { emails: [email] } }
  return domain === undefined ? undefined : { scope: 'domain', value: domain, change: { domains: [domain] } }
}

/** Throws {@link UsageError}. */
function requiredValue(call: Call): Named {
  const named = optionalValue(call)
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

async function removeAll(call: Call, accountId: number): Promise<Answer> {
  const reason = reasonOption(call)
  if (reason === undefined || optionalValue(call))
    throw new UsageError('--all needs --reason and no --email or --domain')
  return call.withCore(async ({ suppressions }) => {
    let removed = 0
    for (;;) {
      const found = await suppressions.browse(accountId, { reasons: [reason], group: 0, limit: BATCH, offset: 0 })
      const emails = found.map(({ email }) => email)
      const count = emails.length === 0 ? 0 : await suppressions.removeAll({ accountId, emails, reasons: [reason] })
      if (count === 0) break
      removed += count
    }
    return { data: { reason, removed }, text: `${removed} suppressions removed` }
  })
}

function groupOption(call: Call): { group?: number } {
  return textOption(call, 'group') === undefined ? {} : { group: requiredId(call, 'group') }
}

/** The reason of a new suppression. Throws {@link UsageError}. */
function ownReason(call: Call): SuppressionReason {
  const text = textOption(call, 'reason') ?? 'manual'
  const reason = ACCOUNT_REASONS.find((one) => one === text)
  if (!reason) throw new UsageError(`--reason must be one of ${ACCOUNT_REASONS.join(', ')} (got "${text}")`)
  return reason
}
