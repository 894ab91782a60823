import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { parseDomain } from '../mime/address.ts'
import { databaseErrorCode, isUniqueViolation, type Sql } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import { freeSelector, type KeyMaker } from './dkim-key.ts'
import type { DomainState } from './domain.ts'
import { insertDkimKey, selectSelectors } from './keys-store.ts'
import { domainName } from './own-domain.ts'
import { RETURN_PATH_LABEL } from './records.ts'
import { countClaims, insertDomain, noteActivity, type StoredDomain, selectOwn } from './store.ts'

export interface NewSendingDomain {
  readonly accountId: number
  readonly name: string
  /** pending unless told. */
  readonly state?: DomainState
  /** Labels below the domain, of the tracking host. */
  readonly envelopeName?: string | undefined
  /** The operator unless told. */
  readonly by?: Actor
}

/** Domains of an account that wait for their records: claims cost nothing, and whoever has this many sets none. */
const MOST_CLAIMS = 100

/**
 * Adds a sending domain with a DKIM key. A pending one is a claim: it stops nobody else, and nobody is told of others who claim
 * or have the name. Throws domainInvalid; domainTaken when the account has it, or when it is to be active at once and another
 * has it; domainClaimsTooMany; parameterInvalid (envelopeName, account).
 */
export async function addDomain(
  { sql, makeKey }: { sql: Sql; makeKey: KeyMaker },
  { accountId, name, state, envelopeName, by }: Required<NewSendingDomain>,
): Promise<StoredDomain> {
  const clean = domainName(name)
  const labels = envelopeName === undefined ? null : envelopeLabels(envelopeName, clean)
  // Again when it is inserted; here because a key costs more than a look.
  if (await selectOwn(sql, accountId, clean)) throw new ServiceError('domainTaken')
  if (state === 'pending') requireRoom(await countClaims(sql, accountId))
  const key = await makeKey(accountId, clean)
  try {
    return await sql.begin(async (transaction) => {
      const domain = await insertDomain(transaction, { accountId, name: clean, state, envelopeName: labels })
      const selector = freeSelector(await selectSelectors(transaction, accountId, clean))
      await insertDkimKey(transaction, { domainId: domain.id, selector, state: 'active', ...key })
      const after = { state, envelopeName: labels, selector }
      await noteChange(transaction, { accountId, by, action: 'domain.add', object: `domain ${clean}`, after })
      await noteActivity(transaction, domain, { before: undefined, after: state })
      // After the note, which makes an account's changes one after the other, so that the count is exact.
      if (state === 'pending') requireRoom((await countClaims(transaction, accountId)) - 1)
      return domain
    })
  } catch (error) {
    if (TAKEN.some((index) => isUniqueViolation(error, index))) throw new ServiceError('domainTaken')
    if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'does not exist')
    throw error
  }
}

/** Its own account has the name; some account has it as more than a claim. */
const TAKEN = ['domains_account', 'domains_held'] as const

function requireRoom(claims: number): void {
  if (claims >= MOST_CLAIMS) throw new ServiceError('domainClaimsTooMany', { values: { limit: MOST_CLAIMS } })
}

function envelopeLabels(text: string, domain: string): string {
  const host = text.length > 253 ? undefined : parseDomain(`${text.trim()}.${domain}`)
  const labels = host?.slice(0, -domain.length - 1)
  if (!labels) throw invalidParameter('envelopeName', 'must be a label, or labels with dots, below the domain')
  if (labels === RETURN_PATH_LABEL) throw invalidParameter('envelopeName', 'is reserved for the return path')
  return labels
}
