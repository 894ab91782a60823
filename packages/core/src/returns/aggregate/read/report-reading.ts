/** The treatment of messages by a receiver. In RFC 9990, `pass` means that no policy had to be applied. */
export const DISPOSITIONS = ['none', 'quarantine', 'reject', 'pass', 'other'] as const
export type Disposition = (typeof DISPOSITIONS)[number]

/** Messages with the same results. */
export interface DmarcGroup {
  /** Null in a sum over several addresses, of which there are too many. */
  readonly sourceIp: string | null
  /** The domain in From, in lower case; empty if there are too many. */
  readonly headerFrom: string
  readonly disposition: Disposition
  /** Whether the DKIM signature, and SPF, were valid and aligned with the domain in From. */
  readonly dkim: boolean
  readonly spf: boolean
  /** `domain selector` of valid DKIM signatures, aligned or not; those of the domain in From first. */
  readonly signedBy: readonly string[]
  /** The domain for which SPF passed; empty if there is none. */
  readonly spfDomain: string
  readonly count: number
}

/** The policy that a receiver found. A tag is absent if the report lacks it. */
export type PublishedPolicy = Readonly<
  Partial<Record<'p' | 'sp' | 'np' | 'adkim' | 'aspf' | 'pct' | 'testing', string>>
>

/** An aggregate report (RFC 7489 appendix C, RFC 9990), unverified. */
export interface DmarcReading {
  readonly kind: 'dmarc'
  readonly organization: string
  /** The domain of the organization's address; empty if it has none. */
  readonly emailDomain: string
  readonly reportId: string
  /** Seconds since 1970. */
  readonly begin: number
  readonly end: number
  /** The domain whose policy it is about. */
  readonly domain: string
  readonly policy: PublishedPolicy
  /** The largest first. */
  readonly groups: readonly DmarcGroup[]
}

/** The failed sessions of a policy with the same reason and host. */
export interface TlsFailure {
  readonly resultType: string
  /** Empty if it is unknown, as for a policy that could not be fetched. */
  readonly receivingMx: string
  readonly failed: number
}

export interface TlsPolicyReading {
  /** `tlsa`, `sts`, `no-policy-found` or `other`. */
  readonly type: string
  readonly domain: string
  readonly successful: number
  readonly failed: number
  /** The largest first. */
  readonly failures: readonly TlsFailure[]
}

/** A TLS report (RFC 8460), unverified. */
export interface TlsReading {
  readonly kind: 'tls'
  readonly organization: string
  readonly emailDomain: string
  readonly reportId: string
  /** Seconds since 1970. */
  readonly begin: number
  readonly end: number
  readonly policies: readonly TlsPolicyReading[]
}
