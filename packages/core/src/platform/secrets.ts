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
import type { AnySql } from './database/database.ts'
import { readKept, writeOnce } from './write-once.ts'

/**
 * The uses of SECRET_KEY. Each use has its own derived key (HKDF, RFC 5869), so that none can be used in place of
 * another.
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
  /** Identifies the key without revealing it. */
  readonly fingerprint: string
}

const VERSION = 1

export function createSecrets(secretKey: string): Secrets {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secretKey, 'postrider', purpose, 32))
  // KeyObjects take two thirds of the time for a seal and a sixth for a MAC.
  const sealKey = createSecretKey(derive('seal'))
  const macKeys = new Map<string, KeyObject>()

  const sealWith = (key: KeyObject, nonce: Buffer, plain: Buffer, context: string): Buffer => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(Buffer.from(context))
    const text = Buffer.concat([cipher.update(plain), cipher.final()])
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), text])
  }
  const mac = (purpose: string, data: Buffer): Buffer => {
    let key = macKeys.get(purpose)
    if (!key) macKeys.set(purpose, (key = createSecretKey(derive(`mac ${purpose}`))))
    return createHmac('sha256', key).update(data).digest()
  }

  return {
    fingerprint: derive('fingerprint').toString('hex').slice(0, 32),
    seal: (plain, context) => sealWith(sealKey, randomBytes(12), plain, context),
    sealFixed: (plain, context) => sealWith(sealKey, mac(`nonce ${context}`, plain).subarray(0, 12), plain, context),
    mac,

    open(box, context) {
      if (box[0] !== VERSION || box.length < 29) throw new Error('sealed value has an unknown form')
      const decipher = createDecipheriv('aes-256-gcm', sealKey, box.subarray(1, 13))
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(box.subarray(13, 29))
      return Buffer.concat([decipher.update(box.subarray(29)), decipher.final()])
    },
  }
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
  'restore it from a backup, or set SECRET_KEY to its former content. Delete it, together with the database, only if the installation never stored mail or domains'

/** Like {@link loadSecretKey}, but creates none: undefined if there is no key. */
export function findSecretKey(secretKey: string | undefined, dataDir: string): string | undefined {
  const path = secretKeyFile(dataDir)
  return secretKey || (existsSync(path) ? readKept(path, LOST_KEY) : undefined)
}

/**
 * Ensures that all hosts of a database use the same SECRET_KEY: the first process stores the fingerprint of its key,
 * and all others must match it. With another key, a process could neither read DKIM keys nor recognise return paths.
 * Returns whether the key matches.
 */
export async function agreeOnSecret(sql: AnySql, secrets: Secrets): Promise<boolean> {
  const agrees = await secretAgrees(sql, secrets)
  if (agrees !== undefined) return agrees
  await sql`insert into instance (name, value) values (${FINGERPRINT}, ${secrets.fingerprint}) on conflict do nothing`
  return agreeOnSecret(sql, secrets)
}

const FINGERPRINT = 'secret key fingerprint'

/** Whether the database was set up with this key; undefined if no process has used it yet. */
export async function secretAgrees(sql: AnySql, secrets: Secrets): Promise<boolean | undefined> {
  const [kept] = await sql<{ value: string }[]>`select value from instance where name = ${FINGERPRINT}`
  return kept && kept.value === secrets.fingerprint
}
