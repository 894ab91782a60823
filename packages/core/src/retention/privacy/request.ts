/** Numbers of rows that an erasure request has changed so far. */
export interface Receipt {
  /** Queued deliveries that were cancelled. */
  readonly cancelled: number
  readonly deliveries: number
  readonly attempts: number
  readonly events: number
  readonly messages: number
  readonly bodies: number
  /** Opt-outs whose address was replaced by a hash. */
  readonly suppressions: number
}

export const NOTHING: Receipt = {
  cancelled: 0,
  deliveries: 0,
  attempts: 0,
  events: 0,
  messages: 0,
  bodies: 0,
  suppressions: 0,
}

export type RequestState = 'queued' | 'running' | 'done'

export interface ForgetRequest {
  /** `gd_` and 32 hex digits. */
  readonly id: string
  readonly state: RequestState
  readonly emails: number
  readonly requestedAt: Date
  readonly completedAt: Date | null
  /** Number of messages with unfinished deliveries: to other recipients, or in progress when the request was processed. */
  readonly waiting: number
  readonly receipt: Receipt
}

/**
 * The next step of a request: announce hashed opt-outs, search the queue, erase from finished deliveries, wait for unfinished
 * ones, hash the opt-outs.
 */
export type Stage = 'suppressions' | 'queue' | 'finished' | 'waiting' | 'last'

/** A recipient to be erased. */
export interface Subject {
  /** The address in its canonical lower-case form. */
  readonly key: string
  /** Replaces the address. It is random, so that the address cannot be derived from it after the request is done. */
  readonly pseudonym: string
}

/** A request being processed. Its row is locked until the transaction ends. */
export interface RequestInWork {
  readonly uuid: string
  readonly accountId: number
  /** As PostgreSQL writes it: a Date has no microseconds, and messages accepted just before the request belong to it. */
  readonly requestedAt: string
  readonly stage: Stage
  readonly queueMessage: string | null
  readonly queueRecipient: number | null
  readonly subjectNo: number
  readonly sealed: Buffer
  readonly receipt: Partial<Receipt>
  /** Maximum number of messages in a batch. */
  readonly batchSize: number
}

/** The changes of a request by one batch. */
export interface Progress {
  readonly stage?: Stage | 'done'
  readonly queueMessage?: string
  readonly queueRecipient?: number
  readonly subjectNo?: number
  readonly touched?: Partial<Receipt>
  /** Seconds until the next batch; 0 or undefined for immediately. */
  readonly again?: number
}

/** Returns a receipt increased by the rows that a batch changed. */
export function sumOf(receipt: Partial<Receipt>, touched: Partial<Receipt> = {}): Receipt {
  const sum = (name: keyof Receipt): number => (receipt[name] ?? 0) + (touched[name] ?? 0)
  return {
    cancelled: sum('cancelled'),
    deliveries: sum('deliveries'),
    attempts: sum('attempts'),
    events: sum('events'),
    messages: sum('messages'),
    bodies: sum('bodies'),
    suppressions: sum('suppressions'),
  }
}
