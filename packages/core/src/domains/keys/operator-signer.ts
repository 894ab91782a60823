import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Cache, createCache } from '../../platform/cache.ts'
import { type Config, ConfigError } from '../../platform/config/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { DkimSigner } from '../domain.ts'
import { selectHolder } from '../store.ts'
import { openSigner } from './dkim-key.ts'
import { selectDkimKeys } from './keys-store.ts'

/** Milliseconds. As with the keys of sending domains. */
const MAX_AGE_MS = 60_000
const MIN_BITS = 1024

/**
 * Returns the signer of the operator's own domain, which signs all mail in addition to the sending domains: with the key of OPERATOR_DKIM_KEY, or
 * of the active sending domain of that name. Null if it is not set, or not active.
 *
 * Throws {@link ConfigError} if the file has no RSA key.
 */
export function createOperatorSigner(
  { operatorDkim }: Pick<Config, 'operatorDkim'>,
  { sql, secrets }: { readonly sql: Sql; readonly secrets: Secrets },
): () => Promise<DkimSigner | null> | DkimSigner | null {
  if (!operatorDkim) return () => null
  const { domain, selector, keyFile } = operatorDkim
  if (keyFile !== undefined) {
    let signer: DkimSigner | undefined
    return () => (signer ??= { domain, selector: selector ?? '', privateKey: readOperatorKey(keyFile), ed25519: null })
  }
  const cache: Cache<DkimSigner | null> = createCache({
    maxAge: MAX_AGE_MS,
    maxEntries: 1,
    async load(name) {
      const holder = await selectHolder(sql, name)
      const stored = holder?.state === 'active' ? await selectDkimKeys(sql, holder.id) : undefined
      return stored ? openSigner(secrets, stored) : null
    },
  })
  return () => cache.get(domain)
}

/** Throws {@link ConfigError}. */
function readOperatorKey(file: string): KeyObject {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(readFileSync(file))
  } catch {
    // Reported below: the error of the library may contain a part of the key.
  }
  if (key?.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_BITS) {
    throw new ConfigError(
      'OPERATOR_DKIM_KEY',
      `must be a file with an unencrypted RSA key of at least ${MIN_BITS} bits (PEM)`,
    )
  }
  return key
}

/** Returns the public half of a file's key (SubjectPublicKeyInfo). Throws {@link ConfigError}. */
export function operatorPublicKey(file: string): Buffer {
  return createPublicKey(readOperatorKey(file)).export({ type: 'spki', format: 'der' })
}
