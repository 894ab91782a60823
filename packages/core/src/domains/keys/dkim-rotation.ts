import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { parseDomain } from '../../mime/address.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { changeOwnDomain } from '../own-domain.ts'
import { checkOften, type StoredDomain } from '../store.ts'
import { type DkimKeyPair, freeSelector, importDkimKey, type KeyMaker } from './dkim-key.ts'
import { insertDkimKey, retire, selectPublicKeys, selectSelectors } from './keys-store.ts'

const WEAK_BITS = 2048

/**
 * Creates the next key, which signs as soon as its record exists; until then mail is signed as before. Does nothing if
 * a next key already exists.
 */
export async function makeNextKey(
  domain: StoredDomain,
  { sql, makeKey, by }: { sql: Sql; makeKey: KeyMaker; by: Actor },
): Promise<void> {
  if (await hasNextKey(sql, domain.id)) return
  const pair = await makeKey(domain.accountId, domain.name)
  await changeOwnDomain(sql, domain, async (transaction, { id, name }) => {
    if (await hasNextKey(transaction, id)) return
    const selector = freeSelector(await selectSelectors(transaction, domain.accountId, name))
    await addNextKey(transaction, domain, { selector, pair, by, action: 'domain.rotateDkim' })
  })
}

/**
 * Uses the account's own key as the next one; it replaces an existing next key. Repeating the call with the same key
 * has no effect. Returns warnings. Throws parameterInvalid (privateKey, selector).
 */
export async function takeNextKey(
  domain: StoredDomain,
  { privateKey, selector: text }: { privateKey: string; selector: string },
  { sql, secrets, by }: { sql: Sql; secrets: Secrets; by: Actor },
): Promise<string[]> {
  const selector = selectorOf(text, domain.name)
  const { bits, ...pair } = importDkimKey(secrets, domain.name, privateKey)
  await changeOwnDomain(sql, domain, async (transaction, { id }) => {
    const current = await selectPublicKeys(transaction, [id])
    const same = current.find((key) => key.selector === selector)
    if (same && same.state !== 'retiring' && same.publicKey.equals(pair.publicKey)) return
    const used = await selectSelectors(transaction, domain.accountId, domain.name)
    if (used.includes(selector))
      throw invalidParameter('selector', 'was already used by this domain; choose another one')
    await retire(transaction, id, 'next')
    await addNextKey(transaction, domain, { selector, pair, by, action: 'domain.dkimKey' })
  })
  return bits < WEAK_BITS ? [`The key has ${bits} bits; some receivers ignore keys of less than ${WEAK_BITS}`] : []
}

async function hasNextKey(sql: AnySql, domainId: number): Promise<boolean> {
  return (await selectPublicKeys(sql, [domainId])).some(({ state }) => state === 'next')
}

async function addNextKey(
  sql: AnySql,
  { id, name, accountId }: StoredDomain,
  { selector, pair, by, action }: { selector: string; pair: DkimKeyPair; by: Actor; action: string },
): Promise<void> {
  await insertDkimKey(sql, { domainId: id, selector, state: 'next', ...pair })
  await checkOften(sql, id)
  await noteChange(sql, { accountId, by, action, object: `domain ${name}`, after: { next: selector } })
}

/** RFC 6376 3.1: one or more labels that form a host name together with `_domainkey` and the domain. */
function selectorOf(text: string, domain: string): string {
  const selector = text.trim().toLowerCase()
  const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
  const isValid = selector.length <= 253 && new RegExp(`^${label}(\\.${label})*$`).test(selector)
  // `_domainkey` is replaced by a label of the same length, since underscores are not valid in a host name.
  if (!isValid || parseDomain(`${selector}.xdomainkey.${domain}`) === undefined) {
    throw invalidParameter('selector', 'must be a label, or labels with dots, of letters, digits and hyphens')
  }
  return selector
}
