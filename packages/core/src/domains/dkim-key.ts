import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomInt,
  sign,
  verify,
} from 'node:crypto'
import { promisify } from 'node:util'
import { invalidParameter } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
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

export type KeyMaker = (accountId: number, domain: string) => Promise<DkimKeyPair>

/**
 * Makes one key after the other: each takes a thread of the pool for a good part of a second, and there are four for everything
 * this process does. An account has one key at a time in the queue, so however many it asks for, others wait for one of them.
 */
export function createKeyMaker(secrets: Secrets): KeyMaker {
  const ofAccounts = new Map<number, Promise<unknown>>()
  let before: Promise<unknown> = Promise.resolve()
  const inTurn = (domain: string): Promise<DkimKeyPair> => {
    const made = before.then(() => makeDkimKey(secrets, domain))
    before = made.catch(() => {})
    return made
  }
  return (accountId, domain) => {
    const made = (ofAccounts.get(accountId) ?? Promise.resolve()).then(() => inTurn(domain))
    const settled = made
      .catch(() => {})
      .finally(() => {
        if (ofAccounts.get(accountId) === settled) ofAccounts.delete(accountId)
      })
    ofAccounts.set(accountId, settled)
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
    throw invalidParameter('privateKey', `must have ${LEAST_BITS} to ${MOST_BITS} bits (got ${bits})`)
  }
  const publicKey = createPublicKey(privateKey)
  // A large exponent makes every verification slow, and some verifiers refuse it.
  if (publicExponent > 0xffffffffn || !signs(privateKey, publicKey)) {
    throw invalidParameter('privateKey', 'is not a valid RSA key')
  }
  return { ...sealed(secrets, domain, publicKey, privateKey), bits }
}

function rsaKey(pem: string): KeyObject {
  const problem = 'must be an unencrypted RSA private key in PEM'
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

/** The text of the DKIM record (RFC 6376 3.6.1), of a public key as it is stored: its SubjectPublicKeyInfo. */
export function dkimRecordText(publicKey: Buffer): string {
  return `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`
}

/** Characters that set the selectors of one domain apart from those of other accounts that claim the same name. */
const TAG_LENGTH = 6

/**
 * The selector of a domain's next key, none of those it had: their records may still be asked for. The first one has a tag made
 * by chance: other accounts may have keys of this name, and nobody is to see from a number that there are any.
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

function context(domain: string): string {
  return `dkim ${domain}`
}
