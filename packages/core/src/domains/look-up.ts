import { promises as dns } from 'node:dns'
import type { WantedRecord } from './domain.ts'
import { recordKey } from './records.ts'

/** What the DNS says of a host and type. `unanswered`: nothing is known, which is not the same as no record. */
export type DnsAnswer =
  | { readonly kind: 'records'; readonly values: readonly string[] }
  | { readonly kind: 'unanswered'; readonly code: string }

const DNS = { timeout: 2500, tries: 2 }
/** Milliseconds for all records of a domain: somebody may be waiting for them. */
const DEADLINE = 8000
/** Records at one host, and characters of one, that are read: a domain with more is not configured for us. */
const MOST_VALUES = 50
const MOST_CHARACTERS = 4096

/** Asks the DNS for every record at once, with real packets. Never throws: what was not answered in time says so. */
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
    const answers = await Promise.all(wanted.map(async (record) => [recordKey(record), await ask(resolver, record)]))
    return new Map(answers as [string, DnsAnswer][])
  } finally {
    clearTimeout(deadline)
    signal?.removeEventListener('abort', stop)
  }
}

async function ask(resolver: dns.Resolver, { type, host }: WantedRecord): Promise<DnsAnswer> {
  try {
    const values = type === 'TXT' ? (await resolver.resolveTxt(host)).map(joined) : await resolver.resolveCname(host)
    return { kind: 'records', values: values.slice(0, MOST_VALUES).map((value) => value.slice(0, MOST_CHARACTERS)) }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'EUNKNOWN'
    return code === 'ENOTFOUND' || code === 'ENODATA' ? { kind: 'records', values: [] } : { kind: 'unanswered', code }
  }
}

/** The strings of one TXT record are one text (RFC 6376 3.6.2.2, RFC 7208 3.3). */
function joined(strings: readonly string[]): string {
  return strings.join('')
}
