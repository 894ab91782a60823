import { isIP } from 'node:net'
import type { DnsAnswer, DnsQuery } from '../../../platform/net/dns-lookup.ts'
import { isPrivateAddress } from '../../../platform/net/networks.ts'
import { compared, notRight, plainName, type RecordCheck, right, skipped, unanswered } from './record-check.ts'
import { reverseName } from './reverse-name.ts'
import { checkSpf } from './spf.ts'

/** An address that mail is sent from, as receivers see it. */
export interface SendingAddress {
  readonly address: string
  /** The name in EHLO. */
  readonly helo: string
}

export interface AddressCheckOptions {
  readonly query: DnsQuery
  readonly returnPathHost: string
}

/** Maximum number of PTR names that are resolved; receivers read few as well. */
const MAX_NAMES = 10

/** Checks all records of an address. Never throws. */
export async function checkAddress(source: SendingAddress, { query, returnPathHost }: AddressCheckOptions) {
  const { address } = source
  const pointers = await query('PTR', reverseName(address))
  const [reverse, helo, spf] = await Promise.all([
    checkReverse(source, pointers, query),
    checkHelo(source, query),
    checkSpf(query, returnPathHost, address),
  ])
  return [reverse, checkReverseHelo(source, pointers), helo, { ...spfRecord(returnPathHost, [address]), ...spf }]
}

/** The checks of an address that are not made, and why. */
export function skippedChecks(source: SendingAddress, returnPathHost: string, reason: string): RecordCheck[] {
  const wanted = [reverseRecord(source), reverseHeloRecord(source), heloRecord(source)]
  return [...wanted, spfRecord(returnPathHost, [source.address])].map((record) => skipped(record, reason))
}

/** Why the DNS is not queried for an address; undefined if it is. */
export function reasonToSkip(address: string, asksDns: boolean): string | undefined {
  if (!asksDns) return 'not checked with DELIVERY=sandbox: nothing leaves the machine'
  return isPrivateAddress(address) ? 'not checked: a private address' : undefined
}

/** Forward-confirmed reverse DNS (RFC 8601 2.7.3): a PTR name resolves to the address. */
export async function checkReverse(source: SendingAddress, pointers: DnsAnswer, query: DnsQuery): Promise<RecordCheck> {
  const wanted = reverseRecord(source)
  if (pointers.kind === 'unanswered') return unanswered(wanted, pointers.code)
  const names = pointers.values.slice(0, MAX_NAMES).map(plainName)
  const answers = await Promise.all(names.map((name) => query(addressType(source.address), name)))
  if (answers.some((answer) => resolvesTo(answer, source.address))) return right(wanted, pointers.values)
  const failed = answers.find((answer) => answer.kind === 'unanswered')
  if (failed) return unanswered(wanted, failed.code)
  const elsewhere = answers.flatMap((answer) => (answer.kind === 'records' ? answer.values : []))
  const found = elsewhere.length === 0 ? 'does not exist' : `resolves to ${elsewhere.slice(0, 3).join(', ')}`
  return notRight(wanted, pointers.values, `${names.slice(0, 3).join(', ')} ${found}, not to ${source.address}`)
}

function checkReverseHelo(source: SendingAddress, pointers: DnsAnswer): RecordCheck {
  const problem = 'differs from the name in EHLO'
  return compared(reverseHeloRecord(source), pointers, problem, (name) => plainName(name) === source.helo)
}

export async function checkHelo(source: SendingAddress, query: DnsQuery): Promise<RecordCheck> {
  const wanted = heloRecord(source)
  const answer = await query(addressType(source.address), source.helo)
  return compared(wanted, answer, 'resolves to other addresses', (value) => isSameAddress(value, source.address))
}

export function reverseRecord({ address, helo }: SendingAddress) {
  return { purpose: 'reverse', type: 'PTR', host: reverseName(address), expected: helo } as const
}

function reverseHeloRecord(source: SendingAddress) {
  return { ...reverseRecord(source), purpose: 'reverseHelo' } as const
}

export function heloRecord({ address, helo }: SendingAddress) {
  return { purpose: 'helo', type: addressType(address), host: helo, expected: address } as const
}

export function spfRecord(host: string, addresses: readonly string[]) {
  const terms = addresses.map((address) => `ip${isIP(address)}:${address}`)
  return { purpose: 'spf', type: 'TXT', host, expected: ['v=spf1', ...terms, '~all'].join(' ') } as const
}

function addressType(address: string): 'A' | 'AAAA' {
  return isIP(address) === 6 ? 'AAAA' : 'A'
}

function resolvesTo(answer: DnsAnswer, address: string): boolean {
  return answer.kind === 'records' && answer.values.some((value) => isSameAddress(value, address))
}

/** IPv6 addresses have several spellings, but one reverse name. */
function isSameAddress(found: string, address: string): boolean {
  return isIP(found) === isIP(address) && reverseName(found) === reverseName(address)
}
