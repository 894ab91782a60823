import type { Pause } from '../../delivery/limits/overrides.ts'
import type { HoldReason } from '../../delivery/queue/account-holds.ts'
import type { FlowRate } from '../../delivery/queue/flow-progress.ts'
import type { Ahead, AheadByNo } from '../../delivery/queue/line.ts'
import type { Lacking } from '../../delivery/queue/requirement-holds.ts'
import type { Source } from '../../delivery/sources/egress.ts'
import type { LateBounce, MessageRow, RecentAttempts } from './rows.ts'

/** The reasons for which deliveries wait, with their meanings. */
export const WAITING_REASONS = {
  scheduled: 'the time that the sender requested',
  'batch-paused': 'its batch to be resumed',
  retry: 'the next attempt after a temporary rejection or a failure',
  'provider-pause': 'the end of a pause: the provider requested less mail or refused it, or the operator paused it',
  'provider-rate': 'the rate that the provider allows',
  connections: 'a free connection to the provider',
  'warm-up': 'the next hour or day: a new source address may send only a limited number of messages',
  'source-paused': 'its source address, which is paused, or another one of the pool',
  'no-source': 'a worker whose host has the source address',
  'operator-hold': 'the operator to release it',
  'account-held':
    'mail of the account or domain to be released: too much of it bounced or was complained about, it lacks what large receivers demand, or the ' +
    'operator holds it',
  'fair-share': 'its turn: other mail is due as well',
  'no-worker': 'a worker: none is running',
  'set-aside': 'the operator, because workers died while they built the message',
  indeterminate:
    'five minutes or more after the connection was lost at a moment at which the server may have accepted the message',
  dns: 'the next attempt after the mail servers of the domain could not be found',
  moment: 'nothing: it is due now, or an attempt is in progress',
} as const

export type WaitingReason = keyof typeof WAITING_REASONS

/** When the delivery is expected to be tried. */
export interface Expectation {
  /** As likely before as after; null if there is no estimate, for the reason in `basis`. */
  readonly p50: Date | null
  /** With a probability of nine in ten before; null if unknown. */
  readonly p90: Date | null
  /** The figures that the times are derived from. */
  readonly basis: string
}

/** The facts from which the sentences of an explanation are made; what does not apply is absent. Pages word it in the language and zone of their reader. */
export interface WaitingFacts {
  /** Where it waits: a provider, the hosts of a site or a smart host; and the source address, if one is configured. */
  readonly destination?: {
    readonly kind: 'provider' | 'hosts' | 'smart-host'
    readonly name: string
    readonly source?: string
  }
  readonly ahead?: Ahead
  readonly pause?: {
    readonly by: 'operator' | 'refused' | 'asked'
    readonly ofAccount: boolean
    readonly since: Date
    readonly until: Date
    readonly isProbed: boolean
    readonly reply?: string
  }
  readonly batch?: string
  /** Why it is set aside, or why its source is paused. */
  readonly reason?: string
  readonly claimed?: 'working' | 'sent' | 'dead'
  /** `ended`: it is sent again now. */
  readonly hold?:
    | { readonly kind: 'recipient' }
    | { readonly kind: 'one-click' }
    | { readonly kind: 'ended' }
    | { readonly kind: 'domain'; readonly domain: string; readonly lacks: readonly string[] | undefined }
    | {
        readonly kind: 'account'
        readonly rule: string
        readonly isHeld: boolean
        readonly rate: number | null
        readonly reason?: string
      }
  readonly isReleased?: true
}

/** The part of an explanation that depends on the reason. */
export interface Explanation {
  readonly waitingFor: WaitingReason | null
  readonly text: string
  readonly facts?: WaitingFacts | undefined
  readonly since: Date | null
  readonly nextAt: Date | null
  readonly expected: Expectation | null
  readonly ahead: number | null
}

export interface Facts {
  readonly message: MessageRow
  /** The errors in the template or the directives of dropped deliveries, by recipient number. */
  readonly problems: ReadonlyMap<number, string>
  /** By recipient number. */
  readonly late: ReadonlyMap<number, LateBounce>
  /** The reply that caused a pause may be to another account's mail, so only the operator sees it. */
  readonly isOperator: boolean
  readonly ahead: AheadByNo
  /** The workers that are alive. */
  readonly workers: ReadonlySet<number>
  /** By destination. */
  readonly pauses: ReadonlyMap<string, Pause>
  readonly batch: string | undefined
  /** The source addresses, if mail is parked for one. */
  readonly sources: readonly Source[]
  /** How fast the mail of this flow is tried, by destination. */
  readonly rates: ReadonlyMap<string, FlowRate>
  readonly isOtherFlowDue: boolean
  /** Why mail of the account and class is held or slowed; undefined if it is not. */
  readonly hold: HoldReason | undefined
  /** The demands that domains lack whose mail waits for them, by the names of the domains. */
  readonly lacking: ReadonlyMap<string, Lacking>
  readonly recent: RecentAttempts | undefined
}
