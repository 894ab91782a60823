import { ServiceError } from '../../platform/errors.ts'
import { MINUTE, type RateLimits } from '../rate-limits/index.ts'
import { type Look, SharedLook } from './shared-look.ts'

const WINDOW_MS = 60_000
/** Milliseconds after which a client whose key was not drawn may retry. */
const RETRY_AFTER_MS = 1000
/** Maximum number of sources that a process keeps track of. */
const MAX_SOURCES = 10_000

interface Source {
  invalid: number
  readonly since: number
  /** Time, by `now`, until which the source is throttled because of its attempts in all processes together. */
  throttledUntil: number
  /**
   * Checks keys unknown to this process while the source is throttled, since a client behind that address may have
   * received a new key.
   */
  look: SharedLook | undefined
}

/** The count of a source over all processes. */
export interface SharedCount {
  /** Counts one more invalid key. Returns the milliseconds the source must wait, or 0. */
  note(name: string): Promise<number>
}

/** A presented key that this process does not know to be valid. */
export interface Shown {
  readonly key: string
  /** Whether this process already knows the key to be invalid. */
  readonly wrong: boolean
}

/**
 * Throttles sources that present many invalid keys, to any process. Guessing 160 bits is hopeless anyway; this protects
 * the database from clients that guess, or that keep using a revoked key. Keys known to be valid are not checked here,
 * because many clients can share one address.
 */
export class InvalidKeyThrottle {
  readonly #sources = new Map<string, Source>()
  readonly #limit: number
  readonly #shared: SharedCount | undefined
  readonly #now: () => number

  /**
   * `limit`: invalid keys that a source may present per minute; 0 disables the throttle. Without `shared`, this process counts
   * alone.
   */
  constructor(limit: number, shared?: SharedCount, now = () => performance.now()) {
    this.#limit = limit
    this.#shared = shared
    this.#now = now
  }

  /**
   * Whether the key may be looked up in the database; false if it was just checked and does not exist. While a source
   * is throttled, keys unknown to this process wait up to a second for a shared lookup with `look`. Throws
   * wrongKeysTooMany.
   */
  async admit(name: string, { key, wrong }: Shown, look: Look): Promise<boolean> {
    const source = this.#sources.get(name)
    if (!source) return true
    const until = Math.max(source.invalid < this.#limit ? 0 : source.since + WINDOW_MS, source.throttledUntil)
    const left = until - this.#now()
    if (left <= 0) return true
    if (wrong) throw tooMany(left)
    source.look ??= new SharedLook(look)
    const exists = await source.look.has(key)
    if (exists === undefined) throw tooMany(RETRY_AFTER_MS)
    return exists
  }

  /** Counts an invalid key of the source. Throws wrongKeysTooMany if the limit over all processes is exceeded. */
  async note(name: string): Promise<void> {
    if (this.#limit === 0) return
    const source = this.#count(name)
    const wait = (await this.#shared?.note(name)) ?? 0
    if (wait === 0) return
    source.throttledUntil = this.#now() + wait
    throw tooMany(wait)
  }

  #count(name: string): Source {
    const now = this.#now()
    const known = this.#sources.get(name)
    if (known && now - known.since < WINDOW_MS) {
      known.invalid++
      return known
    }
    this.#sources.delete(name)
    if (this.#sources.size >= MAX_SOURCES) this.#sources.delete(this.#sources.keys().next().value as string)
    const source = { invalid: 1, since: now, throttledUntil: 0, look: known?.look }
    this.#sources.set(name, source)
    return source
  }
}

function tooMany(milliseconds: number): ServiceError {
  const seconds = Math.ceil(milliseconds / 1000)
  return new ServiceError('wrongKeysTooMany', { values: { seconds }, retryAfter: seconds })
}

/**
 * Counts invalid keys of all processes with a shared rate limit. While the database is unavailable, each process counts
 * alone.
 */
export function createSharedCount(rateLimits: RateLimits, limit: number): SharedCount {
  return {
    async note(name) {
      try {
        const rate = { name: `wrong keys ${name}`, what: 'invalid api_keys per minute', limit, seconds: MINUTE }
        const { refused, retryAfter } = await rateLimits.take([rate])
        return refused ? retryAfter * 1000 : 0
      } catch (error) {
        if (error instanceof ServiceError) return 0
        throw error
      }
    },
  }
}
