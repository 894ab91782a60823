/** A rate limit: a maximum per time window. Windows begin at full minutes, hours or days (UTC) of the database's clock. */
export interface Rate {
  /** Identifies what is counted and for whom, such as `calls 12`. Rates with the same name share one quota. */
  readonly name: string
  /** Text for the error message: `calls per minute`. */
  readonly what: string
  readonly limit: number
  /** Length of the window in seconds: at most {@link HOUR}, or {@link DAY}. */
  readonly seconds: number
}

/** Rate limit status in the current window. */
export interface RateLimitStatus {
  readonly rate: Rate
  /** Remaining amount as known to this process. */
  readonly remaining: number
  /** Start of the next window in Unix seconds. */
  readonly reset: number
  /** Seconds until the next window, at least 1. */
  readonly retryAfter: number
  /** Whether the request was rejected; nothing was taken then. */
  readonly refused: boolean
}

export const MINUTE = 60
export const HOUR = 3600
export const DAY = 24 * HOUR
