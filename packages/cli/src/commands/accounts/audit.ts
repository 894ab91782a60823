import { ALL_ACCOUNTS, type AuditEntry } from '@postrider/core'
import { type Answer, type Call, type Command, requiredId, textOption, UsageError, wholeOption } from '../../command.ts'
import { table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'

const LIMIT = { usual: 50, most: 1000 } as const

export const auditCommands: readonly Command[] = [
  {
    name: 'audit list',
    usage: '[--account ID] [--after NUMBER] [--limit N]',
    summary: 'List the audit log of the installation or of an account, oldest first',
    detail:
      'That of the installation has the changes that concern all accounts, and those that were made with operator keys',
    parameters: { after: 'Only entries after this number, for the next page' },
    run: (call) => {
      const accountId = textOption(call, 'account') === undefined ? ALL_ACCOUNTS : requiredId(call, 'account')
      const page = { after: wholeOption(call, 'after') ?? 0, limit: limitOption(call) }
      return call.withCore(async (core) => {
        await requireAccount(core, accountId === ALL_ACCOUNTS ? null : accountId)
        return toAnswer(await core.audit.list(accountId, page), page.limit)
      })
    },
  },
]

/** Throws {@link UsageError}. */
function limitOption(call: Call): number {
  const limit = wholeOption(call, 'limit') ?? LIMIT.usual
  if (limit < 1 || limit > LIMIT.most) throw new UsageError(`--limit must be from 1 to ${LIMIT.most} (got ${limit})`)
  return limit
}

function authorOf(keyId: number | null, userId: number | null, userName: string | null): string {
  if (userId !== null) return `${userName ?? 'user'} (${userId})`
  return keyId === null ? 'operator' : `key ${keyId}`
}

function toAnswer(entries: readonly AuditEntry[], limit: number): Answer {
  const data = entries.map(({ previousHash: _previous, hash: _hash, ...entry }) => entry)
  const rows = data.map(({ number, at, keyId, userId, userName, address, action, object, before, after }) => [
    ...[number, at, authorOf(keyId, userId, userName), address, action, object],
    JSON.stringify(after ?? before ?? {}),
  ])
  const text =
    rows.length > 0 ? table(['no', 'time', 'by', 'address', 'action', 'object', 'values'], rows) : 'no entries'
  const last = entries.length === limit ? entries.at(-1)?.number : undefined
  return { data, text: last === undefined ? text : `${text}\nthere may be more; continue with --after ${last}` }
}
