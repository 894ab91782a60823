import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { LinkPurpose } from '../links.ts'
import { sha256 } from '../tokens.ts'

/** Challenges that are stored only when they are used, so that asking for any number of them costs no memory. */
export interface Challenges {
  /** Random octets, the time of expiry, and a MAC of both and of the purpose: 48 octets in base64url. */
  make(): string
  /** Whether this installation made the challenge for the purpose, and it has not expired. */
  isOurs(challenge: string): boolean
  /** Uses a challenge up: false if it was used before, in any process. */
  use(sql: AnySql, challenge: string): Promise<boolean>
}

const RANDOM = 16
const TIME = 8
const LENGTH = 48
const MINUTES = 5

/** `context`: the user, for a challenge that only this user may use. */
export function createChallenges(
  { secrets, clock }: { readonly secrets: Secrets; readonly clock: Clock },
  purpose: LinkPurpose,
  context = '',
): Challenges {
  const use = `challenge ${purpose} ${context}`
  return {
    make() {
      const time = Buffer.alloc(TIME)
      time.writeBigUInt64BE(BigInt(clock.now() + MINUTES * 60_000))
      const data = Buffer.concat([randomBytes(RANDOM), time])
      return Buffer.concat([data, secrets.mac(use, data).subarray(0, LENGTH - RANDOM - TIME)]).toString('base64url')
    },
    isOurs(challenge) {
      const bytes = Buffer.from(challenge, 'base64url')
      if (bytes.length !== LENGTH || bytes.toString('base64url') !== challenge) return false
      const data = bytes.subarray(0, RANDOM + TIME)
      return (
        secrets.isMac(use, data, bytes.subarray(RANDOM + TIME)) && Number(data.readBigUInt64BE(RANDOM)) > clock.now()
      )
    },
    async use(sql, challenge) {
      const rows = await sql`
        insert into one_time_links (hash, purpose, used_at, expires_at)
        values (${sha256(challenge)}, ${purpose}, service_now(), service_now() + make_interval(mins => ${MINUTES}::int))
        on conflict do nothing`
      return rows.count > 0
    },
  }
}
