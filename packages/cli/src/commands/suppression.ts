import { EVERY_ACCOUNT, SUPPRESSION_REASONS, type Suppression, type SuppressionReason } from '@postrider/core'
import { type Call, type Command, requiredId, table, textOption, UsageError } from '../command.ts'

const WHOSE = '(--account ID | --global)'
const WHAT = '(--email ADDRESS | --domain DOMAIN)'
const whose = { account: { type: 'string' }, global: { type: 'boolean' } } as const
const what = { email: { type: 'string' }, domain: { type: 'string' } } as const

/** Rows shown; an export by the API has all. */
const LIMIT = 1000

export const suppressionCommands: readonly Command[] = [
  {
    name: 'suppression add',
    usage: `${WHOSE} ${WHAT}`,
    summary: 'do not send to an address or a domain any more; --global: from no account',
    options: { ...whose, ...what },
    run: (call) => {
      const accountId = requiredList(call)
      const named = requiredValue(call)
      const reason = accountId === EVERY_ACCOUNT ? 'global' : 'manual'
      return call.withCore(async (core) => {
        const added = await core.suppressions.addAll({ accountId, ...named.change, reason })
        const { scope, value } = named
        return { data: { scope, value, added }, text: `${value} is suppressed${added > 0 ? '' : ' already'}` }
      })
    },
  },
  {
    name: 'suppression remove',
    usage: `${WHOSE} ${WHAT}`,
    summary: 'undo suppression add',
    options: { ...whose, ...what },
    run: (call) => {
      const accountId = requiredList(call)
      const named = requiredValue(call)
      return call.withCore(async (core) => {
        const removed = await core.suppressions.removeAll({ accountId, ...named.change })
        const { scope, value } = named
        return { data: { scope, value, removed }, text: `${value} is ${removed > 0 ? 'off' : 'not on'} the list` }
      })
    },
  },
  {
    name: 'suppression list',
    usage: `${WHOSE} [--email ADDRESS | --domain DOMAIN] [--reason REASON]`,
    summary: `list suppressions, the first ${LIMIT}`,
    options: { ...whose, ...what, reason: { type: 'string' } },
    run: (call) => {
      const accountId = requiredList(call)
      const named = optionalValue(call)?.change ?? {}
      const reason = reasonOption(call)
      return call.withCore(async (core) => {
        const filter = { ...named, ...(reason ? { reason } : {}), limit: LIMIT, offset: 0 }
        const { suppressions } = await core.suppressions.list(accountId, filter)
        return {
          data: suppressions,
          text: table(['value', 'scope', 'group', 'reason', 'since'], suppressions.map(row)),
        }
      })
    },
  },
]

function row({ value, scope, group, reason, since }: Suppression): unknown[] {
  return [value, scope, group || '', reason, since]
}

/** Whose list. Said always, so that nobody stops every account's mail by leaving out a word. Throws {@link UsageError}. */
function requiredList(call: Call): number {
  const named = textOption(call, 'account') !== undefined
  if (named && call.options.global) throw new UsageError('--account and --global exclude each other')
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
  if (email !== undefined && domain !== undefined) throw new UsageError('--email and --domain exclude each other')
  if (email !== undefined) return { scope: 'address', value: email, change: { emails: [email] } }
  return domain === undefined ? undefined : { scope: 'domain', value: domain, change: { domains: [domain] } }
}

/** Throws {@link UsageError}. */
function requiredValue(call: Call): Named {
  const named = optionalValue(call)
  if (!named) throw new UsageError('--email or --domain is missing')
  return named
}

function reasonOption(call: Call): SuppressionReason | undefined {
  const text = textOption(call, 'reason')
  const reason = SUPPRESSION_REASONS.find((one) => one === text)
  if (text !== undefined && !reason) throw new UsageError(`--reason must be one of ${SUPPRESSION_REASONS.join(', ')}`)
  return reason
}
