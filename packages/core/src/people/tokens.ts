import { hash, randomBytes } from 'node:crypto'
import type { Secrets } from '../platform/security/secrets.ts'

/** 256 bits. */
const RANDOM_BYTES = 32
const MAC_BYTES = 8
const PURPOSE = 'session'
/** 43 characters of base64url. */
const TOKEN = /^[\w-]{43}$/
/** The 40 octets of a session's token. */
const SESSION_TOKEN = /^[\w-]{54}$/

/** A random token of 256 bits in base64url; only its hash is stored. */
export function makeToken(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url')
}

/** The hash of a token that the database stores; undefined if the text is not the form of one. */
export function hashToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? sha256(token) : undefined
}

export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

export interface SessionTokens {
  make(): { readonly token: string; readonly hash: Buffer }
  /** The stored hash of a token; undefined for a text that this installation did not make, which costs no query. */
  hashOf(token: string): Buffer | undefined
}

/** Tokens of sessions: 256 random bits, and 64 bits that only the holder of SECRET_KEY can compute. */
export function createSessionTokens(secrets: Secrets): SessionTokens {
  return {
    make() {
      const random = randomBytes(RANDOM_BYTES)
      const token = Buffer.concat([random, secrets.mac(PURPOSE, random).subarray(0, MAC_BYTES)]).toString('base64url')
      return { token, hash: sha256(token) }
    },
    hashOf(token) {
      if (!SESSION_TOKEN.test(token)) return undefined
      const bytes = Buffer.from(token, 'base64url')
      const isOurs = secrets.isMac(PURPOSE, bytes.subarray(0, RANDOM_BYTES), bytes.subarray(RANDOM_BYTES))
      // The last character has spare bits, so that several texts are the same octets: only the canonical one counts.
      return isOurs && bytes.toString('base64url') === token ? sha256(token) : undefined
    },
  }
}
