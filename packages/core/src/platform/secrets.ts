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

/** What SECRET_KEY is good for. Each use has a key of its own (HKDF, RFC 5869), so none of them can stand in for another. */
export interface Secrets {
  /** AES-256-GCM: version octet, nonce (12), tag (16), text. `context` must be the same on reading. */
  seal(plain: Buffer, context: string): Buffer
  /** Throws an Error when the box was altered or sealed under another key or context. */
  open(box: Buffer, context: string): Buffer
  /**
   * Like {@link seal}, but the same text in the same context gives the same box: its nonce is a code of both, so that a nonce
   * serves one text only (as RFC 5297 has it). Tells whether two texts are equal, and nothing else.
   */
  sealFixed(plain: Buffer, context: string): Buffer
  /** HMAC-SHA-256 for one purpose. */
  mac(purpose: string, data: Buffer): Buffer
  /** Tells this key from another without telling the key. */
  readonly fingerprint: string
}

const VERSION = 1

export function createSecrets(secretKey: string): Secrets {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secretKey, 'postrider', purpose, 32))
  // Keys as objects: two thirds of the time a seal takes, and a sixth of what a code does.
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

/** Constant-time comparison; different lengths are simply different. */
export function sameSecret(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * The key of this installation: SECRET_KEY, else DATA_DIR/secret-key, which is made on first use with mode 0600. Two first
 * starts at once agree on one key.
 *
 * Throws a ConfigError when the file is empty.
 */
export function loadSecretKey(secretKey: string | undefined, dataDir: string): string {
  if (secretKey) return secretKey
  const path = join(dataDir, 'secret-key')
  if (!existsSync(path)) writeOnce(path, `${randomBytes(32).toString('base64url')}\n`)
  return readKept(
    path,
    'put it back from a backup, or set SECRET_KEY to what it held. Only an installation that never held mail or domains may remove it, and its database with it',
  )
}

/**
 * Holds the database and this host to one SECRET_KEY: the first process leaves its fingerprint, every other must have the
 * same, or it could neither read DKIM keys nor recognise return paths. Answers whether it is the same.
 */
export async function agreeOnSecret(sql: AnySql, secrets: Secrets): Promise<boolean> {
  const name = 'secret key fingerprint'
  const [kept] = await sql<{ value: string }[]>`select value from instance where name = ${name}`
  if (kept) return kept.value === secrets.fingerprint
  await sql`insert into instance (name, value) values (${name}, ${secrets.fingerprint}) on conflict do nothing`
  return agreeOnSecret(sql, secrets)
}
