import { type DnsAnswer, printableValue } from '../../../platform/net/dns-lookup.ts'

/**
 * `unknown`: the DNS has not answered yet; `skipped`: the DNS is not queried for this record, and `problem` has the reason.
 */
export type CheckState = 'right' | 'wrong' | 'missing' | 'unknown' | 'skipped'

/**
 * - reverse: the PTR record has a name that resolves to the address (forward-confirmed reverse DNS)
 * - reverseHelo: the PTR record has the name in EHLO
 * - helo: the name in EHLO resolves to the address
 * - spf: SPF of the return path permits the address
 * - returnPath: returned mail has a host
 * - tracking: the host of tracked links exists
 * - reports: receivers may send DMARC reports about all sending domains here
 * - dkim: the operator's own DKIM key
 */
export type CheckPurpose = 'reverse' | 'reverseHelo' | 'helo' | 'spf' | 'returnPath' | 'tracking' | 'reports' | 'dkim'

/** A DNS record that the operator publishes, and what was found. */
export interface RecordCheck {
  readonly purpose: CheckPurpose
  readonly type: 'A' | 'AAAA' | 'MX' | 'PTR' | 'TXT'
  readonly host: string
  /** The value to publish. */
  readonly expected: string
  readonly found: readonly string[]
  readonly state: CheckState
  /** Why the record is wrong, or why the state is unknown or outdated. */
  readonly problem?: string
}

type Wanted = Pick<RecordCheck, 'purpose' | 'type' | 'host' | 'expected'>

/** Maximum number of values that are kept for display. */
const MAX_SHOWN = 5

export function right(wanted: Wanted, found: readonly string[]): RecordCheck {
  return { ...wanted, found: shown(found), state: 'right' }
}

/** `missing` if nothing was found. */
export function notRight(wanted: Wanted, found: readonly string[], problem: string): RecordCheck {
  return found.length === 0
    ? { ...wanted, found: [], state: 'missing', problem: 'does not exist' }
    : { ...wanted, found: shown(found), state: 'wrong', problem: printableValue(problem) }
}

export function unanswered(wanted: Wanted, code: string): RecordCheck {
  return { ...wanted, found: [], state: 'unknown', problem: `DNS lookup failed (${code})` }
}

export function skipped(wanted: Wanted, problem: string): RecordCheck {
  return { ...wanted, found: [], state: 'skipped', problem }
}

/** Compares the values of a record with the expected one. */
export function compared(wanted: Wanted, answer: DnsAnswer, problem: string, same: (value: string) => boolean) {
  if (answer.kind === 'unanswered') return unanswered(wanted, answer.code)
  return answer.values.some(same) ? right(wanted, answer.values) : notRight(wanted, answer.values, problem)
}

/**
 * A failed DNS query is not a missing record: the results of the previous check stay, and `problem` reports the
 * failure.
 */
export function withPrevious(now: readonly RecordCheck[], before: readonly RecordCheck[]): RecordCheck[] {
  return now.map((check) => {
    if (check.state !== 'unknown') return check
    const old = before.find(({ purpose, type, host }) => {
      return purpose === check.purpose && type === check.type && host === check.host
    })
    if (!old || old.expected !== check.expected || ['unknown', 'skipped'].includes(old.state)) return check
    return { ...old, problem: `${check.problem}; showing the result of the previous check` }
  })
}

/** DNS names are compared without case and without the final dot. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** The values for display: anyone may publish anything. */
export function shown(found: readonly string[]): string[] {
  return found.slice(0, MAX_SHOWN).map(printableValue)
}
