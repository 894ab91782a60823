import { parseDomain } from '../mime/address.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { lockDomain, type StoredDomain, selectOwn } from './store.ts'

/** Longer texts are no domain name, whatever they are in another form. */
const MOST_CHARACTERS = 1000

/** The lower-case A-label form. Throws domainInvalid. */
export function domainName(text: string): string {
  const name = text.length > MOST_CHARACTERS ? undefined : parseDomain(text.trim())
  // A sending domain has at least two labels; nobody owns a bare top-level one.
  if (name === undefined || !name.includes('.')) throw new ServiceError('domainInvalid')
  return name
}

/** Throws domainInvalid, and domainUnknown for another account's as for one that never was. */
export async function ownDomain(sql: Sql, accountId: number, name: string): Promise<StoredDomain> {
  const domain = await selectOwn(sql, accountId, domainName(name))
  if (!domain) throw new ServiceError('domainUnknown')
  return domain
}

/** Changes a domain of the account in a transaction, alone. Throws what {@link ownDomain} does. */
export async function changeOwnDomain<T>(
  sql: Sql,
  { id }: StoredDomain,
  act: (transaction: SqlTransaction, domain: StoredDomain) => Promise<T>,
): Promise<T> {
  return sql.begin(async (transaction) => {
    const domain = await lockDomain(transaction, id)
    if (!domain) throw new ServiceError('domainUnknown', { reason: 'deleted meanwhile' })
    return act(transaction, domain)
  }) as Promise<T>
}
