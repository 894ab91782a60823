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

/** Returns the strongest of the levels; opportunistic if there are none. */
export function strongestLevel(levels: Iterable<TlsLevel | undefined>): TlsLevel {
  let strongest: TlsLevel = 'opportunistic'
  for (const level of levels) if (level !== undefined && isAtLeast(level, strongest)) strongest = level
  return strongest
}
