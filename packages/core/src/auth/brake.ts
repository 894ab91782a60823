import { isIPv6 } from 'node:net'
import { ServiceError } from '../errors.ts'
import { plainAddress } from '../networks.ts'

const WINDOW_MS = 60_000
/** While a source is braked, a key nobody here has seen may be looked for this often: somebody behind it may have got a new one. */
const LOOK_EVERY_MS = 1000
/** Sources a process remembers. */
const MOST_SOURCES = 10_000

interface Source {
  wrong: number
  readonly since: number
  lookedAt: number
}

/** What a process knows of a key somebody shows. */
export type Acquaintance = 'good' | 'wrong' | 'unseen'

/**
 * After many wrong keys a source has to wait. Guessing 160 bits is hopeless anyway; this keeps those who try, or who go on
 * with a revoked key, from the database. Keys known to be good pass: behind one address may be many clients.
 */
export class WrongKeyBrake {
  readonly #sources = new Map<string, Source>()
  readonly #limit: number
  readonly #now: () => number

  /** `limit`: wrong keys a source may show in a minute; 0: no brake. */
  constructor(limit: number, now = () => performance.now()) {
    this.#limit = limit
    this.#now = now
  }

  /** Throws wrongKeysTooMany. */
  check(name: string, known: Acquaintance): void {
    if (this.#sources.size === 0 || known === 'good') return
    const source = this.#sources.get(name)
    if (!source || source.wrong < this.#limit) return
    const now = this.#now()
    const left = source.since + WINDOW_MS - now
    if (left <= 0) return
    if (known === 'unseen' && now - source.lookedAt >= LOOK_EVERY_MS) {
      source.lookedAt = now
      return
    }
    const seconds = Math.ceil(left / 1000)
    throw new ServiceError('wrongKeysTooMany', { values: { seconds }, retryAfter: seconds })
  }

  /** The source showed a wrong key. */
  note(name: string): void {
    if (this.#limit === 0) return
    const now = this.#now()
    const source = this.#sources.get(name)
    if (source && now - source.since < WINDOW_MS) {
      source.wrong++
      return
    }
    this.#sources.delete(name)
    if (this.#sources.size >= MOST_SOURCES) this.#sources.delete(this.#sources.keys().next().value as string)
    this.#sources.set(name, { wrong: 1, since: now, lookedAt: Number.NEGATIVE_INFINITY })
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
