import type { DnsAnswer } from '../../../platform/net/dns-lookup.ts'

/** A DNS block list of IP addresses (RFC 5782). */
export interface BlockList {
  /** Public name. The zone that is queried may contain a key. */
  readonly name: string
  readonly zone: string
  /** Whether it has IPv6 addresses. */
  readonly hasIpv6: boolean
  /** Last numbers of answers in 127.0.0.0/24 that say what the address is used for, and nothing bad. */
  readonly policy: readonly number[]
  /** Those of listings that most receivers refuse, so that the source is paused. */
  readonly severe: readonly number[]
}

type Known = Omit<BlockList, 'zone'>

/** The lists that are used without BLOCK_LISTS, and what their answers mean. */
const KNOWN: readonly Known[] = [
  // docs.spamhaus.com: .2 SBL, .3 CSS, .4 to .7 XBL; .9 DROP, always together with .2; .10 and .11 PBL.
  { name: 'zen.spamhaus.org', hasIpv6: true, policy: [10, 11], severe: [2, 3, 4, 5, 6, 7] },
  { name: 'b.barracudacentral.org', hasIpv6: false, policy: [], severe: [] },
  { name: 'bl.spamcop.net', hasIpv6: false, policy: [], severe: [] },
  { name: 'bl.mailspike.net', hasIpv6: false, policy: [], severe: [] },
  { name: 'psbl.surriel.com', hasIpv6: false, policy: [], severe: [] },
]

const SPAMHAUS = 'zen.spamhaus.org'

/** The lists of the settings. */
export function blockListsOf(zones: readonly string[] | undefined, spamhausKey: string | undefined): BlockList[] {
  const names = zones ?? KNOWN.map(({ name }) => name)
  return names.map((name) => ({
    ...(KNOWN.find((known) => known.name === name) ?? { name, hasIpv6: false, policy: [], severe: [] }),
    zone: name === SPAMHAUS && spamhausKey ? `${spamhausKey}.zen.dq.spamhaus.net` : name,
  }))
}

/** The answer of a block list for an address. `unknown`: it has not answered, or it is not proven that its answers are valid. */
export interface Verdict {
  readonly state: 'clean' | 'policy' | 'listed' | 'unknown'
  /** Answers in 127.0.0.0/8. */
  readonly codes: readonly string[]
  readonly isSevere: boolean
  /** Why it is unknown. */
  readonly problem?: string
}

/** A listing is an address in 127.0.0.0/8, except 127.255.255.0/24, which are error codes (public resolver, unknown key, too many queries). */
export function verdictOf(answer: DnsAnswer, { policy, severe }: Pick<BlockList, 'policy' | 'severe'>): Verdict {
  if (answer.kind === 'unanswered') return unknown(`DNS lookup failed (${answer.code})`)
  const codes = answer.values
  if (codes.length === 0) return { state: 'clean', codes, isSevere: false }
  const error = codes.find((code) => code.startsWith('127.255.255.'))
  if (error !== undefined) return unknown(`the list answers with the error code ${error}`)
  if (!codes.every((code) => code.startsWith('127.'))) return unknown('the answer is not in 127.0.0.0/8')
  const isOneOf = (numbers: readonly number[]) => (code: string) =>
    numbers.some((number) => code === `127.0.0.${number}`)
  const state = codes.every(isOneOf(policy)) ? 'policy' : 'listed'
  return { state, codes: codes.toSorted(), isSevere: codes.some(isOneOf(severe)) }
}

export function unknown(problem: string): Verdict {
  return { state: 'unknown', codes: [], isSevere: false, problem }
}
