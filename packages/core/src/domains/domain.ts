import type { KeyObject } from 'node:crypto'

/**
 * - pending: claimed, and its records were never seen right; others may claim the name too
 * - active: mail may be sent from it
 * - inactive: its records were right, then wrong for longer than the grace time; active again once they are right
 * - rejected: the operator does not want it; no look-up changes that
 */
export type DomainState = 'pending' | 'active' | 'inactive' | 'rejected'

/** A domain an account may send from. */
export interface Domain {
  readonly id: number
  readonly accountId: number
  /** Lower-case A-label. */
  readonly name: string
  readonly state: DomainState
  /** Labels below the domain: the host that opens, clicks and unsubscribes go to. */
  readonly envelopeName: string | null
  /** Subaccounts of its account may send from it too. */
  readonly shared: boolean
  /** The account's own host for bounces, once verified. */
  readonly returnPathHost: string | null
  readonly createdAt: Date
  readonly checkedAt: Date | null
  /** When the required records were last seen right. */
  readonly verifiedAt: Date | null
  /** Since when the required records of a domain that was verified are wrong. */
  readonly brokenSince: Date | null
  /** Of a pending domain: when the claim is gone, unless its records are seen right before. */
  readonly claimEndsAt: Date | null
}

/** A domain as a message is accepted from it. */
export interface UsableDomain extends Domain {
  /** The domain's own host for opens, clicks and unsubscribes, while its record is right. */
  readonly trackingHost: string | null
}

export type RecordPurpose = 'dkim' | 'spf' | 'returnPath' | 'envelope' | 'dmarc'

/** `unchecked`: the DNS has not answered yet. */
export type RecordState = 'unchecked' | 'right' | 'wrong' | 'missing'

/** next: signs once its record was seen; retiring: signs no more, but what it signed is still to be verified. */
export type DkimKeyState = 'next' | 'active' | 'retiring' | 'retired'

/** A DNS record the owner of a domain is to set. */
export interface WantedRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly host: string
  readonly value: string
  readonly purpose: RecordPurpose
  /** Of a DKIM record: what its key does. */
  readonly key?: DkimKeyState
}

/** What the last look-up that was answered saw. */
export interface SeenRecord {
  readonly state: RecordState
  /** What stands there instead. */
  readonly found?: readonly string[]
  /** What is wrong with it, or why the state is an old one. */
  readonly problem?: string
}

export interface DnsRecord extends WantedRecord, SeenRecord {
  readonly verified: boolean
  /** The domain is not active without it. */
  readonly required: boolean
}

export interface DomainWithRecords extends Domain {
  readonly dns: readonly DnsRecord[]
}

/** What the delivery worker signs with (RFC 6376): parsed once, since parsing a PEM costs three times the signature. */
export interface DkimSigner {
  readonly domain: string
  readonly selector: string
  readonly privateKey: KeyObject
}

/** What a message from this domain is sent with. */
export interface DomainSigner extends DkimSigner {
  /** Where its bounces go, if not to the service's own host. */
  readonly returnPathHost: string | null
}
