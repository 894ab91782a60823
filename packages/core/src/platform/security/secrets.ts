import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readKept, writeOnce } from '../storage/write-once.ts'

/**
 * The uses of SECRET_KEY. Each use has its own derived key (HKDF, RFC 5869), so that none can be used in place of
 * another.
 *
 * While SECRET_KEY is rotated, a process knows several keys. One is in use, the same in all processes (key-agreement.ts): new values are
 * made with it. Values made with any known key are accepted.
 */
export interface Secrets {
  /** AES-256-GCM: version byte, nonce (12), tag (16), ciphertext. `context` must be the same for `open`. */
  seal(plain: Buffer, context: string): Buffer
  /** Throws an Error if the box was altered or was sealed with another key or context. */
  open(box: Buffer, context: string): Buffer
  /**
   * Like {@link seal}, but deterministic: the same text in the same context gives the same box. The nonce is a MAC of
   * both, so each nonce is used for one text only (as in RFC 5297). Reveals only whether two texts are equal.
   */
  sealFixed(plain: Buffer, context: string): Buffer
  /** HMAC-SHA-256 with the key of this purpose. */
  mac(purpose: string, data: Buffer): Buffer
  /** Whether these are the first octets of the {@link mac} of the data with one of the known keys; compares in constant time. */
  isMac(purpose: string, data: Buffer, octets: Buffer): boolean
  /** HMAC-SHA-256 with a key that stays the same when SECRET_KEY is rotated: the plain value is not stored, so it cannot be hashed again. */
  pseudonym(purpose: Pseudonym, data: Buffer): Buffer
  /** Whether the box was sealed with the key in use. */
  isCurrent(box: Buffer, context: string): boolean
  /** Identifies the key in use without revealing it. */
  readonly fingerprint: string
  /** The fingerprint of each known key: first SECRET_KEY, then SECRET_KEY_PREVIOUS. */
  readonly known: readonly string[]
  /**
   * Uses the key with this fingerprint from now on, and these keys of {@link pseudonym}. Returns false for a key that is not known.
   */
  use(fingerprint: string, pseudonymKeys: string | undefined): boolean
  /** The keys of {@link pseudonym}, sealed with SECRET_KEY. */
  sealPseudonymKeys(): string
  /** For {@link createSecrets} in a thread, which follows the key that its process uses. */
  readonly shared: SharedKeys
}

/** The purposes of {@link Secrets.pseudonym}. A new one is added to the sealed keys when SECRET_KEY is rotated the next time. */
export const PSEUDONYMS = [
  'forgotten recipient',
  'audit address',
  'recipient hold',
  'feedback sender',
  'evidence recipient',
] as const
export type Pseudonym = (typeof PSEUDONYMS)[number]

/** Secret: not for logs. */
export interface SharedKeys {
  readonly secretKeys: readonly string[]
  /** The index of the key in use, in shared memory. */
  readonly inUse: Int32Array
}

/** One SECRET_KEY with the keys that are derived from it. */
interface DerivedKeys {
  readonly fingerprint: string
  readonly sealKey: KeyObject
  macKey(purpose: string): KeyObject
}

const VERSION = 1

/** Keys are those of SECRET_KEY and SECRET_KEY_PREVIOUS. The first is in use until {@link Secrets.use} selects another. */
export function createSecrets(keys: string | readonly string[] | SharedKeys): Secrets {
  const shared = sharedKeys(keys)
  const { inUse } = shared
  const derived = shared.secretKeys.map(derive)
  let pseudonymKeys: { readonly sealed: string; readonly keys: ReadonlyMap<string, KeyObject> } | undefined

  const current = (): DerivedKeys => derived[inUse[0] ?? 0] as DerivedKeys
  const mac = (purpose: string, data: Buffer): Buffer => macWith(current().macKey(purpose), data)

  /** First with the key in use, which nearly all values were made with. Throws the error of the last key. */
  function open(box: Buffer, context: string): Buffer {
    try {
      return openWith(current(), box, context)
    } catch (error) {
      for (const key of derived) {
        if (key === current()) continue
        try {
          return openWith(key, box, context)
        } catch {
          // Sealed with another key, or altered.
        }
      }
      throw error
    }
  }

  return {
    shared,
    known: derived.map(({ fingerprint }) => fingerprint),
    get fingerprint() {
      return current().fingerprint
    },
    seal: (plain, context) => sealWith(current().sealKey, randomBytes(12), plain, context),
    sealFixed(plain, context) {
      const key = current()
      const nonce = macWith(key.macKey(`nonce ${context}`), plain).subarray(0, 12)
      return sealWith(key.sealKey, nonce, plain, context)
    },
    mac,
    isMac: (purpose, data, octets) =>
      octets.length > 0 &&
      (startsWith(mac(purpose, data), octets) ||
        derived.some((key) => key !== current() && startsWith(macWith(key.macKey(purpose), data), octets))),
    pseudonym(purpose, data) {
      const kept = pseudonymKeys?.keys.get(purpose)
      return kept ? macWith(kept, data) : mac(purpose, data)
    },
    open,
    isCurrent(box, context) {
      try {
        openWith(current(), box, context)
        return true
      } catch {
        return false
      }
    },
    use(fingerprint, sealed) {
      const index = derived.findIndex((key) => key.fingerprint === fingerprint)
      if (index === -1) return false
      if (sealed !== undefined && sealed !== pseudonymKeys?.sealed) {
        const plain = open(Buffer.from(sealed, 'base64'), PSEUDONYM_CONTEXT).toString()
        const keys = Object.entries(JSON.parse(plain) as Record<string, string>)
        pseudonymKeys = {
          sealed,
          keys: new Map(keys.map(([purpose, key]) => [purpose, createSecretKey(Buffer.from(key, 'base64'))])),
        }
      }
      // After the keys of pseudonyms: until there are some, pseudonyms are made with the key in use.
      inUse[0] = index
      return true
    },
    sealPseudonymKeys() {
      const keys = PSEUDONYMS.map((purpose) => [
        purpose,
        (pseudonymKeys?.keys.get(purpose) ?? current().macKey(purpose)).export().toString('base64'),
      ])
      const plain = Buffer.from(JSON.stringify(Object.fromEntries(keys)))
      return sealWith((derived[0] as DerivedKeys).sealKey, randomBytes(12), plain, PSEUDONYM_CONTEXT).toString('base64')
    },
  }
}

