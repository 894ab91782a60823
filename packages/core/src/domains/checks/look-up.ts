import { type DnsAnswer, withDns } from '../../platform/net/dns-lookup.ts'
import type { WantedRecord } from '../domain.ts'
import { recordKey } from '../records.ts'

/** Queries the DNS for all records in parallel. Never throws: queries that fail or time out are `unanswered`. */
export async function lookUp(
  servers: readonly string[],
  wanted: readonly WantedRecord[],
  signal?: AbortSignal,
): Promise<Map<string, DnsAnswer>> {
  const results = await withDns({ servers, signal }, (query) =>
    Promise.all(wanted.map(async (record) => [recordKey(record), await query(record.type, record.host)] as const)),
  )
  return new Map(results)
}
