import { createPrivateKey, generateKeyPair, type KeyObject, type KeyPairKeyObjectResult, randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import { createFairTurns } from '../../platform/concurrency/fair-turns.ts'
import type { SealedColumn } from '../../platform/security/key-rotation.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { DkimAlgorithm, DkimSigner } from '../domain.ts'
import type { StoredDkimKeys } from './keys-store.ts'

/**
 * RSA-2048: supported by every verifier (RFC 8301 3.2 requires at least 1024 and recommends 2048), and the key fits one
 * TXT record.
 */
const MODULUS_BITS = 2048

export interface DkimKeyPair {
  readonly algorithm: DkimAlgorithm
  /** RSA: SubjectPublicKeyInfo, DER. Ed25519: 32 octets. */
  readonly publicKey: Buffer
  /** PKCS #8 DER, encrypted under SECRET_KEY. */
  readonly privateKey: Buffer
}

/** Returns the pair that the domain's next RSA key is, or undefined to have one generated. */
export type GivenKey = (domain: string) => KeyPairKeyObjectResult | undefined

export type KeyMaker = (accountId: number, domain: string, algorithm: DkimAlgorithm) => Promise<DkimKeyPair>

/**
 * Generates one RSA key at a time: each occupies a thread of libuv's pool for a good part of a second, and the pool has
 * four threads for the whole process. Accounts take turns, so one that requests many delays the others by one key only.
 * An Ed25519 key takes 0.1 ms.
 */
export function createKeyMaker(secrets: Secrets, givenKey?: GivenKey): KeyMaker {
  const turns = createFairTurns({ capacity: 1, waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY })
  return (accountId, domain, algorithm) =>
    algorithm === 'ed25519'
      ? makeEd25519Key(secrets, domain)
      : turns.take(String(accountId), () => makeRsaKey(secrets, domain, givenKey))
}

async function makeRsaKey(secrets: Secrets, domain: string, givenKey?: GivenKey): Promise<DkimKeyPair> {
  const pair = givenKey?.(domain) ?? (await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS }))
  return sealedPair(secrets, domain, { algorithm: 'rsa', ...pair })
}

async function makeEd25519Key(secrets: Secrets, domain: string): Promise<DkimKeyPair> {
  return sealedPair(secrets, domain, { algorithm: 'ed25519', ...(await promisify(generateKeyPair)('ed25519')) })
}

/** Octets before the key in the SubjectPublicKeyInfo of Ed25519 (RFC 8410 4). */
const ED25519_PREFIX = 12

export function sealedPair(
  secrets: Secrets,
  domain: string,
  { algorithm, publicKey, privateKey }: { readonly algorithm: DkimAlgorithm } & KeyPairKeyObjectResult,
): DkimKeyPair {
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return {
    algorithm,
    publicKey: algorithm === 'rsa' ? spki : spki.subarray(ED25519_PREFIX),
    privateKey: secrets.seal(privateKey.export({ type: 'pkcs8', format: 'der' }), context(algorithm, domain)),
  }
}

/** Decrypts and parses the signing keys of a domain. */
export function openSigner(secrets: Secrets, stored: StoredDkimKeys): DkimSigner {
  const { domain, selector, privateKey, ed25519Selector, ed25519PrivateKey } = stored
  const open = (algorithm: DkimAlgorithm, sealed: Buffer): KeyObject =>
    createPrivateKey({ key: secrets.open(sealed, context(algorithm, domain)), format: 'der', type: 'pkcs8' })
  return {
    domain,
    selector,
    privateKey: open('rsa', privateKey),
    ed25519:
      ed25519Selector === null || ed25519PrivateKey === null
        ? null
        : { selector: ed25519Selector, privateKey: open('ed25519', ed25519PrivateKey) },
  }
}

/** Returns the text of the DKIM record (RFC 6376 3.6.1, RFC 8463 4.2) for a stored public key. */
export function dkimRecordText({ algorithm, publicKey }: Pick<DkimKeyPair, 'algorithm' | 'publicKey'>): string {
  return `v=DKIM1; k=${algorithm}; p=${publicKey.toString('base64')}`
}

/** Length of the random suffix that separates the selectors of accounts that claim the same name. */
const TAG_LENGTH = 6
/** Part of the selectors of Ed25519 keys: a key of each algorithm needs a selector of its own (RFC 8463 3). */
const MARKS: Readonly<Record<DkimAlgorithm, string>> = { rsa: '', ed25519: '-ed' }

/**
 * Returns the selector of a domain's next key of an algorithm. Former selectors are not reused, because their records may
 * still be queried. The first selector gets a random suffix, which all later ones have: other accounts may have keys for
 * this name, and a number must not reveal that.
 */
export function freeSelector(used: readonly string[], algorithm: DkimAlgorithm): string {
  const own = used
    .map((selector) => /^pr\d{1,9}(?:-ed|)(|-[a-z0-9]{6})$/.exec(selector))
    .find((match) => match !== null)
  const tag = own ? own[1] : `-${selectorTag()}`
  for (let number = 1; ; number++) {
    const selector = `pr${number}${MARKS[algorithm]}${tag}`
    if (!used.includes(selector)) return selector
  }
}

function selectorTag(): string {
  return Array.from({ length: TAG_LENGTH }, () => randomInt(36).toString(36)).join('')
}

/** The stored values that are sealed here. */
export const SEALED_DKIM_KEYS: readonly SealedColumn[] = (['rsa', 'ed25519'] as const).map((algorithm) => ({
  what: 'DKIM keys',
  table: algorithm === 'rsa' ? 'dkim_keys' : 'dkim_ed25519_keys',
  keyType: 'int',
  column: 'private_key',
  context: (sql) => sql`(select ${context(algorithm, '')} || d.name from domains d where d.id = t.domain_id)`,
}))

function context(algorithm: DkimAlgorithm, domain: string): string {
  return `${algorithm === 'rsa' ? 'dkim' : 'dkim ed25519'} ${domain}`
}
