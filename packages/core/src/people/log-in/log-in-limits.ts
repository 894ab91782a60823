import {
  DAY,
  HOUR,
  MINUTE,
  type Rate,
  type RateLimits,
  requireAllowed,
  type Standing,
} from '../../accounts/rate-limits/index.ts'
import { networkOf } from '../../platform/net/networks.ts'
import { sha256 } from '../tokens.ts'

/** Log-ins that fail: for one name from one network, and from one network for any names. */
const PER_NAME = { limit: 5, seconds: 15 * MINUTE }
const PER_NETWORK = { limit: 50, seconds: HOUR }
/** Codes of a second factor that one user may try, from anywhere. */
const CODES = { limit: 10, seconds: 15 * MINUTE }
/** Passwords that one user may set while logged in. */
const CHANGES = { limit: 10, seconds: 15 * MINUTE }
/** Mails with links to one address, and those that one network may ask for. */
const MAILS_TO = { limit: 3, seconds: HOUR }
/** Invitations of one account, and those of all accounts to one address. */
const INVITATIONS = { limit: 50, seconds: HOUR }
const INVITATIONS_OF_DAY = { limit: 100, seconds: DAY }
const INVITATIONS_TO = { limit: 3, seconds: DAY }
const MAILS_FROM = { limit: 20, seconds: HOUR }

/** Limits that all processes share. Each returns the seconds to wait, or how to give back what was not a failure. */
export interface LogInLimits {
  logIn(name: string, address: string): Promise<Allowed | Refused>
  code(userId: number): Promise<Allowed | Refused>
  mail(emailKey: string, address: string): Promise<Allowed | Refused>
  /** Throws rateLimited. */
  passwordChange(userId: number): Promise<void>
  /** Throws rateLimited. */
  invitation(accountId: number, emailKey: string): Promise<void>
}

export interface Allowed {
  readonly allowed: true
  /** For a log-in that succeeded, which does not count. */
  release(): void
}

export interface Refused {
  readonly allowed: false
  readonly retryAfter: number
}

export function createLogInLimits(rateLimits: RateLimits): LogInLimits {
  async function take(rates: readonly Rate[]): Promise<Allowed | Refused> {
    const taken: Standing[] = []
    for (const rate of rates) {
      const standing = await rateLimits.take([rate])
      if (standing.refused) return { allowed: false, retryAfter: standing.retryAfter }
      taken.push(standing)
    }
    return {
      allowed: true,
      release() {
        for (const standing of taken) rateLimits.release(1, standing)
      },
    }
  }
  const rate = (name: string, what: string, { limit, seconds }: { limit: number; seconds: number }): Rate => ({
    name,
    what,
    limit,
    seconds,
  })

  return {
    logIn: (name, address) =>
      take([
        rate(`log-in from ${networkOf(address)}`, 'log-ins from this network', PER_NETWORK),
        rate(`log-in ${digest(name)} ${networkOf(address)}`, 'log-ins', PER_NAME),
      ]),
    code: (userId) => take([rate(`code ${userId}`, 'codes', CODES)]),
    async passwordChange(userId) {
      requireAllowed(await rateLimits.take([rate(`passwords ${userId}`, 'new passwords in 15 minutes', CHANGES)]))
    },
    async invitation(accountId, emailKey) {
      const rates = [
        rate(`invitations to ${digest(emailKey)}`, 'invitations per day to this address', INVITATIONS_TO),
        rate(`invitations ${accountId}`, 'invitations per hour', INVITATIONS),
        rate(`invitations of day ${accountId}`, 'invitations per day', INVITATIONS_OF_DAY),
      ]
      requireAllowed(await rateLimits.take(rates))
    },
    mail: (emailKey, address) =>
      take([
        rate(`links from ${networkOf(address)}`, 'requests for a link from this network', MAILS_FROM),
        rate(`links to ${digest(emailKey)}`, 'links to this address', MAILS_TO),
      ]),
  }
}

/** The hash of a name, since clients send names of any length. */
function digest(name: string): string {
  return sha256(name).toString('base64url')
}
