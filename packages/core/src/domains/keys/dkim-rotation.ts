import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { parseDomain } from '../../mime/address.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { DkimAlgorithm } from '../domain.ts'
import { changeOwnDomain } from '../own-domain.ts'
import { checkOften, type StoredDomain, updateEd25519 } from '../store.ts'
import { type DkimKeyPair, freeSelector, type KeyMaker } from './dkim-key.ts'
import { importDkimKey } from './import-dkim-key.ts'
import { insertDkimKey, retire, selectPublicKeys, selectSelectors } from './keys-store.ts'

const WEAK_BITS = 2048

/**
 * Creates the next key of each algorithm that the domain signs with. It signs as soon as its record exists; until then mail is signed as before.
 * Does nothing for an algorithm that already has a next key.
 */
export async function makeNextKey(
  domain: StoredDomain,
  { sql, makeKey, by }: { sql: Sql; makeKey: KeyMaker; by: Actor },
): Promise<void> {
  const pairs: DkimKeyPair[] = []
  for (const algorithm of await withoutNextKey(sql, domain)) {
    pairs.push(await makeKey(domain.accountId, domain.name, algorithm))
  }
  if (pairs.length === 0) return
  await changeOwnDomain(sql, domain, async (transaction, current) => {
    const lacking = await withoutNextKey(transaction, current)
    const used = await selectSelectors(transaction, domain.accountId, current.name)
    const keys = pairs
      .filter(({ algorithm }) => lacking.includes(algorithm))
      .map((pair): NextKey => ({ selector: freeSelector(used, pair.algorithm), pair }))
    if (keys.length > 0) await addNextKeys(transaction, domain, { keys, by, action: 'domain.rotateDkim' })
  })
}

/**
 * Uses the account's own key as the next one of its algorithm; it replaces an existing next key. One of Ed25519 turns that on. Repeating the call
 * with the same key has no effect. Returns warnings. Throws parameterInvalid (privateKey, selector).
 */
export async function takeNextKey(
  domain: StoredDomain,
  { privateKey, selector: text }: { privateKey: string; selector: string },
  { sql, secrets, by }: { sql: Sql; secrets: Secrets; by: Actor },
): Promise<{ domain: StoredDomain; warnings: string[] }> {
  const selector = selectorOf(text, domain.name)
  const { bits = WEAK_BITS, ...pair } = importDkimKey(secrets, domain.name, privateKey)
  const { algorithm } = pair
  const changed = await changeOwnDomain(sql, domain, async (transaction, before) => {
    const { id } = before
    const current = await selectPublicKeys(transaction, [id])
    const same = current.find((key) => key.selector === selector && key.algorithm === algorithm)
    if (same && same.state !== 'retiring' && same.publicKey.equals(pair.publicKey)) return before
    const used = await selectSelectors(transaction, domain.accountId, domain.name)
    if (used.includes(selector))
      throw invalidParameter('selector', 'was already used by this domain; choose another one')
    await retire(transaction, { domainId: id, algorithm }, 'next')
    await addNextKeys(transaction, domain, { keys: [{ selector, pair }], by, action: 'domain.dkimKey' })
    return algorithm === 'ed25519' && !before.ed25519 ? updateEd25519(transaction, id, true) : before
  })
  const warnings = [`The key has ${bits} bits; some receivers ignore keys of less than ${WEAK_BITS}`]
  return { domain: changed, warnings: bits < WEAK_BITS ? warnings : [] }
}

interface NextKey {
  readonly selector: string
  readonly pair: DkimKeyPair
}

/** The algorithms that the domain signs with and has no next key of. */
async function withoutNextKey(sql: AnySql, { id, ed25519 }: StoredDomain): Promise<DkimAlgorithm[]> {
  const next = (await selectPublicKeys(sql, [id])).filter(({ state }) => state === 'next')
  const wanted: DkimAlgorithm[] = ed25519 ? ['rsa', 'ed25519'] : ['rsa']
  return wanted.filter((one) => !next.some(({ algorithm }) => algorithm === one))
}

const NAMES: Readonly<Record<DkimAlgorithm, string>> = { rsa: 'next', ed25519: 'nextEd25519' }

async function addNextKeys(
  sql: AnySql,
  { id, name, accountId }: StoredDomain,
  { keys, by, action }: { keys: readonly NextKey[]; by: Actor; action: string },
): Promise<void> {
  for (const { selector, pair } of keys) await insertDkimKey(sql, { domainId: id, selector, state: 'next', ...pair })
  await checkOften(sql, id)
  const after = Object.fromEntries(keys.map(({ selector, pair }) => [NAMES[pair.algorithm], selector]))
  await noteChange(sql, { accountId, by, action, object: `domain ${name}`, after })
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
