/** How much of something is allowed in a window of time. Windows begin at full minutes or hours of the database's clock. */
export interface Rate {
  /** What is counted, and whose: `calls 12`. Rates of one name share one allowance. */
  readonly name: string
  /** For the refusal: `calls a minute`. */
  readonly what: string
  readonly limit: number
  /** The window's length: {@link MINUTE} or {@link HOUR}. */
  readonly seconds: number
}

/** Where somebody stands in the window that now runs. */
export interface Standing {
  readonly rate: Rate
  /** What this process knows to be left. */
  readonly remaining: number
  /** Unix seconds at which the next window begins. */
  readonly reset: number
  /** Seconds until then, at least 1. */
  readonly retryAfter: number
  /** It was not allowed, and nothing was taken. */
  readonly refused: boolean
}

export const MINUTE = 60
export const HOUR = 3600
