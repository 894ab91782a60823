import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Secrets } from '../secrets.ts'
import type { StoredDkimKey } from './store.ts'

/** RSA-2048: every verifier reads it (RFC 8301 3.2 wants at least 1024 and recommends 2048), and it fits one TXT record. */
const MODULUS_BITS = 2048

export const FIRST_SELECTOR = 'pr1'

export interface DkimKeyPair {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer
  /** PKCS #8 DER, sealed under SECRET_KEY. */
  readonly privateKey: Buffer
}

export async function makeDkimKey(secrets: Secrets, domain: string): Promise<DkimKeyPair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS })
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

function context(domain: string): string {
  return `dkim ${domain}`
}
