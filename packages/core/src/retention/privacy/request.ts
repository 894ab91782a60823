/** What a request to forget has touched so far, in rows. */
export interface Receipt {
  /** Waiting deliveries that were cancelled. */
  readonly cancelled: number
  readonly deliveries: number
  readonly attempts: number
  readonly events: number
  readonly messages: number
  readonly bodies: number
  /** Opt-outs whose address became a hash. */
  readonly suppressions: number
}

export const NOTHING: Receipt = {
  ...{ cancelled: 0, deliveries: 0, attempts: 0, events: 0, messages: 0, bodies: 0, suppressions: 0 },
}

export type RequestState = 'queued' | 'running' | 'done'

export interface ForgetRequest {
  /** `gd_` and 32 hex digits. */
  readonly id: string
  readonly state: RequestState
  readonly emails: number
  readonly requestedAt: Date
  readonly completedAt: Date | null
  /** Messages that also went to others, or were just being delivered, and whose delivery has not come to an end. */
  readonly waiting: number
  readonly receipt: Receipt
}

/** What is to be done next: announce hashed opt-outs, read the queue through, find what is finished, wait for what is not, hash the opt-outs. */
export type Stage = 'suppressions' | 'queue' | 'finished' | 'waiting' | 'last'

/** A person to be forgotten. */
export interface Subject {
  /** The address in its canonical lower-case form. */
  readonly key: string
  /** What stands in its place: random, so that nothing leads back once the request is done. */
  readonly pseudonym: string
}

/** A request in work: its row is locked until the transaction ends. */
export interface RequestInWork {
  readonly uuid: string
  readonly accountId: number
  readonly requestedAt: Date
  readonly stage: Stage
  readonly queueMessage: string | null
  readonly queueRecipient: number | null
  readonly subjectNo: number
  readonly sealed: Buffer
  readonly receipt: Partial<Receipt>
  /** Messages of a batch at most. */
  readonly batchSize: number
}

/** What one batch changes about the request. */
export interface Progress {
  readonly stage?: Stage | 'done'
  readonly queueMessage?: string
  readonly queueRecipient?: number
  readonly subjectNo?: number
  readonly touched?: Partial<Receipt>
  /** Seconds until the next batch; 0 when it goes on. */
  readonly again?: number
}

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
