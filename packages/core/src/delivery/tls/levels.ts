/**
 * TLS levels, the weakest first: demands on the connection to a recipient's server. `opportunistic`: TLS where it is offered (RFC 7435);
 * `required`: TLS with any certificate; `verified`: with a certificate that is valid for the host; `sts`: verified, and the host is
 * listed in the MTA-STS policy of the recipient's domain (RFC 8461); `dane`: with a certificate that matches the TLSA records of the host
 * (RFC 7672).
 */
export const TLS_LEVELS = ['opportunistic', 'required', 'verified', 'sts', 'dane'] as const

export type TlsLevel = (typeof TLS_LEVELS)[number]

/** The levels that a message, an account or the operator can demand. */
export const TLS_DEMANDS = ['required', 'verified', 'dane'] as const

export type TlsDemand = (typeof TLS_DEMANDS)[number]

/**
 * Where a demand comes from: the message, the account's rule for the recipient's domain or for all, the operator's rule for the domain or for
 * all, the provider table, the MTA-STS policy of the recipient's domain, or the TLSA records of the host.
 */
export const TLS_ORIGINS = [
  'message',
  'account-domain',
  'account',
  'domain',
  'operator',
  'provider',
  'mta-sts',
  'dane',
] as const

export type TlsOrigin = (typeof TLS_ORIGINS)[number]

const ORIGINS: Readonly<Record<TlsOrigin, string>> = {
  message: 'the message',
  'account-domain': "the account's rule for this domain",
  account: "the account's rule for all domains",
  domain: "the operator's rule for this domain",
  operator: "the operator's rule for all domains",
  provider: 'the rule of this service for this provider',
  'mta-sts': "the MTA-STS policy of the recipient's domain",
  dane: 'the TLSA records of its host (DANE)',
}

/** The origin of a TLS demand, after "demanded by". */
export function tlsOriginText(origin: TlsOrigin): string {
  return ORIGINS[origin]
}

/** The demand of a delivery on its connection; without an origin there is none. */
export interface TlsNeed {
  readonly level: TlsLevel
  readonly origin?: TlsOrigin
}

/** The demand of a message that no policy applies to: a TLS report must arrive even if TLS fails. Only the service itself has it. */
export const UNDEMANDING = 'opportunistic'

/** The error of a wrong level. */
export const TLS_PROBLEM = 'must be required, verified or dane'

export function isTlsDemand(text: string): text is TlsDemand {
  return (TLS_DEMANDS as readonly string[]).includes(text)
}

/** Whether `level` demands at least what `least` demands. */
export function isAtLeast(level: TlsLevel, least: TlsLevel): boolean {
  return TLS_LEVELS.indexOf(level) >= TLS_LEVELS.indexOf(least)
}

/** Returns the strongest of the demands, of equal ones the first; opportunistic if there are none. */
export function strongestNeed(demands: Iterable<readonly [origin: TlsOrigin, level: TlsLevel | undefined]>): TlsNeed {
  let strongest: TlsNeed = { level: 'opportunistic' }
  for (const [origin, level] of demands)
    if (level !== undefined && !isAtLeast(strongest.level, level)) strongest = { level, origin }
  return strongest
}
