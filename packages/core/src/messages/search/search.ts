import type { DeliveryState } from '../../delivery/queue/states.ts'
import type { EntryPoint } from '../../submission/submission.ts'

/** The conditions of a search for deliveries, all of which must apply. */
export interface MessageSearch {
  /** Any of these, or of `met`. */
  readonly states?: readonly DeliveryState[]
  /** Acts of its recipient. */
  readonly met?: readonly Met[]
  /** The recipient's address in canonical lower-case form. */
  readonly recipientKey?: string
  /** Lower-case A-labels, as in `domain`. */
  readonly recipientDomain?: string
  /** The sender's address in lower case. */
  readonly from?: string
  /** The domain of the sender's address. */
  readonly domain?: string
  /** The beginning of the subject, in any case. */
  readonly subjectBegins?: string
  readonly words?: readonly WordTerm[]
  /** A UUID; empty if the given id cannot be one, so that nothing matches. */
  readonly messageId?: string
  /** Only with `messageId`. */
  readonly recipientNo?: number
  readonly door?: EntryPoint
  readonly hasAttachment?: true
  /** Accepted at this time or later. */
  readonly since?: Date
  /** Accepted before this time. */
  readonly until?: Date
  /** None of these applies; each has one condition, or the two of a recipient of a message. */
  readonly not?: readonly MessageSearch[]
}

/** Acts of a recipient on a delivery; opens and clicks by machines do not count. */
export const MET = ['opened', 'clicked', 'complained'] as const
export type Met = (typeof MET)[number]

/** The fields of a delivery that words are looked for in. `any` is the first four; `header` is the client's own Message-ID, as a whole. */
export const WORD_FIELDS = ['to', 'subject', 'tag', 'reference', 'from', 'header'] as const
export type WordField = (typeof WORD_FIELDS)[number]

/** Words that follow each other in one field. */
export interface WordTerm {
  readonly field: WordField | 'any'
  /** Folded words, separated by one blank each. */
  readonly text: string
  /** Whether the last word is whole. Otherwise it is the beginning of one, or a part of a word of the recipient's address. */
  readonly isWhole: boolean
  /** Whether it may be a whole Message-ID, too. It is more than one word then. */
  readonly isHeader?: true
  /** Ids and an address that the term may be; if one exists, that is what is meant. */
  readonly names?: Names
}

/** An id, or an address, that a term without a key may be. */
export interface Names {
  readonly recipientKey?: string
  /** A UUID. */
  readonly messageId?: string
  /** v2 TRANSID. */
  readonly transactionNumber?: string
}

/** The keys of the search language, and the parameters of the same names. */
export const SEARCH_KEYS = [
  'to',
  'from',
  'state',
  'subject',
  'tag',
  'ref',
  'id',
  'domain',
  'door',
  'before',
  'after',
  'has',
] as const
export type SearchKey = (typeof SEARCH_KEYS)[number]

/** Groups of states that have a name of their own. */
export const STATE_GROUPS: Readonly<Record<'waiting' | 'failed', readonly DeliveryState[]>> = {
  waiting: ['scheduled', 'queued', 'sending', 'deferred'],
  failed: ['bounced', 'dropped', 'expired'],
}
