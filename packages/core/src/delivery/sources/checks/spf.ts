import { type DnsAnswer, type DnsQuery, type DnsType, printableValue } from '../../../platform/net/dns-lookup.ts'
import { shown } from './record-check.ts'

/** Whether the SPF record of a host permits an address (RFC 7208). */
export interface SpfResult {
  readonly state: 'right' | 'wrong' | 'missing' | 'unknown'
  /** The SPF records. */
  readonly found: readonly string[]
  readonly problem?: string
}

/** Milliseconds; beyond that the result is unknown. */
const MAX_MS = 8000

/**
 * Evaluates SPF for mail whose return path is at this host. The number of queries is bounded by RFC 7208 4.6.4. Never throws.
 *
 * mailauth is loaded when it is first needed, since most processes never need it.
 */
export async function checkSpf(query: DnsQuery, host: string, address: string): Promise<SpfResult> {
  const { found, problem, ...result } = await evaluate(query, host, address)
  return { ...result, found: shown(found), ...(problem === undefined ? {} : { problem: printableValue(problem) }) }
}

async function evaluate(query: DnsQuery, host: string, address: string): Promise<SpfResult> {
  const answer = await query('TXT', host)
  if (answer.kind === 'unanswered')
    return { state: 'unknown', found: [], problem: `DNS lookup failed (${answer.code})` }
  const found = answer.values.filter((text) => /^v=spf1( |$)/i.test(text))
  if (found.length === 0) return { state: 'missing', found, problem: 'no SPF record' }
  const { spf } = await import('mailauth/lib/spf/index.js')
  const { status } = await spf({
    sender: `postmaster@${host}`,
    ip: address,
    helo: host,
    mta: host,
    strict: true,
    maxElapsedTime: MAX_MS,
    resolver: resolverFor(query),
  })
  if (status.result === 'pass') return { state: 'right', found }
  if (status.result === 'temperror') return { state: 'unknown', found, problem: 'DNS lookup of the SPF record failed' }
  if (status.result === 'permerror')
    return { state: 'wrong', found, problem: `invalid record: ${reasonOf(status.comment)}` }
  return { state: 'wrong', found, problem: `does not permit ${address} (${status.result})` }
}

/** The reason at the end of mailauth's comment. */
function reasonOf(comment: string | undefined): string {
  return comment?.split(': ').slice(2).join(': ') || 'permanent error'
}

/** A resolver with the answers and errors of node:dns. mailauth's type lacks MX records. */
function resolverFor(query: DnsQuery) {
  const resolve = async (host: string, type: string): Promise<unknown[]> => {
    const answer: DnsAnswer = await query(type as DnsType, host)
    if (answer.kind === 'unanswered') throw Object.assign(new Error(answer.code), { code: answer.code })
    if (answer.values.length === 0) throw Object.assign(new Error('ENODATA'), { code: 'ENODATA' })
    if (type === 'TXT') return answer.values.map((text) => [text])
    if (type !== 'MX') return [...answer.values]
    return answer.values.map((value) => {
      const [priority, exchange = ''] = value.split(' ')
      return { priority: Number(priority), exchange }
    })
  }
  return resolve as (host: string, type: string) => Promise<string[]>
}
