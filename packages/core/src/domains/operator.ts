import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { parseDomain } from '../mime/address.ts'
import { isUniqueViolation, type Sql } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import { changeOwnDomain } from './own-domain.ts'
import { activateDomain, noteActivity, type StoredDomain, selectClaims, selectHolder, selectOwn } from './store.ts'

/**
 * Finds the domain the operator means by a name: the given account's domain; without an account, the domain of the
 * account that owns it, or the only claim. Throws domainInvalid for an unknown domain; parameterInvalid (account) if
 * several accounts claim it.
 */
export async function namedDomain(sql: Sql, text: string, accountId?: number): Promise<StoredDomain> {
  const name = parseDomain(text) ?? ''
  const found = accountId === undefined ? await selectHolder(sql, name) : await selectOwn(sql, accountId, name)
  if (found) return found
  const claims = accountId === undefined ? await selectClaims(sql, name) : []
  const [claim] = claims
  if (claims.length > 1) {
    const accounts = claims.map((one) => one.accountId).join(', ')
    throw invalidParameter('account', `is required: several accounts have added this domain (${accounts})`)
  }
  if (claim) return claim
  // The only claim may have been verified between the two queries.
  const verified = accountId === undefined ? await selectHolder(sql, name) : undefined
  if (!verified) throw new ServiceError('domainInvalid', { reason: 'unknown domain' })
  return verified
}

/** Activates a domain for the operator, without verification. Throws domainTaken if another account owns the name. */
export async function activateFor(sql: Sql, domain: StoredDomain, by: Actor): Promise<StoredDomain> {
  try {
    return await changeOwnDomain(sql, domain, async (transaction, { id, accountId, name, state }) => {
      const change = { action: 'domain.activate', object: `domain ${name}`, before: { state } }
      await noteChange(transaction, { accountId, by, ...change, after: { state: 'active' } })
      await noteActivity(transaction, domain, { before: state, after: 'active' })
      return activateDomain(transaction, id)
    })
  } catch (error) {
    if (isUniqueViolation(error, 'domains_held')) throw new ServiceError('domainTaken')
    throw error
  }
}
