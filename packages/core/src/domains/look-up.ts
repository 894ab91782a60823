import { promises as dns } from 'node:dns'
import type { WantedRecord } from './domain.ts'
import { recordKey } from './records.ts'

/**
 * Result of a DNS query for a host and type. `unanswered`: the query failed, which does not mean that there is no
 * record.
 */
export type DnsAnswer =
  | { readonly kind: 'records'; readonly values: readonly string[] }
  | { readonly kind: 'unanswered'; readonly code: string }

const DNS = { timeout: 2500, tries: 2 }
/** Milliseconds for all records of a domain, since a caller may be waiting. */
const DEADLINE = 8000
/**
 * Maximum number of records at one host, and characters per record, that are read: a domain with more is not set up for
 * this service.
 */
const MAX_VALUES = 50
const MAX_CHARACTERS = 4096

/**
 * Queries the DNS for all records in parallel, bypassing local name resolution. Never throws: queries that fail or time
 * out are `unanswered`.
 */
export async function lookUp(
  servers: readonly string[],
  wanted: readonly WantedRecord[],
  signal?: AbortSignal,
): Promise<Map<string, DnsAnswer>> {
  const resolver = new dns.Resolver(DNS)
  if (servers.length > 0) resolver.setServers([...servers])
  const stop = (): void => resolver.cancel()
  const deadline = setTimeout(stop, DEADLINE)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const results = await Promise.all(wanted.map(async (record) => [recordKey(record), await query(resolver, record)]))
    return new Map(results as [string, DnsAnswer][])
  } finally {
    clearTimeout(deadline)
    signal?.removeEventListener('abort', stop)
  }
}

async function query(resolver: dns.Resolver, { type, host }: WantedRecord): Promise<DnsAnswer> {
  try {
    const values = type === 'TXT' ? (await resolver.resolveTxt(host)).map(joined) : await resolver.resolveCname(host)
    return { kind: 'records', values: values.slice(0, MAX_VALUES).map((value) => value.slice(0, MAX_CHARACTERS)) }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'EUNKNOWN'
    return code === 'ENOTFOUND' || code === 'ENODATA' ? { kind: 'records', values: [] } : { kind: 'unanswered', code }
  }
}

/** The strings of a TXT record are concatenated (RFC 6376 3.6.2.2, RFC 7208 3.3). */
function joined(strings: readonly string[]): string {
  return strings.join('')
}
