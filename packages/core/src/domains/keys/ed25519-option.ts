import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import type { Sql } from '../../platform/database/database.ts'
import { changeOwnDomain } from '../own-domain.ts'
import { checkOften, type StoredDomain, updateEd25519 } from '../store.ts'
import { freeSelector, type KeyMaker } from './dkim-key.ts'
import { insertDkimKey, retire, selectSelectors, stopSigning } from './keys-store.ts'

/**
 * Turns the second signature of a domain's mail on or off (RFC 8463). On: creates a key, which signs once its record is found. Off: deletes the
 * private keys; the record of one that signed stays wanted, as after a rotation. Does nothing if it is so already.
 */
export async function setEd25519(
  domain: StoredDomain,
  ed25519: boolean,
  { sql, makeKey, by }: { sql: Sql; makeKey: KeyMaker; by: Actor },
): Promise<StoredDomain> {
  if (domain.ed25519 === ed25519) return domain
  const pair = ed25519 ? await makeKey(domain.accountId, domain.name, 'ed25519') : undefined
  return changeOwnDomain(sql, domain, async (transaction, before) => {
    if (before.ed25519 === ed25519) return before
    const { id, accountId, name, state } = before
    if (pair) {
      const selector = freeSelector(await selectSelectors(transaction, accountId, name), 'ed25519')
      await insertDkimKey(transaction, { domainId: id, selector, state: 'next', ...pair })
      await checkOften(transaction, id)
    } else {
      const keys = { domainId: id, algorithm: 'ed25519' } as const
      await retire(transaction, keys, 'next')
      await stopSigning(transaction, keys, state === 'pending')
    }
    const change = { object: `domain ${name}`, before: { ed25519: before.ed25519 }, after: { ed25519 } }
    await noteChange(transaction, { accountId, by, action: 'domain.ed25519', ...change })
    return updateEd25519(transaction, id, ed25519)
  })
}
