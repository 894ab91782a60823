import { type Actor, noteChange } from '../audit/index.ts'
import { databaseErrorCode, isUniqueViolation, type Sql } from '../database.ts'
import { invalidParameter, ServiceError } from '../errors.ts'
import { parseDomain } from '../recipients/address.ts'
import { freeSelector, type KeyMaker } from './dkim-key.ts'
import type { DomainState } from './domain.ts'
import { insertDkimKey, selectSelectors } from './keys-store.ts'
import { domainName } from './own-domain.ts'
import { RETURN_PATH_LABEL } from './records.ts'
import { insertDomain, noteActivity, type StoredDomain, selectDomain } from './store.ts'

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

/** Adds a sending domain with a DKIM key. Throws domainInvalid, domainTaken, parameterInvalid (envelopeName, account). */
export async function addDomain(
  { sql, makeKey }: { sql: Sql; makeKey: KeyMaker },
  { accountId, name, state, envelopeName, by }: Required<NewSendingDomain>,
): Promise<StoredDomain> {
  const clean = domainName(name)
  const labels = envelopeName === undefined ? null : envelopeLabels(envelopeName, clean)
  // Again when it is inserted; here because a key costs more than a look.
  if (await selectDomain(sql, clean)) throw new ServiceError('domainTaken')
  const key = await makeKey(clean)
  try {
    return await sql.begin(async (transaction) => {
      const domain = await insertDomain(transaction, { accountId, name: clean, state, envelopeName: labels })
      const selector = freeSelector(await selectSelectors(transaction, clean))
      await insertDkimKey(transaction, { domainId: domain.id, selector, state: 'active', ...key })
      const after = { state, envelopeName: labels, selector }
      await noteChange(transaction, { accountId, by, action: 'domain.add', object: `domain ${clean}`, after })
      await noteActivity(transaction, domain, { before: undefined, after: state })
      return domain
    })
  } catch (error) {
    if (isUniqueViolation(error, 'domains_name')) throw new ServiceError('domainTaken')
    if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'there is no such account')
    throw error
  }
}

function envelopeLabels(text: string, domain: string): string {
  const host = text.length > 253 ? undefined : parseDomain(`${text.trim()}.${domain}`)
  const labels = host?.slice(0, -domain.length - 1)
  if (!labels) throw invalidParameter('envelopeName', 'it must be a label, or labels with dots, below the domain')
  if (labels === RETURN_PATH_LABEL) throw invalidParameter('envelopeName', 'this one is for the return path')
  return labels
}
