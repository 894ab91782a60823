import { ALL_ACCOUNTS, type AuditEntry } from '@postrider/core'
import type { Answer, Command } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'
import { detailText } from '../detail-text.ts'

export const auditCommands: readonly Command[] = [
  coreCommand({
    name: 'audit list',
    usage: '[--account ID] [--after NUMBER] [--limit N]',
    summary: 'List the audit log of the installation or of an account, oldest first',
    detail:
      'That of the installation has the changes that concern all accounts, and those that were made with operator keys',
    parameters: { after: 'Only entries after this number, for the next page' },
    run: async (core, { account, after = 0, limit }) => {
      await requireAccount(core, account)
      return toAnswer(await core.audit.list(account ?? ALL_ACCOUNTS, { after, limit }), limit, noneText(account, after))
    },
  }),
]

function authorOf({
  keyId,
  userId,
  userName,
  agent,
}: Pick<AuditEntry, 'keyId' | 'userId' | 'userName' | 'agent'>): string {
  if (userId !== null) return `${userName ?? 'user'} (${userId})`
  if (keyId === null) return 'operator'
  return agent === null ? `key ${keyId}` : `key ${keyId}, agent ${agent}`
}

function noneText(account: number | undefined, after: number): string {
  if (after > 0) return `no entries after number ${after}`
  return account === undefined
    ? 'nothing that concerns all accounts was changed, and nothing with an operator key; "audit list --account ID" lists the changes of an account'
    : `nothing of account ${account} was changed`
}

function toAnswer(entries: readonly AuditEntry[], limit: number, none: string): Answer {
  const data = entries.map(({ previousHash: _previous, hash: _hash, ...entry }) => entry)
  const rows = data.map(({ number, at, address, action, object, before, after, ...by }) => [
    number,
    at,
    authorOf(by),
    address,
    action,
    object,
    detailText(after ?? before ?? {}),
  ])
  const text = tableOr(none, ['no', 'time', 'by', 'address', 'action', 'object', 'values'], rows)
  const last = entries.length === limit ? entries.at(-1)?.number : undefined
  return { data, text: last === undefined ? text : `${text}\nthere may be more; continue with --after ${last}` }
}
