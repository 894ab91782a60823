import type { DnsRecord, Domain } from './domain.ts'

/** Of the required records together. `unknown`: the DNS did not answer for one that decides. */
export type Finding = 'right' | 'broken' | 'unknown'

/**
 * Required are the DKIM record of the key that signs, and the SPF record or the return path of the domain's own (whose SPF
 * record is the service's then). `fresh` says whether a record was answered for this time.
 */
export function findingOf(records: readonly DnsRecord[], fresh: (record: DnsRecord) => boolean): Finding {
  const of = (wanted: (record: DnsRecord) => boolean): Finding => {
    const record = records.find(wanted)
    if (!record || !fresh(record)) return 'unknown'
    return record.verified ? 'right' : 'broken'
  }
  const dkim = of(({ key }) => key === 'active')
  const spf = of(({ purpose }) => purpose === 'spf')
  const returnPath = of(({ purpose }) => purpose === 'returnPath')
  const path = [spf, returnPath].includes('right')
    ? 'right'
    : [spf, returnPath].includes('unknown')
      ? 'unknown'
      : 'broken'
  if (dkim === 'broken' || path === 'broken') return 'broken'
  return dkim === 'right' && path === 'right' ? 'right' : 'unknown'
}

export type DomainStanding = Pick<Domain, 'state' | 'verifiedAt' | 'brokenSince'>

/** Only a domain that was once seen right can break: one that the operator activated unseen stays as he said. */
export function standingAfter(
  { state, verifiedAt, brokenSince }: DomainStanding,
  finding: Finding,
  { now, graceMs }: { now: Date; graceMs: number },
): DomainStanding {
  if (finding === 'unknown') return { state, verifiedAt, brokenSince }
  if (finding === 'right') {
    return { state: state === 'rejected' ? state : 'active', verifiedAt: now, brokenSince: null }
  }
  if (state !== 'active' || verifiedAt === null) return { state, verifiedAt, brokenSince }
  const since = brokenSince ?? now
  const over = now.getTime() - since.getTime() >= graceMs
  return { state: over ? 'inactive' : state, verifiedAt, brokenSince: since }
}
