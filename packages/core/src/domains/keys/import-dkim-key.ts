import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { type DkimKeyPair, sealedPair } from './dkim-key.ts'

const MIN_BITS = 1024
/** RFC 8301 3.2: verifiers must support keys up to this size; signing with larger ones would cost a worker too much. */
const MAX_BITS = 4096
/** Maximum characters of a PEM; that of an RSA-4096 key has 3,300. */
const MAX_PEM_LENGTH = 16_384

/** `bits`: of an RSA key. */
export type ImportedKey = DkimKeyPair & { readonly bits?: number }

/** Imports an account's own key, RSA or Ed25519. Throws parameterInvalid (privateKey), which never contains the key. */
export function importDkimKey(secrets: Secrets, domain: string, pem: string): ImportedKey {
  const privateKey = parsedKey(pem)
  const publicKey = createPublicKey(privateKey)
  if (privateKey.asymmetricKeyType === 'ed25519') {
    return sealedPair(secrets, domain, { algorithm: 'ed25519', publicKey, privateKey })
  }
  const { modulusLength: bits = 0, publicExponent = 0n } = privateKey.asymmetricKeyDetails ?? {}
  if (bits < MIN_BITS || bits > MAX_BITS) {
    throw invalidParameter('privateKey', `must have ${MIN_BITS} to ${MAX_BITS} bits (got ${bits})`)
  }
  // A large exponent makes every verification slow, and some verifiers reject it.
  if (publicExponent > 0xffffffffn || !isConsistent(privateKey, publicKey)) {
    throw invalidParameter('privateKey', 'is not a valid RSA key')
  }
  return { ...sealedPair(secrets, domain, { algorithm: 'rsa', publicKey, privateKey }), bits }
}

function parsedKey(pem: string): KeyObject {
  const problem = 'must be an unencrypted RSA or Ed25519 private key in PEM'
  // Environment variables and forms may contain the line ends as the two characters \n.
  const text = pem.replaceAll('\\n', '\n').trim()
  if (text.length > MAX_PEM_LENGTH || !text.startsWith('-----BEGIN ')) throw invalidParameter('privateKey', problem)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: text, format: 'pem' })
  } catch {
    throw invalidParameter('privateKey', problem)
  }
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyType !== 'ed25519') {
    throw invalidParameter('privateKey', problem)
  }
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
