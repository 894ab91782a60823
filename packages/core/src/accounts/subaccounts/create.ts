import { parseAddress } from '../../mime/address.ts'
import { isUniqueViolation, type Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { type HashPassword, requireStrong } from '../../platform/security/passwords.ts'
import type { Account } from '../account.ts'
import type { Actor } from '../audit/index.ts'
import { insertBalance } from '../credits/store.ts'
import { makeKey } from '../keys/keys.ts'
import { requireNotDeleted } from '../require-active.ts'
import { auditBothAccounts } from './note.ts'
import { insertSubaccount, selectSubaccount } from './store.ts'
import type { CreditType, Subaccount } from './subaccount.ts'

export interface NewSubaccount {
  readonly username: string
  readonly email: string
  /** Undefined if it will be set later by an update. */
  readonly password: string | undefined
  readonly creditType: CreditType
}

/**
 * Creates a subaccount and its first API key, whose secret is returned only once. Throws subaccountNested,
 * usernameInvalid, subaccountEmailInvalid, passwordWeak, usernameTaken, overloaded.
 */
export async function createSubaccount(
  sql: Sql,
  parent: Account,
  { username, email, password, creditType }: NewSubaccount,
  { by, hashPassword }: { by: Actor; hashPassword: HashPassword },
): Promise<{ subaccount: Subaccount; secret: string }> {
  // One level only: credit and keys pass from parent to subaccount, and deeper nesting would be impossible to follow.
  if (parent.parentId !== null) throw new ServiceError('subaccountNested')
  if (!/^[A-Za-z0-9._-]{3,64}$/.test(username)) throw new ServiceError('usernameInvalid')
  const address = parseEmail(email)
  if (password !== undefined) requireStrong(password)
  if (await selectSubaccount(sql, parent.id, username)) throw new ServiceError('usernameTaken')
  const hashed = password === undefined ? null : await hashPassword(password, `account ${parent.id}`)
  try {
    return await sql.begin(async (transaction) => {
      await requireNotDeleted(transaction, parent.id)
      const row = {
        parentId: parent.id,
        username,
        email: address,
        password: hashed,
      }
      const id = await insertSubaccount(transaction, row)
      if (creditType === 'one_time_credit') await insertBalance(transaction, id)
      const made = await selectSubaccount(transaction, parent.id, username)
      await auditBothAccounts(transaction, parent.id, { id, username }, by, {
        action: 'subaccount.create',
        after: { username, creditType },
      })
      // The new key inherits the caller's permissions, so that creating a subaccount does not extend them.
      const { secret } = await makeKey(transaction, { accountId: id, name: 'first' }, by)
      return { subaccount: made as Subaccount, secret }
    })
  } catch (error) {
    // accounts_name: an account created by the operator has the name "parent/username".
    if (isUniqueViolation(error, 'accounts_username') || isUniqueViolation(error, 'accounts_name')) {
      throw new ServiceError('usernameTaken')
    }
    throw error
  }
}

/** Returns the canonical form. Throws subaccountEmailInvalid. */
export function parseEmail(email: string): string {
  const address = parseAddress(email)
  if (!address) throw new ServiceError('subaccountEmailInvalid')
  return address.text
}
