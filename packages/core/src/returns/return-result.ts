import type { ReturnPathTarget } from '../delivery/return-path.ts'
import type { ReturnReading } from './read/index.ts'

/** The content of a message. `failed`: reading it took too long; `letter`: it is for the operator, and not a report. */
export type Reading = ReturnReading | { readonly kind: 'failed' } | { readonly kind: 'letter' }
/** Mail to `dmarc@` and `tlsrpt@` that is an aggregate report. */
export type ReportKind = 'dmarc-report' | 'tls-report'
export type ReturnKind = Reading['kind'] | ReportKind

/** In the order of the documentation. */
export const RETURN_KINDS = [
  'bounce',
  'complaint',
  'opt-out',
  'not-spam',
  'auth-failure',
  'auto-reply',
  'dmarc-report',
  'tls-report',
  'letter',
  'unrecognised',
  'failed',
] as const satisfies readonly ReturnKind[]

/** The effect of a report. */
export interface ReturnEffect {
  readonly effect: 'bounced' | 'complained' | 'unsubscribed' | 'recorded' | 'none'
  /** Why there is none; null if there is one. */
  readonly why: keyof typeof NO_EFFECT | null
}

export interface ReturnResult extends ReturnEffect {
  readonly kind: ReturnKind
  /** Null if it has no valid mark. */
  readonly delivery: ReturnPathTarget | null
}

export const NO_EFFECT = {
  unrecognised: 'not a report that can be read',
  failed: 'reading it took too long',
  letter: 'a letter to the operator',
  'auto-reply': 'an automatic reply',
  'not-spam': 'the recipient says that the message is not spam',
  'auth-failure': 'a report on the authentication of a message',
  'not-failed': 'no failure is reported',
  unsigned: 'neither its recipient nor the returned message has a valid mark of this service',
  gone: 'the message is no longer stored, or its recipient was erased',
  'in-flight': 'an attempt is in progress; its result must be known first',
  waiting: 'the delivery waits for another attempt, and no server has the message as far as is known',
  'not-delivered': 'the delivery had failed before',
  repeated: 'reported before',
  'no-report': 'no attachment can be a report',
  'report-too-large':
    'the report exceeds a limit: 50 MiB unpacked, 10 MiB of JSON, 100 times its packed size, 100,000 records',
  'report-malformed': 'the report is damaged, is not XML or JSON in UTF-8, has a DOCTYPE, or lacks what identifies it',
  'other-domain': 'the report is about a domain that no account has',
  'report-limit': 'too many reports about this domain were recorded within a day',
  dns: 'the DNS does not answer at the moment whether its sender has signed it',
} as const

/** Why a message must be taken again: what follows from it is not known yet. */
export function isTemporary(why: ReturnEffect['why']): why is 'in-flight' | 'dns' {
  return why === 'in-flight' || why === 'dns'
}

/** The state of a letter that is to be passed on to the operator. */
export type Forward = 'waiting' | 'excess' | 'sent' | 'summarised' | 'own' | 'automatic' | 'failed'