const PSEUDONYM_CONTEXT = 'pseudonym keys'

function sharedKeys(keys: string | readonly string[] | SharedKeys): SharedKeys {
  if (typeof keys === 'object' && 'inUse' in keys) return keys
  const secretKeys = typeof keys === 'string' ? [keys] : keys
  return { secretKeys, inUse: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) }
}

function derive(secretKey: string): DerivedKeys {
  const derived = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secretKey, 'postrider', purpose, 32))
  // KeyObjects take two thirds of the time for a seal and a sixth for a MAC.
  const macKeys = new Map<string, KeyObject>()
  return {
    fingerprint: derived('fingerprint').toString('hex').slice(0, 32),
    sealKey: createSecretKey(derived('seal')),
    macKey(purpose) {
      let key = macKeys.get(purpose)
      if (!key) macKeys.set(purpose, (key = createSecretKey(derived(`mac ${purpose}`))))
      return key
    },
  }
}

function macWith(key: KeyObject, data: Buffer): Buffer {
  return createHmac('sha256', key).update(data).digest()
}

function sealWith(key: KeyObject, nonce: Buffer, plain: Buffer, context: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(context))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), text])
}

function openWith({ sealKey }: DerivedKeys, box: Buffer, context: string): Buffer {
  if (box[0] !== VERSION || box.length < 29) throw new Error('sealed value has an unknown form')
  const decipher = createDecipheriv('aes-256-gcm', sealKey, box.subarray(1, 13))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(box.subarray(13, 29))
  return Buffer.concat([decipher.update(box.subarray(29)), decipher.final()])
}

function startsWith(whole: Buffer, octets: Buffer): boolean {
  return sameSecret(whole.subarray(0, octets.length), octets)
}

/** Compares in constant time; false if the lengths differ. */
export function sameSecret(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Returns the secret key of this installation: SECRET_KEY, or the content of DATA_DIR/secret-key, which is created on
 * first use with mode 0600. Two processes that start at the same time get the same key.
 *
 * Throws a ConfigError if the file is empty.
 */
export function loadSecretKey(secretKey: string | undefined, dataDir: string): string {
  if (secretKey) return secretKey
  const path = secretKeyFile(dataDir)
  if (!existsSync(path)) writeOnce(path, `${randomBytes(32).toString('base64url')}\n`)
  return readKept(path, LOST_KEY)
}

/** The file of the secret key of an installation that does not set SECRET_KEY. */
export function secretKeyFile(dataDir: string): string {
  return join(dataDir, 'secret-key')
}

const LOST_KEY =
  'restore it from a backup, or set SECRET_KEY to its former content. Delete it, together with the database, only if the ' +
  'installation never stored mail or domains'

interface KeySettings {
  readonly secretKey: string | undefined
  readonly previousSecretKeys: readonly string[]
  readonly dataDir: string
}

/** The keys of these settings, with {@link loadSecretKey}. */
export function loadSecrets({ secretKey, previousSecretKeys, dataDir }: KeySettings): Secrets {
  return createSecrets([loadSecretKey(secretKey, dataDir), ...previousSecretKeys])
}

/** Like {@link loadSecrets}, but creates no key: undefined if there is none. */
export function findSecrets({ secretKey, previousSecretKeys, dataDir }: KeySettings): Secrets | undefined {
  const key = findSecretKey(secretKey, dataDir)
  return key === undefined ? undefined : createSecrets([key, ...previousSecretKeys])
}

/** Like {@link loadSecretKey}, but creates none: undefined if there is no key. */
export function findSecretKey(secretKey: string | undefined, dataDir: string): string | undefined {
  const path = secretKeyFile(dataDir)
  return secretKey || (existsSync(path) ? readKept(path, LOST_KEY) : undefined)
}
