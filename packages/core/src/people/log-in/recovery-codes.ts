import { randomBytes } from 'node:crypto'
import type { AnySql } from '../../platform/database/database.ts'
import { sha256 } from '../tokens.ts'

const COUNT = 10
/** Octets that are drawn at a time. */
const BYTES = 15
/** Without letters and digits that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
/** 118 bits: from 112 on, a plain hash is enough (OWASP ASVS 5.0, 6.5.2). Codes that were made with 16 characters remain valid. */
const LENGTH = 24

/** Replaces the recovery codes of a user, and returns the new ones: `abcd-efgh-jkmn-pqrs-tuvw-xyz2`. */
export async function makeRecoveryCodes(sql: AnySql, userId: number): Promise<string[]> {
  const codes = Array.from({ length: COUNT }, makeCode)
  await sql`delete from recovery_codes where user_id = ${userId}`
  for (const code of codes) {
    await sql`insert into recovery_codes (user_id, hash) values (${userId}, ${hashOf(userId, code)})`
  }
  return codes
}

/** Whether the code is one of the user's. It is used up; of several processes exactly one succeeds. */
export async function useRecoveryCode(sql: AnySql, userId: number, code: string): Promise<boolean> {
  const rows = await sql`delete from recovery_codes where user_id = ${userId} and hash = ${hashOf(userId, code)}`
  return rows.count > 0
}

/** Spaces and hyphens do not count. */
function hashOf(userId: number, code: string): Buffer {
  return sha256(`${userId} ${code.slice(0, 100).toLowerCase().replace(/[ -]/g, '')}`)
}

function makeCode(): string {
  let text = ''
  while (text.length < LENGTH) {
    for (const byte of randomBytes(BYTES)) {
      // Octets beyond a multiple of the alphabet's length would favour its first characters.
      if (byte < 256 - (256 % ALPHABET.length) && text.length < LENGTH) text += ALPHABET[byte % ALPHABET.length]
    }
  }
  return (text.match(/.{4}/g) as string[]).join('-')
}
