/**
 * Failures by which v3 lists addresses. `block`: a server refused a message, for a reason other than that its recipient does not exist, or the message
 * expired. `invalid`: the address was not valid, or its domain does not exist or accepts no mail. Recipients that do not exist are on neither: they are
 * suppressed (delivery/hard-bounces.ts).
 */
export type FailureKind = 'block' | 'invalid'

export interface FailureFilter {
  readonly kind: FailureKind
  /** Between these times, inclusive, in seconds. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Addresses with this prefix, or only these addresses. Lower case. */
  readonly prefix?: string | undefined
  readonly emails?: readonly string[] | undefined
  readonly limit: number
  readonly offset: number
}

/** An address with its last failure of a kind. */
export interface FailedAddress {
  readonly email: string
  readonly since: Date
  /** The reply of the server; null if there is none. */
  readonly code: number | null
  readonly reply: string | null
  /** Enhanced status code (RFC 3463). */
  readonly status: string | null
  /** Without a reply: why, in the words of another service. */
  readonly told?: string | null
}
