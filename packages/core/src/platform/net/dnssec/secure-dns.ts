import { randomInt } from 'node:crypto'
import type { Answer, DecodedPacket, MxData, TlsaData } from 'dns-packet'
import { createFairTurns } from '../../concurrency/fair-turns.ts'
import { overTcp, overUdp, type ResolverAddress } from './exchange.ts'

export type { ResolverAddress } from './exchange.ts'
export type { MxData, TlsaData }

interface DataOf {
  readonly A: string
  readonly AAAA: string
  readonly CNAME: string
  readonly MX: MxData
  readonly NS: string
  readonly TLSA: TlsaData
}

export type SecureType = keyof DataOf

/**
 * A response of the validating resolver. `isSecure`: it says that it has validated all of it (the flag AD). `name`: the name that the
 * records belong to, after all CNAME records. `ttl`: seconds.
 */
export type SecureAnswer<T> =
  | {
      readonly kind: 'records'
      readonly values: readonly T[]
      readonly name: string
      readonly isSecure: boolean
      readonly ttl: number
    }
  /** There are none. `exists`: false if the name does not exist. */
  | {
      readonly kind: 'none'
      readonly exists: boolean
      readonly name: string
      readonly isSecure: boolean
      readonly ttl: number
    }
  /** No usable response: it may be forged, or the resolver cannot be reached. */
  | { readonly kind: 'failed'; readonly problem: string }

export interface SecureDns {
  /**
   * Never rejects. Takes at most nine seconds, apart from waiting for one of the 256 queries at once: accounts take turns. `accountId`: the one for whose
   * mail it is asked.
   */
  query<T extends SecureType>(type: T, name: string, accountId?: number): Promise<SecureAnswer<DataOf[T]>>
}

/** RFC 9715: no fragments. */
const UDP_SIZE = 1232
const UDP_TRIES = 2
/** Queries at once, and those that wait, in all and of one account. */
const QUERIES = { capacity: 256, waiting: 20_000, each: 10_000 }
/** CNAME records that are followed within a response. */
const MAX_ALIASES = 10
/** Records of a response that are read; the largest response has no room for many more. */
const MAX_RECORDS = 1000
const NONE_TTL = 60
const NOERROR = 0
const NXDOMAIN = 3

/**
 * The client of a resolver that validates DNSSEC. It validates nothing itself: what the resolver says is believed, so the way to it must be
 * as safe as this process. Responses must have the id and the question of the query.
 */
export function createSecureDns(resolver: ResolverAddress): SecureDns {
  const turns = createFairTurns(QUERIES)

  async function exchange(type: SecureType, name: string): Promise<DecodedPacket> {
    const { default: packets } = await import('dns-packet')
    const id = randomInt(0x10000)
    const query = packets.encode({
      type: 'query',
      id,
      // AD asks for the flag in the response (RFC 6840 5.7), as does DO for resolvers that do not know that.
      flags: packets.RECURSION_DESIRED | packets.AUTHENTIC_DATA,
      questions: [{ type, name }],
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: UDP_SIZE,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: packets.DNSSEC_OK,
          flag_do: true,
          options: [],
        },
      ],
    })
    const accept = (packet: Buffer): DecodedPacket | undefined => {
      if (packet.length < 12 || packet.readUInt16BE(0) !== id) return undefined
      // A truncated response may end within a record: only its header is read.
      const isTruncated = (packet.readUInt16BE(2) & packets.TRUNCATED_RESPONSE) !== 0
      try {
        const decoded = packets.decode(isTruncated ? headerAndQuestion(packet) : packet)
        return isResponseTo(decoded, type, name) ? decoded : undefined
      } catch {
        return undefined
      }
    }
    let problem: unknown
    for (let attempt = 0; attempt < UDP_TRIES; attempt++) {
      try {
        const response = await overUdp(resolver, query, accept)
        return response.flag_tc ? await overTcp(resolver, query, accept) : response
      } catch (error) {
        problem = error
      }
    }
    throw problem
  }

  return {
    async query<T extends SecureType>(type: T, name: string, accountId = 0): Promise<SecureAnswer<DataOf[T]>> {
      if (!isQueryable(name)) return { kind: 'failed', problem: 'not a valid name' }
      try {
        return read<DataOf[T]>(await turns.take(String(accountId), () => exchange(type, name)), type, name)
      } catch (error) {
        return { kind: 'failed', problem: (error as Error).message }
      }
    },
  }
}

/** The beginning of a truncated response, with the counts of its other parts set to 0. */
function headerAndQuestion(packet: Buffer): Buffer {
  const copy = Buffer.from(packet)
  copy.fill(0, 6, 12)
  return copy
}

function isResponseTo(packet: DecodedPacket, type: SecureType, name: string): boolean {
  const [question, ...more] = packet.questions ?? []
  return (
    packet.flag_qr &&
    more.length === 0 &&
    question?.type === type &&
    (question.class ?? 'IN') === 'IN' &&
    plain(question.name) === plain(name)
  )
}

function read<V>(packet: DecodedPacket, type: SecureType, name: string): SecureAnswer<V> {
  const code = (packet.flags ?? 0) & 0xf
  if (code !== NOERROR && code !== NXDOMAIN) return { kind: 'failed', problem: codeText(code) }
  const records = (packet.answers ?? []).slice(0, MAX_RECORDS)
  const { owner, ttl: aliasTtl } = follow(records, type, plain(name))
  const own = records.filter((record) => record.type === type && plain(record.name) === owner) as Valued<V>[]
  const isSecure = packet.flag_ad
  if (own.length === 0) {
    const ttl = Math.min(NONE_TTL, aliasTtl)
    return { kind: 'none', exists: code === NOERROR, name: owner, isSecure, ttl }
  }
  const ttl = Math.min(aliasTtl, ...own.map((record) => record.ttl ?? 0))
  return { kind: 'records', values: own.map(({ data }) => data), name: owner, isSecure, ttl }
}

type Valued<V> = Answer & { readonly data: V; readonly ttl?: number }

/** The name that the CNAME records of a response lead to. */
function follow(records: readonly Answer[], type: SecureType, name: string): { owner: string; ttl: number } {
  let owner = name
  let ttl = Number.POSITIVE_INFINITY
  for (let hops = 0; type !== 'CNAME' && hops < MAX_ALIASES; hops++) {
    const alias = records.find((record) => record.type === 'CNAME' && plain(record.name) === owner)
    if (alias?.type !== 'CNAME') break
    owner = plain(alias.data)
    ttl = Math.min(ttl, alias.ttl ?? 0)
  }
  return { owner, ttl }
}

/** A name that can be encoded: the library takes others apart in another way. */
function isQueryable(name: string): boolean {
  if (name === '.') return true
  return name.length <= 253 && name.split('.').every((label) => /^[\x21-\x2d\x2f-\x7e]{1,63}$/.test(label))
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

function codeText(code: number): string {
  return code === 2 ? 'SERVFAIL' : code === 5 ? 'REFUSED' : `response code ${code}`
}
