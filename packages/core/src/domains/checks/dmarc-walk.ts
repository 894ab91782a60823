import { readTagList, TAG_TWICE } from '../../mime/tag-list.ts'
import { type DnsQuery, printableValue } from '../../platform/net/dns-lookup.ts'

/** The DMARC record that applies to a domain. */
export interface AppliedDmarc {
  readonly state: 'right' | 'wrong' | 'missing'
  /** The host of the record; null if there is none. */
  readonly host: string | null
  readonly problem?: string
}

export interface DmarcWalk {
  readonly dmarc: AppliedDmarc
  /** The organizational domain; the domain itself if no record says which one it is. */
  readonly organisational: string
}

interface Found {
  readonly domain: string
  readonly tags: ReadonlyMap<string, string>
}

/** RFC 9989 4.10: from a name with more labels, the walk goes on with this many; with the name itself, that is eight queries at most. */
const MAX_PARENT_LABELS = 7
export const POLICIES: readonly string[] = ['none', 'quarantine', 'reject']

/**
 * Finds the DMARC record that applies to a domain, and its organizational domain, by the tree walk of RFC 9989: from the domain up to the top-level domain.
 * Makes at most eight queries, one after another. Undefined if one of them failed: nothing is known then.
 */
export async function walkDmarc(query: DnsQuery, name: string): Promise<DmarcWalk | undefined> {
  const found: Found[] = []
  let ignored: string | undefined
  for (let domain: string | undefined = name; domain !== undefined; domain = parentOf(domain)) {
    const answer = await query('TXT', `_dmarc.${domain}`)
    if (answer.kind === 'unanswered') return undefined
    const { tags, problem } = readDmarc(answer.values)
    if (domain === name) ignored = problem
    if (!tags) continue
    found.push({ domain, tags })
    if (tags.get('psd') === 'n' || (tags.get('psd') === 'y' && domain !== name)) break
  }
  const organisational = organisationalOf(name, found)
  const host = `_dmarc.${name}`
  const dmarc = ignored ? ({ state: 'wrong', host, problem: ignored } as const) : appliedOf(name, organisational, found)
  return { dmarc, organisational }
}

interface DmarcAtHost {
  readonly records: readonly string[]
  /** Of the record, in lower case. */
  readonly tags?: ReadonlyMap<string, string>
  /** Why receivers ignore what is there. */
  readonly problem?: string
}

/** Reads the DMARC record among the texts of a host. */
export function readDmarc(texts: readonly string[]): DmarcAtHost {
  const records = texts.filter((text) => /^v=DMARC1\s*(;|$)/.test(text))
  const [record, ...others] = records
  if (record === undefined) return { records }
  if (others.length > 0) return { records, problem: 'multiple DMARC records; receivers ignore all of them' }
  const tags = readTagList(record.toLowerCase())
  return tags ? { records, tags } : { records, problem: TAG_TWICE }
}

function parentOf(domain: string): string | undefined {
  const labels = domain.split('.')
  const parent = labels.slice(Math.max(1, labels.length - MAX_PARENT_LABELS))
  return parent.length === 0 ? undefined : parent.join('.')
}

function organisationalOf(name: string, found: readonly Found[]): string {
  const last = found.at(-1)
  if (!last) return name
  if (last.tags.get('psd') !== 'y' || last.domain === name) return last.domain
  // One label below the public suffix.
  const labels = name.split('.')
  return labels.slice(labels.length - last.domain.split('.').length - 1).join('.')
}

/** RFC 9989 4.10.1: the record of the domain itself, then of its organizational domain, then of the public suffix. */
function appliedOf(name: string, organisational: string, found: readonly Found[]): AppliedDmarc {
  const at = (domain: string) => found.find((one) => one.domain === domain)
  const applied = at(name) ?? at(organisational) ?? found.find(({ tags }) => tags.get('psd') === 'y')
  if (!applied) return { state: 'missing', host: null, problem: 'no DMARC record applies to the domain' }
  const host = `_dmarc.${applied.domain}`
  // Without p, the policy is none.
  const policy = applied.tags.get('p')?.toLowerCase() ?? 'none'
  if (POLICIES.includes(policy)) return { state: 'right', host }
  return { state: 'wrong', host, problem: printableValue(`p=${policy.slice(0, 40)} is not a policy`) }
}
