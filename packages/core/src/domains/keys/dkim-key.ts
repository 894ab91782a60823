import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomInt,
  sign,
  verify,
} from 'node:crypto'
import { promisify } from 'node:util'
import { createFairTurns } from '../../platform/concurrency/fair-turns.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { SealedColumn } from '../../platform/security/key-rotation.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { StoredDkimKey } from './keys-store.ts'

/**
 * RSA-2048: supported by every verifier (RFC 8301 3.2 requires at least 1024 and recommends 2048), and the key fits one
 * TXT record.
 */
const MODULUS_BITS = 2048
const MIN_BITS = 1024
/** RFC 8301 3.2: verifiers must support keys up to this size; signing with larger ones would cost a worker too much. */
const MAX_BITS = 4096
/** Maximum characters of a PEM; that of an RSA-4096 key has 3,300. */
const MAX_PEM_LENGTH = 16_384

export interface DkimKeyPair {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer
  /** PKCS #8 DER, encrypted under SECRET_KEY. */
  readonly privateKey: Buffer
}

/** Returns the pair that the domain's next key is, or undefined to have one generated. */
export type GivenKey = (domain: string) => KeyPairKeyObjectResult | undefined

export type KeyMaker = (accountId: number, domain: string) => Promise<DkimKeyPair>

/**
 * Generates one key at a time: each occupies a thread of libuv's pool for a good part of a second, and the pool has
 * four threads for the whole process. Accounts take turns, so one that requests many delays the others by one key only.
 */
export function createKeyMaker(secrets: Secrets, givenKey?: GivenKey): KeyMaker {
  const turns = createFairTurns({ capacity: 1, waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY })
  return (accountId, domain) => turns.take(String(accountId), () => makeDkimKey(secrets, domain, givenKey))
}

async function makeDkimKey(secrets: Secrets, domain: string, givenKey?: GivenKey): Promise<DkimKeyPair> {
  const { publicKey, privateKey } =
    givenKey?.(domain) ?? (await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS }))
  return sealed(secrets, domain, publicKey, privateKey)
}

/** Imports an account's own key. Throws parameterInvalid (privateKey), which never contains the key. */
export function importDkimKey(secrets: Secrets, domain: string, pem: string): DkimKeyPair & { readonly bits: number } {
  const privateKey = rsaKey(pem)
  const { modulusLength: bits = 0, publicExponent = 0n } = privateKey.asymmetricKeyDetails ?? {}
  if (bits < MIN_BITS || bits > MAX_BITS) {
    throw invalidParameter('privateKey', `must have ${MIN_BITS} to ${MAX_BITS} bits (got ${bits})`)
  }
  const publicKey = createPublicKey(privateKey)
  // A large exponent makes every verification slow, and some verifiers reject it.
  if (publicExponent > 0xffffffffn || !isConsistent(privateKey, publicKey)) {
    throw invalidParameter('privateKey', 'is not a valid RSA key')
  }
  return { ...sealed(secrets, domain, publicKey, privateKey), bits }
}

function rsaKey(pem: string): KeyObject {
  const problem = 'must be an unencrypted RSA private key in PEM'
  // Environment variables and forms may contain the line ends as the two characters \n.
  const text = pem.replaceAll('\\n', '\n').trim()
  if (text.length > MAX_PEM_LENGTH || !text.startsWith('-----BEGIN ')) throw invalidParameter('privateKey', problem)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: text, format: 'pem' })
  } catch {
    throw invalidParameter('privateKey', problem)
  }
  if (key.asymmetricKeyType !== 'rsa') throw invalidParameter('privateKey', problem)
  return key
}

/** Checks that the key works: a key that can be parsed may consist of numbers that do not match. */
function isConsistent(privateKey: KeyObject, publicKey: KeyObject): boolean {
  const probe = Buffer.from('probe')
  try {
    return verify('sha256', probe, publicKey, sign('sha256', probe, privateKey))
  } catch {
    return false
  }
}

function sealed(secrets: Secrets, domain: string, publicKey: KeyObject, privateKey: KeyObject): DkimKeyPair {
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    privateKey: secrets.seal(privateKey.export({ type: 'pkcs8', format: 'der' }), context(domain)),
  }
}

export function openDkimKey(secrets: Secrets, stored: StoredDkimKey): KeyObject {
  return createPrivateKey({
    key: secrets.open(stored.privateKey, context(stored.domain)),
    format: 'der',
    type: 'pkcs8',
  })
}

/** Returns the text of the DKIM record (RFC 6376 3.6.1) for a stored public key (SubjectPublicKeyInfo). */
export function dkimRecordText(publicKey: Buffer): string {
  return `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`
}

/** Length of the random suffix that separates the selectors of accounts that claim the same name. */
const TAG_LENGTH = 6

/**
 * Returns the selector of a domain's next key. Former selectors are not reused, because their records may still be
 * queried. The first selector gets a random suffix: other accounts may have keys for this name, and a number must not
 * reveal that.
 */
export function freeSelector(used: readonly string[]): string {
  const own = used.map((selector) => /^pr\d{1,9}(|-[a-z0-9]{6})$/.exec(selector)).find((match) => match !== null)
  const tag = own ? own[1] : `-${selectorTag()}`
  for (let number = 1; ; number++) {
    const selector = `pr${number}${tag}`
    if (!used.includes(selector)) return selector
  }
}

function selectorTag(): string {
  return Array.from({ length: TAG_LENGTH }, () => randomInt(36).toString(36)).join('')
}

/** The stored values that are sealed here. */
export const SEALED_DKIM_KEYS: SealedColumn = {
  what: 'DKIM keys',
  table: 'dkim_keys',
  keyType: 'int',
  column: 'private_key',
  context: (sql) => sql`(select ${context('')} || d.name from domains d where d.id = t.domain_id)`,
}

function context(domain: string): string {
  return `dkim ${domain}`
}
