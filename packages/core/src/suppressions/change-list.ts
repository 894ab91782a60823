import { noteChange, OPERATOR } from '../accounts/audit/index.ts'
import type { AnySql, Sql, SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import type { Forgotten } from './forgotten.ts'
import { accountExists, deleteEntries, insertEntries } from './store.ts'
import type { NewSuppression, SuppressionChange, SuppressionRemoval } from './suppression.ts'
import { parseValues, type Values } from './values.ts'

/** Maximum addresses of one call that the audit log records individually (as hashes); the counts include all. */
const MAX_HASHES = 100

export interface SuppressionsDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly forgotten: Forgotten
}

export async function addOne(
  dependencies: SuppressionsDependencies,
  { accountId, scope, value, reason, by = OPERATOR }: NewSuppression,
): Promise<void> {
  const values = scope === 'address' ? { emails: [value] } : { domains: [value] }
  await addAll(dependencies, { accountId, reason, by, ...values })
}

export function addAll(
  dependencies: SuppressionsDependencies,
  { reason = 'manual', ...named }: SuppressionChange,
): Promise<number> {
  return change(dependencies, named, 'added', (transaction, entries) =>
    insertEntries(transaction, { ...entries, reason }),
  )
}

export function removeAll(
  dependencies: SuppressionsDependencies,
  { reasons, ...named }: SuppressionRemoval,
): Promise<number> {
  return change(dependencies, named, 'removed', async (transaction, entries) => {
    const { accountId, emails: keys, group } = entries
    const listed = await deleteEntries(transaction, entries, reasons)
    // Erased recipients are stored as hashes. After the list: an erasure that is replacing an entry at this moment has done so by now.
    return listed + (await dependencies.forgotten.remove(transaction, { accountId, keys, group, reasons }))
  })
}

/** Changes the list and records the change in the audit log, if anything changed. */
async function change(
  { sql, secrets }: SuppressionsDependencies,
  { accountId, group = 0, by = OPERATOR, ...named }: Omit<SuppressionChange, 'reason'>,
  what: 'added' | 'removed',
  fn: (transaction: SqlTransaction, entries: Values & { accountId: number; group: number }) => Promise<number>,
): Promise<number> {
  const values = parseValues(named)
  if (group > 0 && values.domains.length > 0)
    throw invalidParameter('domain', 'cannot be combined with a group: groups contain only addresses')
  return sql.begin(async (transaction) => {
    await requireAccount(transaction, accountId)
    const count = await fn(transaction, { ...values, accountId, group })
    if (count > 0) {
      const auditValues = { [what]: count, ...valuesOf(secrets, values), ...(group > 0 ? { group } : {}) }
      await noteChange(transaction, {
        accountId,
        by,
        action: what === 'added' ? 'suppression.add' : 'suppression.remove',
        object: 'suppressions',
        ...(what === 'added' ? { after: auditValues } : { before: auditValues }),
      })
    }
    return count
  })
}

function valuesOf(secrets: Secrets, { emails, domains }: Values) {
  const hashOf = (value: string): string =>
    secrets.pseudonym('audit address', Buffer.from(value)).toString('hex').slice(0, 32)
  return {
    emails: emails.length,
    domains: domains.length,
    hashes: [...emails, ...domains].slice(0, MAX_HASHES).map(hashOf),
  }
}

/** Throws parameterInvalid (account) for an unknown account. */
async function requireAccount(sql: AnySql, accountId: number): Promise<void> {
  if (!(await accountExists(sql, accountId))) throw invalidParameter('account', 'does not exist')
}
