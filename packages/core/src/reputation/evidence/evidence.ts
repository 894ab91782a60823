import type { Listing, RecordCheck } from '../../delivery/sources/index.ts'
import type { RecordState } from '../../domains/domain.ts'
import type { ProviderFigure } from '../provider-figures/store.ts'

/** Selects the mail that evidence is collected of. */
export interface EvidenceQuery {
  /** A provider of the providers' file. */
  readonly provider: string
  /** Only mail from this source; null for all. */
  readonly source: string | null
  /** Whole days before today (UTC), 1 to 30. */
  readonly days: number
}

/** Counts of results. */
export interface Outcomes {
  readonly attempts: number
  readonly delivered: number
  readonly deferred: number
  readonly hard: number
  readonly soft: number
  /** Of hard and soft: those that a filter or policy caused, and those reported later. */
  readonly blocked: number
  readonly late: number
  readonly complained: number
  readonly unsubscribed: number
}

export interface DayOutcomes extends Outcomes {
  /** Such as 2030-01-31, UTC. */
  readonly day: string
}

/** A source with the results of its last checks. */
export interface EvidenceSource {
  readonly name: string
  readonly addresses: readonly string[]
  readonly helo: string
  readonly isPaused: boolean
  readonly checkedAt: Date | null
  readonly checks: readonly Pick<RecordCheck, 'purpose' | 'type' | 'host' | 'state' | 'found'>[]
  readonly listings: readonly Pick<Listing, 'list' | 'address' | 'state'>[]
}

/** A sending domain, with the states of its records at their last check. */
export interface EvidenceDomain {
  readonly name: string
  readonly attempts: number
  readonly dkim: RecordState
  readonly spf: RecordState
  readonly returnPath: RecordState
  readonly dmarc: RecordState
}

/** A kind of refusal: replies that differ only in numbers, ids and addresses. */
export interface Refusal {
  readonly code: number
  readonly enhanced: string
  /** The latest reply, without addresses; empty if its recipient is no longer known. */
  readonly reply: string
  readonly count: number
  readonly firstAt: Date
  readonly lastAt: Date
  /** Number of different recipients, and keyed hashes of some: only this installation can tell who they are. */
  readonly recipients: number
  readonly hashes: readonly string[]
}

/** Attempts that were looked at: all of the period, or a sample. */
export interface AttemptSample {
  /** Attempts at any provider. */
  readonly lookedAt: number
  /** Of those, at this provider within the period. */
  readonly count: number
  /** Whether these are all attempts of the period. */
  readonly isComplete: boolean
  /** Attempts by protocol version; empty for those without TLS, of sessions that were open. */
  readonly tls: readonly { readonly version: string; readonly attempts: number }[]
  /** The commonest, most first. */
  readonly refusals: readonly Refusal[]
}

/** A limit or hold, now or in the past. */
export interface Measure {
  /** Null if it concerned all mail of the account. */
  readonly place: string | null
  /** The id of the account, as in Feedback-ID; null if it concerned all. */
  readonly accountId: number | null
  readonly setting: string
  readonly value: number | null
  readonly seconds: number | null
  readonly rule: string
  readonly since: Date
  /** Null if it has no end yet. */
  readonly until: Date | null
}

export interface Complaints {
  /** Reports about mail to this provider that were matched to a delivery, of `lookedAt` stored returns. */
  readonly reports: number
  readonly lookedAt: number
  /** Of those, reports that suppressed their recipient; the others repeat earlier ones. */
  readonly suppressed: number
}

/** The facts that this installation has about its mail to a provider. Contains no address and no name of a recipient. */
export interface Evidence {
  readonly kind: 'postrider-evidence'
  readonly version: 1
  readonly provider: string
  readonly source: string | null
  readonly madeAt: Date
  readonly from: Date
  readonly until: Date
  /** The provider's page for questions of senders. */
  readonly contact: string | null
  readonly sender: {
    readonly heloName: string
    readonly returnPathHost: string
    /** If there are none, the operating system chooses the address. */
    readonly sources: readonly EvidenceSource[]
    /** Without sources: the records of the addresses of `heloName`. */
    readonly records: readonly Pick<RecordCheck, 'purpose' | 'type' | 'host' | 'state' | 'found'>[]
  }
  readonly outcomes: Outcomes
  readonly days: readonly DayOutcomes[]
  readonly authentication: {
    /** Attempts by sending domain; each message is signed with its domain's key. */
    readonly attempts: number
    readonly dkim: number
    readonly spf: number
    readonly dmarc: number
    /** Those with the most attempts, of `domainCount`. */
    readonly domains: readonly EvidenceDomain[]
    readonly domainCount: number
  }
  readonly sample: AttemptSample
  readonly complaints: Complaints
  readonly measures: readonly Measure[]
  readonly figures: readonly ProviderFigure[]
}
