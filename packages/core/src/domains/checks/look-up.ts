import { type DnsAnswer, type DnsQuery, memoized, withDns } from '../../platform/net/dns-lookup.ts'
import type { WantedRecord } from '../domain.ts'
import { recordKey } from '../records.ts'
import { evaluateRecord } from './evaluate-record.ts'

/** The answer for a record's host; `elsewhere`: another host that has the record. */
export type Looked = DnsAnswer & { readonly elsewhere?: string | undefined }

/**
 * Queries the DNS for all records of a domain in parallel, then for missing ones where they are often published by mistake. Never throws: queries that
 * fail or time out are `unanswered`.
 */
export async function lookUp(
  servers: readonly string[],
  name: string,
  wanted: readonly WantedRecord[],
  signal?: AbortSignal,
): Promise<Map<string, Looked>> {
  return withDns({ servers, signal }, async (ask) => {
    // Several records may be at the same wrong host.
    const query = memoized(ask)
    const found = await Promise.all(
      wanted.map(async (record) => [record, await query(record.type, record.host)] as const),
    )
    const looked = found.map(async ([record, answer]): Promise<[string, Looked]> => {
      const isMissing = answer.kind === 'records' && evaluateRecord(record, answer.values).state === 'missing'
      const elsewhere = isMissing ? await lookElsewhere(query, name, record) : undefined
      return [recordKey(record), elsewhere === undefined ? answer : { ...answer, elsewhere }]
    })
    return new Map(await Promise.all(looked))
  })
}

/** Returns the host that has a record by mistake: at most five queries. */
async function lookElsewhere(query: DnsQuery, name: string, record: WantedRecord): Promise<string | undefined> {
  const answers = await Promise.all(
    mistakenHosts(name, record).map(async (host) => [host, await query(record.type, host)] as const),
  )
  return answers.find(
    ([, answer]) => answer.kind === 'records' && evaluateRecord(record, answer.values).state === 'right',
  )?.[0]
}

/** Where a form of a DNS host puts a record: it appends the domain to a whole name, or only part of the name was entered. */
function mistakenHosts(name: string, { host, purpose }: WantedRecord): string[] {
  const doubled = `${host}.${name}`
  const [label = ''] = host.split('.', 1)
  if (purpose === 'dkim') return [doubled, name, `_domainkey.${name}`, `${label}.${name}`]
  if (purpose === 'dmarc') return [doubled, name, `dmarc.${name}`]
  return [doubled]
}
