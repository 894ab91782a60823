/**
 * Demands of large receivers. `spf`, `dkim`, `dmarc`, `alignment` and `from` are about the domain, `oneClick` and `complaints` about its mail, `ptr`,
 * `tls` and `format` about this service.
 */
export type RequirementName =
  | 'dkim'
  | 'spf'
  | 'dmarc'
  | 'alignment'
  | 'oneClick'
  | 'complaints'
  | 'from'
  | 'ptr'
  | 'tls'
  | 'format'

/** A page of a receiver, and the day on which its demands were compared with this table. */
export interface RequirementSource {
  readonly address: string
  readonly read: string
}

export interface Receiver {
  readonly name: string
  readonly label: string
  /** Its providers in providers.yaml. */
  readonly providers: readonly string[]
  /** Messages per day to its personal accounts from which a sender counts as large, with all its subdomains; null if it publishes none. */
  readonly bulkFrom: number | null
  readonly sources: readonly RequirementSource[]
  /** Its demands on every sender. */
  readonly all: readonly RequirementName[]
  /** Its additional demands on large senders. */
  readonly bulk: readonly RequirementName[]
}

/** RFC 8301 3.2, and the least that Gmail takes. */
export const MIN_DKIM_BITS = 1024

/** Complaints as a share of delivered messages: Gmail asks for less than the first, and Gmail and Yahoo demand less than the second. */
export const COMPLAINT_SHARES = { near: 0.001, most: 0.003 } as const

/**
 * The demands as published. Of every sender Gmail and Yahoo demand SPF or DKIM; a domain of this service always has DKIM to become active, so both are
 * listed where both are demanded. Compared with copies of the pages, since they are written for people; compare them again after a change there.
 */
export const RECEIVERS: readonly Receiver[] = [
  {
    name: 'google',
    label: 'Gmail',
    providers: ['google'],
    bulkFrom: 5000,
    sources: [{ address: 'https://support.google.com/a/answer/81126', read: '2026-11-29' }],
    all: ['ptr', 'tls', 'complaints', 'from', 'format'],
    bulk: ['spf', 'dkim', 'dmarc', 'alignment', 'oneClick'],
  },
  {
    name: 'yahoo',
    label: 'Yahoo',
    providers: ['yahoo'],
    bulkFrom: null,
    sources: [{ address: 'https://senders.yahooinc.com/best-practices/', read: '2026-11-29' }],
    all: ['ptr', 'complaints', 'format'],
    bulk: ['spf', 'dkim', 'dmarc', 'alignment', 'oneClick'],
  },
  {
    name: 'microsoft',
    label: 'Microsoft',
    providers: ['outlook', 'office365'],
    bulkFrom: 5000,
    sources: [
      {
        address:
          'https://techcommunity.microsoft.com/blog/microsoftdefenderforoffice365blog/' +
          'strengthening-email-ecosystem-outlook%E2%80%99s-new-requirements-for-high%E2%80%90volume-senders/4399730',
        read: '2026-11-29',
      },
      { address: 'https://sendersupport.olc.protection.outlook.com/pm/policies.aspx', read: '2026-11-29' },
    ],
    all: ['ptr', 'format'],
    bulk: ['spf', 'dkim', 'dmarc', 'alignment'],
  },
]

/** Returns all demands of a receiver on large senders. */
export function demandsOf({ all, bulk }: Receiver): readonly RequirementName[] {
  return [...bulk, ...all]
}
