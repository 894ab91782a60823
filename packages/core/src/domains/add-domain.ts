import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { requireNotDeleted } from '../accounts/require-active.ts'
import { parseDomain } from '../mime/address.ts'
import { databaseErrorCode, isUniqueViolation, type Sql } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import type { DomainState } from './domain.ts'
import { freeSelector, type KeyMaker } from './keys/dkim-key.ts'
import { insertDkimKey, selectSelectors } from './keys/keys-store.ts'
import { domainName } from './own-domain.ts'
import { RETURN_PATH_LABEL } from './records.ts'
import { countClaims, insertDomain, noteActivity, type StoredDomain, selectOwn } from './store.ts'

export interface NewSendingDomain {
  readonly accountId: number
  readonly name: string
  /** Default pending. */
  readonly state?: DomainState
  /** Labels of the tracking host below the domain. */
  readonly envelopeName?: string | undefined
  /** Whether it also gets an Ed25519 key. */
  readonly ed25519?: boolean | undefined
  /** Default: the operator. */
  readonly by?: Actor
}

/**
 * Maximum number of an account's pending domains: claims are free, and an account with this many publishes no records.
 */
const MAX_CLAIMS = 100

/**
 * Adds a sending domain with a DKIM key. A pending domain is a claim: it does not exclude other accounts, and nothing
 * is revealed about other accounts that claim or own the name. Throws domainInvalid; domainTaken if the account already
 * has the domain, or if it is to be active immediately and another account owns it; domainClaimsTooMany;
 * parameterInvalid (envelopeName, account).
 */
export async function addDomain(
  { sql, makeKey }: { sql: Sql; makeKey: KeyMaker },
  { accountId, name, state, envelopeName, ed25519, by }: Required<NewSendingDomain>,
): Promise<StoredDomain> {
  const clean = domainName(name)
  const labels = envelopeName === undefined ? null : envelopeLabels(envelopeName, clean)
  // Checked again on insert; checked here because generating a key is more expensive than a query.
  if (await selectOwn(sql, accountId, clean)) throw new ServiceError('domainTaken')
  if (state === 'pending') requireCapacity(await countClaims(sql, accountId))
  const key = await makeKey(accountId, clean, 'rsa')
  const second = ed25519 ? await makeKey(accountId, clean, 'ed25519') : undefined
  try {
    return await sql.begin(async (transaction) => {
      await requireNotDeleted(transaction, accountId)
      const domain = await insertDomain(transaction, {
        accountId,
        name: clean,
        state,
        envelopeName: labels,
        ed25519: second !== undefined,
      })
      const used = await selectSelectors(transaction, accountId, clean)
      const selector = freeSelector(used, 'rsa')
      await insertDkimKey(transaction, { domainId: domain.id, selector, state: 'active', ...key })
      const after = { state, envelopeName: labels, selector, ...(second && { ed25519: true }) }
      if (second) {
        const own = freeSelector([...used, selector], 'ed25519')
        await insertDkimKey(transaction, { domainId: domain.id, selector: own, state: 'next', ...second })
      }
      await noteChange(transaction, { accountId, by, action: 'domain.add', object: `domain ${clean}`, after })
      await noteActivity(transaction, domain, { before: undefined, after: state })
      // After the audit entry, whose lock serializes the account's changes, so that the count is exact.
      if (state === 'pending') requireCapacity((await countClaims(transaction, accountId)) - 1)
      return domain
    })
  } catch (error) {
    if (TAKEN.some((index) => isUniqueViolation(error, index))) throw new ServiceError('domainTaken')
    if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'does not exist')
    throw error
  }
}

/** Unique indexes: one for the domains of an account, one for owned (not pending) domains of all accounts. */
const TAKEN = ['domains_account', 'domains_held'] as const

function requireCapacity(claims: number): void {
  if (claims >= MAX_CLAIMS) throw new ServiceError('domainClaimsTooMany', { values: { limit: MAX_CLAIMS } })
}

function envelopeLabels(text: string, domain: string): string {
  const host = text.length > 253 ? undefined : parseDomain(`${text.trim()}.${domain}`)
  const labels = host?.slice(0, -domain.length - 1)
  if (!labels) throw invalidParameter('envelopeName', 'must be a label, or labels with dots, below the domain')
  if (labels === RETURN_PATH_LABEL) throw invalidParameter('envelopeName', 'is reserved for the return path')
  return labels
}
