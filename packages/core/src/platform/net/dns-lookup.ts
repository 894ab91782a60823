import { promises as dns } from 'node:dns'
import { timerDelay } from '../concurrency/timer-delay.ts'

/**
 * Result of a DNS query for a host and type. `unanswered`: the query failed, which does not mean that there is no
 * record.
 */
export type DnsAnswer =
  | { readonly kind: 'records'; readonly values: readonly string[] }
  | { readonly kind: 'unanswered'; readonly code: string }

export type DnsType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'PTR' | 'TXT'

/** Never throws: a query that fails, times out or begins after the deadline or signal is `unanswered`. MX values are like "10 mx.example.com". */
export type DnsQuery = (type: DnsType, host: string) => Promise<DnsAnswer>

const DNS = { timeout: 2500, tries: 2 }
/** Milliseconds for all queries of one check, since a caller may be waiting. */
const DEADLINE_MS = 8000
/** Maximum number of values and characters per value that are read: a host with more is not set up for this service. */
const MAX_VALUES = 50
const MAX_CHARACTERS = 4096

export interface DnsOptions {
  /** If empty, those of the system. */
  readonly servers: readonly string[]
  readonly signal?: AbortSignal | undefined
  /** Milliseconds after which all queries are unanswered (ETIMEOUT; after the signal, ECANCELLED); 8 s by default. */
  readonly deadlineMs?: number | undefined
}

/** Runs `act`, which can query the DNS until the deadline or the signal. Local name resolution (/etc/hosts) is bypassed. */
export async function withDns<T>(options: DnsOptions, act: (query: DnsQuery) => Promise<T>): Promise<T> {
  const { servers, signal, deadlineMs = DEADLINE_MS } = options
  const resolver = new dns.Resolver(DNS)
  if (servers.length > 0) resolver.setServers([...servers])
  let isOver = signal?.aborted ?? false
  const stop = (): void => {
    isOver = true
    resolver.cancel()
  }
  const over = (): DnsAnswer => ({ kind: 'unanswered', code: signal?.aborted ? 'ECANCELLED' : 'ETIMEOUT' })
  const deadline = setTimeout(stop, timerDelay(deadlineMs))
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await act(async (type, host) => {
      if (isOver) return over()
      const answer = await ask(resolver, type, host)
      return answer.kind === 'unanswered' && isOver ? over() : answer
    })
  } finally {
    clearTimeout(deadline)
    signal?.removeEventListener('abort', stop)
  }
}

/** A query that asks for each type and host once. */
export function memoized(query: DnsQuery): DnsQuery {
  const answers = new Map<string, Promise<DnsAnswer>>()
  return (type, host) => {
    const key = `${type} ${host}`
    const answer = answers.get(key) ?? query(type, host)
    answers.set(key, answer)
    return answer
  }
}

async function ask(resolver: dns.Resolver, type: DnsType, host: string): Promise<DnsAnswer> {
  try {
    const values = await RESOLVE[type](resolver, host)
    return { kind: 'records', values: values.slice(0, MAX_VALUES).map((value) => value.slice(0, MAX_CHARACTERS)) }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'EUNKNOWN'
    return NO_RECORDS.includes(code) ? { kind: 'records', values: [] } : { kind: 'unanswered', code }
  }
}

/** EBADNAME: a host that is not a domain name has no records. */
const NO_RECORDS = ['ENOTFOUND', 'ENODATA', 'EBADNAME']

const RESOLVE: Record<DnsType, (resolver: dns.Resolver, host: string) => Promise<string[]>> = {
  A: (resolver, host) => resolver.resolve4(host),
  AAAA: (resolver, host) => resolver.resolve6(host),
  CNAME: (resolver, host) => resolver.resolveCname(host),
  MX: async (resolver, host) =>
    (await resolver.resolveMx(host)).map(({ priority, exchange }) => `${priority} ${exchange}`),
  NS: (resolver, host) => resolver.resolveNs(host),
  // Not `reverse`, which reads /etc/hosts.
  PTR: (resolver, host) => resolver.resolvePtr(host),
  // The strings of a TXT record are concatenated (RFC 6376 3.6.2.2, RFC 7208 3.3).
  TXT: async (resolver, host) => (await resolver.resolveTxt(host)).map((strings) => strings.join('')),
}

/**
 * Replaces characters that are invisible or harmful in a log, terminal or database, since anyone may publish anything.
 * Cut first, as cutting may split a surrogate pair.
 */
export function printableValue(value: string): string {
  return value.slice(0, MAX_SHOWN_LENGTH).replace(/\p{C}/gu, '\ufffd')
}

const MAX_SHOWN_LENGTH = 500
