import type { KeyObject } from 'node:crypto'

/**
 * - pending: claimed, its records have never been valid; other accounts may claim the name too
 * - active: mail may be sent from it
 * - inactive: its records were invalid for longer than the grace time; active again as soon as they are valid
 * - rejected: blocked by the operator; checks do not change that
 */
export type DomainState = 'pending' | 'active' | 'inactive' | 'rejected'

/** A domain an account may send from. */
export interface Domain {
  readonly id: number
  readonly accountId: number
  /** Lower-case A-label. */
  readonly name: string
  readonly state: DomainState
  /** Labels below the domain that name the tracking host for opens, clicks and unsubscribes; null if none. */
  readonly envelopeName: string | null
  /** Whether the account's subaccounts may send from it too. */
  readonly shared: boolean
  /** Whether its mail is signed with Ed25519, too, once the record of that key was found. */
  readonly ed25519: boolean
  /** The domain's own return path host, once verified; otherwise null. */
  readonly returnPathHost: string | null
  readonly createdAt: Date
  readonly checkedAt: Date | null
  /** When all required records were last valid. */
  readonly verifiedAt: Date | null
  /** Since when the required records of a verified domain have been invalid. */
  readonly brokenSince: Date | null
  /** When the claim of a pending domain expires, unless its records become valid before. */
  readonly claimEndsAt: Date | null
}

/** A domain with the data needed to accept a message. */
export interface UsableDomain extends Domain {
  /** The domain's own tracking host if its record is valid; otherwise null. */
  readonly trackingHost: string | null
}

export type RecordPurpose = 'dkim' | 'spf' | 'returnPath' | 'envelope' | 'dmarc'

/** `unchecked`: no DNS query has succeeded yet. */
export type RecordState = 'unchecked' | 'right' | 'wrong' | 'missing'

/** next: signs as soon as its record exists; retiring: no longer signs, but its signatures must still be verifiable. */
export type DkimKeyState = 'next' | 'active' | 'retiring' | 'retired'

/** RFC 8301, RFC 8463. Each domain has an RSA key; some have an Ed25519 key, too. */
export type DkimAlgorithm = 'rsa' | 'ed25519'

/**
 * A mistake in publishing a record: a long text was cut; quotation marks are part of the text; the DNS host appended the domain to a name that had it
 * already; the record is at another host.
 */
export type RecordFault = 'cut' | 'quoted' | 'doubled' | 'elsewhere'

/** A DNS record that the owner of a domain should publish. */
export interface WantedRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly host: string
  readonly value: string
  /** The strings of a TXT record that is too long for one. */
  readonly strings?: readonly string[]
  /** Names a host of the service that no other machine can find, so the value will change. */
  readonly provisional?: boolean
  readonly purpose: RecordPurpose
  /** State of the key of a DKIM record. */
  readonly key?: DkimKeyState
  /** The algorithm of the key of a DKIM record. */
  readonly algorithm?: DkimAlgorithm
}

/** Result of the last successful DNS query. */
export interface SeenRecord {
  readonly state: RecordState
  /** The values found instead. */
  readonly found?: readonly string[]
  /** Why the record is invalid, or why the state is outdated. */
  readonly problem?: string
  /** The mistake, if it is a frequent one. */
  readonly fault?: RecordFault
}

export interface DnsRecord extends WantedRecord, SeenRecord {
  readonly verified: boolean
  /** Whether the domain cannot be active without it. */
  readonly required: boolean
}

export interface DomainWithRecords extends Domain {
  readonly dns: readonly DnsRecord[]
}

/** A key that signs. It is parsed once, since parsing a PEM costs three times as much as a signature. */
export interface SigningKey {
  readonly selector: string
  readonly privateKey: KeyObject
}

/** Data for DKIM signing (RFC 6376): its own key is RSA. */
export interface DkimSigner extends SigningKey {
  readonly domain: string
  /** The key of the second signature (RFC 8463); null if the domain has none whose record was right at the last check. */
  readonly ed25519: SigningKey | null
}

/** Data for sending a message from this domain. */
export interface DomainSigner extends DkimSigner {
  /** Host that bounces go to; null for the service's own host. */
  readonly returnPathHost: string | null
}
