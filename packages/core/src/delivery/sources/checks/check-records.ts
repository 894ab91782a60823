import type { AnySql } from '../../../platform/database/database.ts'
import { invalidParameter } from '../../../platform/errors.ts'
import { type DnsQuery, withDns } from '../../../platform/net/dns-lookup.ts'
import type { Log } from '../../../platform/process/log.ts'
import { checkAddress, checkReverse, reasonToSkip, type SendingAddress, skippedChecks } from './check-address.ts'
import { type RecordCheck, withPrevious } from './record-check.ts'
import { reverseName } from './reverse-name.ts'
import { type CheckedSource, readChecks, saveRecords } from './store.ts'

export interface RecordCheckOptions {
  readonly sql: AnySql
  readonly log: Log
  readonly dnsServers: readonly string[]
  readonly returnPathHost: string
  /** Whether the DNS may be queried at all. */
  readonly asksDns: boolean
  readonly signal?: AbortSignal | undefined
}

type Addresses = Pick<CheckedSource, 'address' | 'address6' | 'helo'>

/** Looks up the records of a source and stores the results. A record that has become wrong is logged. */
export async function checkRecords(source: CheckedSource, options: RecordCheckOptions): Promise<void> {
  const { sql, log, signal } = options
  const [stored] = await readChecks(sql, [source.id])
  const before = stored?.records ?? []
  const records = withPrevious(await lookUpRecords(source, options), before)
  if (signal?.aborted) return
  await saveRecords(sql, source.id, records)
  for (const record of records) noteChange(log, source, record, before)
}

async function lookUpRecords(source: Addresses, options: RecordCheckOptions): Promise<RecordCheck[]> {
  const { dnsServers, returnPathHost, asksDns, signal } = options
  return withDns({ servers: dnsServers, signal }, async (query) => {
    const checked = sendingAddresses(source).map((address) => {
      const reason = reasonToSkip(address.address, asksDns)
      if (reason !== undefined) return skippedChecks(address, returnPathHost, reason)
      return checkAddress(address, { query, returnPathHost })
    })
    return (await Promise.all(checked)).flat()
  })
}

/**
 * Throws parameterInvalid unless each address has a PTR record with a name that resolves back to it: many receivers refuse mail from others.
 * Private addresses have no such record, and are not checked.
 */
export async function requireReverse(
  source: Addresses,
  { dnsServers, asksDns }: Pick<RecordCheckOptions, 'dnsServers' | 'asksDns'>,
): Promise<void> {
  const addresses = sendingAddresses(source).filter(({ address }) => reasonToSkip(address, asksDns) === undefined)
  const checks = await withDns({ servers: dnsServers }, (query) =>
    Promise.all(addresses.map((address) => reverseOf(address, query))),
  )
  for (const { state, host, expected, problem, found, address } of checks) {
    if (state === 'right') continue
    const now = found.length === 0 ? '' : ` (found ${found.join(', ')})`
    throw invalidParameter(
      address === source.address ? 'address' : 'address6',
      `needs a PTR record that resolves back to it. PTR ${host}${now}: ${problem}. It should be ${expected}, which should resolve to ` +
        `${address} (--force adds the source nevertheless)`,
    )
  }
}

async function reverseOf(source: SendingAddress, query: DnsQuery) {
  const pointers = await query('PTR', reverseName(source.address))
  return { ...(await checkReverse(source, pointers, query)), address: source.address }
}

export function sendingAddresses({ address, address6, helo }: Addresses): SendingAddress[] {
  return [address, ...(address6 === null ? [] : [address6])].map((one) => ({ address: one, helo }))
}

function noteChange(log: Log, { name }: CheckedSource, check: RecordCheck, before: readonly RecordCheck[]): void {
  const isSame = ({ purpose, host, type }: RecordCheck): boolean =>
    purpose === check.purpose && host === check.host && type === check.type
  const old = before.find(isSame)
  const [isBad, wasBad] = [check, old].map((one) => one?.state === 'wrong' || one?.state === 'missing')
  const { purpose, type, host, expected, found, problem } = check
  if (isBad && !wasBad) {
    log.warn(
      { source: name, check: purpose, record: `${type} ${host}`, expected, found, problem },
      'DNS record of a source address is wrong',
    )
  }
  if (wasBad && check.state === 'right')
    log.info(
      { source: name, check: purpose, record: `${type} ${host}` },
      'DNS record of a source address is right again',
    )
}
