import type { KeyObject } from 'node:crypto'

export type DomainState = 'pending' | 'active' | 'rejected'

/** A domain an account may send from. */
export interface Domain {
  readonly id: number
  readonly accountId: number
  /** Lower-case A-label. */
  readonly name: string
  readonly state: DomainState
  /** The account's own host for bounces, once verified. */
  readonly returnPathHost: string | null
  readonly createdAt: Date
}

/** A DNS record the owner of a domain is to set. */
export interface DnsRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly host: string
  readonly value: string
  readonly purpose: 'dkim' | 'spf' | 'dmarc'
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
