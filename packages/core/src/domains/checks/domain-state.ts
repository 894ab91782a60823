import type { DnsRecord, Domain } from '../domain.ts'
import { isRequiredKey } from '../records.ts'

/** Result for the required records together. `unknown`: the DNS query for a decisive record failed. */
export type CheckOutcome = 'right' | 'broken' | 'unknown'

/**
 * Evaluates the required records: the DKIM record of the RSA key that signs, and either the SPF record or the domain's own
 * return path (then the SPF record of the service applies). `fresh` returns whether a record's query succeeded this
 * time.
 */
export function outcomeOf(records: readonly DnsRecord[], fresh: (record: DnsRecord) => boolean): CheckOutcome {
  const outcomeFor = (isWanted: (record: DnsRecord) => boolean): CheckOutcome => {
    const record = records.find(isWanted)
    if (!record || !fresh(record)) return 'unknown'
    return record.verified ? 'right' : 'broken'
  }
  const dkim = outcomeFor(isRequiredKey)
  const spf = outcomeFor(({ purpose }) => purpose === 'spf')
  const returnPath = outcomeFor(({ purpose }) => purpose === 'returnPath')
  const path = [spf, returnPath].includes('right')
    ? 'right'
    : [spf, returnPath].includes('unknown')
      ? 'unknown'
      : 'broken'
  if (dkim === 'broken' || path === 'broken') return 'broken'
  return dkim === 'right' && path === 'right' ? 'right' : 'unknown'
}

export type DomainStatus = Pick<Domain, 'state' | 'verifiedAt' | 'brokenSince'>

/**
 * Returns the state after a check. Only a domain whose records were valid once can become invalid; one activated by the
 * operator without verification stays active.
 */
export function statusAfter(
  { state, verifiedAt, brokenSince }: DomainStatus,
  outcome: CheckOutcome,
  { now, graceMs }: { now: Date; graceMs: number },
): DomainStatus {
  if (outcome === 'unknown') return { state, verifiedAt, brokenSince }
  if (outcome === 'right') {
    return { state: state === 'rejected' ? state : 'active', verifiedAt: now, brokenSince: null }
  }
  if (state !== 'active' || verifiedAt === null) return { state, verifiedAt, brokenSince }
  const since = brokenSince ?? now
  const isGraceOver = now.getTime() - since.getTime() >= graceMs
  return { state: isGraceOver ? 'inactive' : state, verifiedAt, brokenSince: since }
}
