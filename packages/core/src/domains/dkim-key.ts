import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { invalidParameter } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { StoredDkimKey } from './keys-store.ts'

/** RSA-2048: every verifier reads it (RFC 8301 3.2 wants at least 1024 and recommends 2048), and it fits one TXT record. */
const MODULUS_BITS = 2048
const LEAST_BITS = 1024
/** RFC 8301 3.2: verifiers must read keys up to this size; larger ones would cost a worker more than they are worth. */
const MOST_BITS = 4096
/** Characters of the PEM of an RSA-4096 key are 3,300. */
const PEM_LENGTH = 16_384

export interface DkimKeyPair {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer
  /** PKCS #8 DER, sealed under SECRET_KEY. */
  readonly privateKey: Buffer
}

export type KeyMaker = (domain: string) => Promise<DkimKeyPair>

/**
 * Makes one key after the other: each takes a thread of the pool for a good part of a second, and there are four for everything
 * this process does.
 */
export function createKeyMaker(secrets: Secrets): KeyMaker {
  let before: Promise<unknown> = Promise.resolve()
  return (domain) => {
    const made = before.then(() => makeDkimKey(secrets, domain))
    before = made.catch(() => {})
    return made
  }
}

async function makeDkimKey(secrets: Secrets, domain: string): Promise<DkimKeyPair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS })
  return sealed(secrets, domain, publicKey, privateKey)
}

/** An account's own key. Throws parameterInvalid (privateKey), which never quotes it. */
export function importDkimKey(secrets: Secrets, domain: string, pem: string): DkimKeyPair & { readonly bits: number } {
  const privateKey = rsaKey(pem)
  const { modulusLength: bits = 0, publicExponent = 0n } = privateKey.asymmetricKeyDetails ?? {}
  if (bits < LEAST_BITS || bits > MOST_BITS) {
    throw invalidParameter('privateKey', `it must have ${LEAST_BITS} to ${MOST_BITS} bits; this one has ${bits}`)
  }
  const publicKey = createPublicKey(privateKey)
  // A large exponent makes every verification slow, and some verifiers refuse it.
  if (publicExponent > 0xffffffffn || !signs(privateKey, publicKey)) {
    throw invalidParameter('privateKey', 'it is not a sound RSA key')
  }
  return { ...sealed(secrets, domain, publicKey, privateKey), bits }
}

function rsaKey(pem: string): KeyObject {
  const problem = 'it must be an unencrypted RSA private key in PEM'
  // An environment variable or a form may have carried the line ends as two characters.
  const text = pem.replaceAll('\\n', '\n').trim()
  if (text.length > PEM_LENGTH || !text.startsWith('-----BEGIN ')) throw invalidParameter('privateKey', problem)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: text, format: 'pem' })
  } catch {
    throw invalidParameter('privateKey', problem)
  }
  if (key.asymmetricKeyType !== 'rsa') throw invalidParameter('privateKey', problem)
  return key
}

/** What can be read need not be a key: its numbers may not belong together. */
function signs(privateKey: KeyObject, publicKey: KeyObject): boolean {
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

/** The text of the DKIM record (RFC 6376 3.6.1). */
export function dkimRecordText(publicKey: Buffer): string {
  const spki = createPublicKey({ key: publicKey, format: 'der', type: 'spki' }).export({ type: 'spki', format: 'der' })
  return `v=DKIM1; k=rsa; p=${spki.toString('base64')}`
}

/** The selector of a new key: none that the name ever had, since that record may still be asked for. */
export function freeSelector(used: readonly string[]): string {
  for (let number = 1; ; number++) if (!used.includes(`pr${number}`)) return `pr${number}`
}

function context(domain: string): string {
  return `dkim ${domain}`
}
