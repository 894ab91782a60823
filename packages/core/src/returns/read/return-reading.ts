import type { BounceClass } from '../../delivery/outcomes/bounce-rules.ts'

/** The content of a message that came back. */
export type ReturnReading =
  | BounceReading
  | ComplaintReading
  | NotSpamReading
  | OptOutReading
  | AuthFailureReading
  | { readonly kind: 'auto-reply' }
  | { readonly kind: 'unrecognised' }

/** A report on deliveries. It may also report success or a delay: see the recipients' actions. */
export interface BounceReading {
  readonly kind: 'bounce'
  /** `delivery-status`, or the name of the format by which it was read. */
  readonly format: string
  readonly recipients: readonly ReportedRecipient[]
  readonly marks: Marks
}

export interface ComplaintReading {
  readonly kind: 'complaint'
  readonly feedbackType: FeedbackType
  /** Recipients as reported; most providers redact them. */
  readonly recipients: readonly string[]
  readonly marks: Marks
}

/** A recipient took the message out of the spam folder. */
export interface NotSpamReading {
  readonly kind: 'not-spam'
  readonly marks: Marks
}

export interface OptOutReading {
  readonly kind: 'opt-out'
  readonly marks: Marks
}

/** A failure report of DMARC (RFC 9991): about authentication, and not a complaint. */
export interface AuthFailureReading {
  readonly kind: 'auth-failure'
  readonly marks: Marks
}

/** RFC 5965 7.3. Types that are not registered are read as `other`. */
export type FeedbackType = 'abuse' | 'fraud' | 'virus' | 'other'

/** RFC 3464 2.3.3. */
export const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const
export type Action = (typeof ACTIONS)[number]

export interface ReportedRecipient {
  /** As named by the report; empty if it names no recipient. */
  readonly recipient: string
  readonly action: Action
  /** Enhanced status code (RFC 3463); empty if unknown. */
  readonly status: string
  /** Code of the SMTP reply; 0 if unknown. */
  readonly code: number
  /** The reply or the reason, at most 1,024 characters on one line. */
  readonly text: string
  readonly class: BounceClass
  /** Whether no mail will ever be delivered to the address. */
  readonly hard: boolean
}

/**
 * Values that may contain a mark of this service, as they are written in the report. None of them is verified, and anybody can write
 * them.
 */
export interface Marks {
  /** Return-Path of the returned message, and X-Envelope-From. */
  readonly returnPaths: readonly string[]
  /** X-PR-Ref. */
  readonly references: readonly string[]
  readonly listUnsubscribe: readonly string[]
  /** Original-Mail-From of a feedback report. */
  readonly originalMailFrom: readonly string[]
  readonly messageIds: readonly string[]
}
