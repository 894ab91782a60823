import { isIPv6 } from 'node:net'
import { ServiceError } from '../../platform/errors.ts'
import { plainAddress } from '../../platform/networks.ts'
import { MINUTE, type RateLimits } from '../rate-limits/index.ts'
import { type Look, SharedLook } from './shared-look.ts'

const WINDOW_MS = 60_000
/** Whoever was not drawn for a look has to wait for the next one only. */
const NEXT_LOOK_MS = 1000
/** Sources a process remembers. */
const MOST_SOURCES = 10_000

interface Source {
  wrong: number
  readonly since: number
  /** By the clock of `now`: until then all processes together have seen too many. */
  brakedUntil: number
  /** For keys nobody here has seen, since somebody behind a braked source may have got a new one. */
  look: SharedLook | undefined
}

/** What all processes together know of a source. */
export interface SharedCount {
  /** One wrong key more. Answers the milliseconds the source has to wait, 0 when it may go on. */
  note(name: string): Promise<number>
}

/** A key somebody shows that is not known to be good. */
export interface Shown {
  readonly key: string
  /** It was seen here, and was none. */
  readonly wrong: boolean
}

/**
 * After many wrong keys a source has to wait, whichever processes it showed them to. Guessing 160 bits is hopeless anyway; this
 * keeps those who try, or who go on with a revoked key, from the database. Keys known to be good are not asked about here: behind
 * one address may be many clients.
 */
export class WrongKeyBrake {
  readonly #sources = new Map<string, Source>()
  readonly #limit: number
  readonly #shared: SharedCount | undefined
  readonly #now: () => number

  /** `limit`: wrong keys a source may show in a minute; 0: no brake. Without `shared` this process counts alone. */
  constructor(limit: number, shared?: SharedCount, now = () => performance.now()) {
    this.#limit = limit
    this.#shared = shared
    this.#now = now
  }

  /**
   * May the key be asked for? False: it was just now, and there is none. While a source is braked, keys nobody here has seen wait
   * for a `look` they share, a second at most. Throws wrongKeysTooMany.
   */
  async admit(name: string, { key, wrong }: Shown, look: Look): Promise<boolean> {
    const source = this.#sources.get(name)
    if (!source) return true
    const until = Math.max(source.wrong < this.#limit ? 0 : source.since + WINDOW_MS, source.brakedUntil)
    const left = until - this.#now()
    if (left <= 0) return true
    if (wrong) throw tooMany(left)
    source.look ??= new SharedLook(look)
    const there = await source.look.has(key)
    if (there === undefined) throw tooMany(NEXT_LOOK_MS)
    return there
  }

  /** The source showed a wrong key. Throws wrongKeysTooMany when other processes had seen as many as it may show. */
  async note(name: string): Promise<void> {
    if (this.#limit === 0) return
    const source = this.#count(name)
    const wait = (await this.#shared?.note(name)) ?? 0
    if (wait === 0) return
    source.brakedUntil = this.#now() + wait
    throw tooMany(wait)
  }

  #count(name: string): Source {
    const now = this.#now()
    const known = this.#sources.get(name)
    if (known && now - known.since < WINDOW_MS) {
      known.wrong++
      return known
    }
    this.#sources.delete(name)
    if (this.#sources.size >= MOST_SOURCES) this.#sources.delete(this.#sources.keys().next().value as string)
    const source = { wrong: 1, since: now, brakedUntil: 0, look: known?.look }
    this.#sources.set(name, source)
    return source
  }
}

function tooMany(milliseconds: number): ServiceError {
  const seconds = Math.ceil(milliseconds / 1000)
  return new ServiceError('wrongKeysTooMany', { values: { seconds }, retryAfter: seconds })
}

/** The shared count as an allowance. While the database is away each process counts alone. */
export function sharedCountOf(rateLimits: RateLimits, limit: number): SharedCount {
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

/** An IPv4 address, or the /64 of an IPv6 address: whoever has one address of that has them all (RFC 6177). */
export function sourceOf(address: string): string {
  const plain = plainAddress(address)
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.toLowerCase().split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail ? tail.split(':') : []
  // An IPv4 address at the end stands for two groups.
  const length = first.length + last.length + (plain.includes('.') ? 1 : 0)
  const groups = tail === undefined ? first : [...first, ...Array<string>(8 - length).fill('0'), ...last]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
