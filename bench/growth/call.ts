/** One call that is measured. */
export interface Call {
  readonly api: 'v2' | 'v3'
  /** As the table of operations calls it. */
  readonly operation: string
  /** What of it. */
  readonly what: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
  /** The answer is a stream: measured until its first octets are there. */
  readonly beginning?: boolean
  /** It asks for more than a response has, however small the account is: it is to be refused. */
  readonly isTooMuch?: boolean
  /** Pages read on by their scrollid or cursor; the last one is measured. */
  readonly scroll?: number
}

/** What the calls are about. */
export interface Known {
  /** `yyyy-mm-dd`, so many days before the fill. */
  readonly day: (before: number) => string
  readonly daySeconds: (before: number) => number
  readonly subaccount: string
  readonly message: string
  /** One that has a body. */
  readonly sent: string
  /** The number of the large account's last event. */
  readonly last: number
  readonly jobId: string
  readonly webhook: string
  /** One of its requests. */
  readonly webhookRequest: string
  readonly editableWebhook: string
  readonly template: number
  readonly legacy: string
  readonly version: string
  readonly batch: string
  readonly keyId: string
}

export interface Measured {
  readonly name: string
  readonly status: number
  /** Milliseconds, in the order they were taken. */
  readonly times: readonly number[]
  /** Milliseconds of the first run, with nothing of the database in memory; undefined if it was not measured so. */
  readonly cold?: number
  readonly p50: number
  readonly p95: number
  /** Milliseconds of processor time a run, of the process and the database together. */
  readonly processor: number
  /** Of a refusal. */
  readonly said?: string
  /** It is refused, though it asks for no more than a response has. */
  readonly isRefused?: boolean
  /** It answered with something else than what is measured. */
  readonly isOther?: boolean
  /** Of statements that took longer than the bound. */
  plans: string[]
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
