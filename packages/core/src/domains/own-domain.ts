import { parseDomain } from '../mime/address.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { lockDomain, type StoredDomain, selectOwn } from './store.ts'

/** Maximum length of a text that is parsed as a domain name, in any notation. */
const MAX_CHARACTERS = 1000

/** Returns the lower-case A-label form. Throws domainInvalid. */
export function domainName(text: string): string {
  const name = text.length > MAX_CHARACTERS ? undefined : parseDomain(text.trim())
  // A sending domain has at least two labels; accounts do not own top-level domains.
  if (name === undefined || !name.includes('.')) throw new ServiceError('domainInvalid')
  return name
}

/**
 * Returns the account's domain. Throws domainInvalid, and domainUnknown for another account's domain as for a
 * nonexistent one.
 */
export async function ownDomain(sql: Sql, accountId: number, name: string): Promise<StoredDomain> {
  const domain = await selectOwn(sql, accountId, domainName(name))
  if (!domain) throw new ServiceError('domainUnknown')
  return domain
}

/** Runs `fn` in a transaction that locks the account's domain. Throws domainUnknown if it was deleted. */
export async function changeOwnDomain<T>(
  sql: Sql,
  { id }: StoredDomain,
  fn: (transaction: SqlTransaction, domain: StoredDomain) => Promise<T>,
): Promise<T> {
  return sql.begin(async (transaction) => {
    const domain = await lockDomain(transaction, id)
    if (!domain) throw new ServiceError('domainUnknown', { reason: 'deleted concurrently' })
    return fn(transaction, domain)
  }) as Promise<T>
}
