import { isIP } from 'node:net'
import { serviceHosts } from '../../../domains/service-hosts.ts'
import { asksDns, type Config } from '../../../platform/config/config.ts'
import type { AnySql } from '../../../platform/database/database.ts'
import { type DnsAnswer, type DnsQuery, memoized, withDns } from '../../../platform/net/dns-lookup.ts'
import { isPrivateAddress } from '../../../platform/net/networks.ts'
import { readEgress } from '../egress.ts'
import {
  checkHelo,
  checkReverse,
  heloRecord,
  reasonToSkip,
  reverseRecord,
  type SendingAddress,
  spfRecord,
} from './check-address.ts'
import { forEachOf } from './check-due.ts'
import { sendingAddresses } from './check-records.ts'
import { checkOwnRecords } from './own-records.ts'
import { notRight, plainName, type RecordCheck, right, skipped, unanswered } from './record-check.ts'
import { reverseName } from './reverse-name.ts'
import { checkSpf, type SpfResult } from './spf.ts'

/** All records that the operator publishes for the service itself, not for the sending domains. */
export interface DnsPlan {
  readonly records: readonly RecordCheck[]
  /** Advice that belongs to no record. */
  readonly notes: readonly string[]
}

export interface DnsPlanOptions {
  readonly sql: AnySql
  readonly config: Pick<
    Config,
    'delivery' | 'dnsServers' | 'returnPathHost' | 'receivesReports' | 'publicUrl' | 'heloName' | 'operatorDkim'
  >
  /** Milliseconds after which lookups are given up, and their records `unknown`. By default a minute, for a thousand sources. */
  readonly deadlineMs?: number
}

const DEADLINE_MS = 60_000
const CONCURRENT = 20
/** RFC 7208 3.4: a response with the record should fit in 512 bytes. */
const MAX_SPF = 450

/** Looks up all of them. Private addresses, and all in the sandbox, are `skipped`. */
export async function planDns({ sql, config, deadlineMs = DEADLINE_MS }: DnsPlanOptions): Promise<DnsPlan> {
  const { sources } = await readEgress(sql)
  const smartHosts = await sql<{ name: string }[]>`select name from smart_hosts order by id`
  const skip = asksDns(config) ? undefined : (reasonToSkip('', false) as string)
  return withDns({ servers: config.dnsServers, deadlineMs }, async (resolve) => {
    const query = memoized(resolve)
    const own = sources.flatMap(sendingAddresses)
    const host = own.length > 0 || skip !== undefined ? NOT_ASKED : await resolveHost(config.heloName, query)
    const addresses = own.length > 0 ? own : host.addresses
    const records = await checkEach(addresses, skip, query)
    if (sources.length === 0 && addresses.length === 0) records.push(unknownAddress(config.heloName, skip, host.failed))
    const spf = await planSpf(addresses, { config, query, skip })
    records.push(
      skip === undefined ? await checkReturnPath(config, query) : skipped(returnPathRecord(config), skip),
      spf,
      skip === undefined ? await checkTracking(config, query) : skipped(trackingRecord(config), skip),
      ...(await checkOwnRecords(config, query, skip)),
    )
    return {
      records: unique(records),
      notes: notesOf(config, {
        sources: sources.length,
        smartHosts: smartHosts.map(({ name }) => name),
        spf,
      }),
    }
  })
}

interface ResolvedHost {
  readonly addresses: readonly SendingAddress[]
  /** Why there may be others: a query that failed. */
  readonly failed?: string | undefined
}

const NOT_ASKED: ResolvedHost = { addresses: [] }

/** Without sources, what is known of the address is the host name in EHLO. */
async function resolveHost(host: string, query: DnsQuery): Promise<ResolvedHost> {
  const answers = await Promise.all([query('A', host), query('AAAA', host)])
  const failed = answers.find((answer) => answer.kind === 'unanswered')
  return {
    addresses: answers.flatMap(valuesOf).map((address) => ({ address, helo: host })),
    failed: failed?.kind === 'unanswered' ? failed.code : undefined,
  }
}

function unknownAddress(host: string, skip: string | undefined, failed: string | undefined): RecordCheck {
  const wanted = { purpose: 'helo', type: 'A', host, expected: 'the address that mail is sent from' } as const
  if (skip !== undefined) return skipped(wanted, skip)
  return failed === undefined ? notRight(wanted, [], '') : unanswered(wanted, failed)
}

async function checkEach(
  addresses: readonly SendingAddress[],
  skip: string | undefined,
  query: DnsQuery,
): Promise<RecordCheck[]> {
  const records: RecordCheck[][] = addresses.map(() => [])
  await forEachOf([...addresses.entries()], CONCURRENT, async ([at, source]) => {
    const reason = skip ?? reasonToSkip(source.address, true)
    if (reason !== undefined) {
      records[at] = [skipped(heloRecord(source), reason), skipped(reverseRecord(source), reason)]
      return
    }
    const pointers = await query('PTR', reverseName(source.address))
    const [helo, reverse] = await Promise.all([checkHelo(source, query), checkReverse(source, pointers, query)])
    records[at] = [helo, withHelo(reverse, pointers, source)]
  })
  return records.flat()
}

/** A PTR record that is confirmed should also have the name in EHLO. */
function withHelo(reverse: RecordCheck, pointers: DnsAnswer, { helo }: SendingAddress): RecordCheck {
  if (reverse.state !== 'right' || valuesOf(pointers).some((name) => plainName(name) === helo)) return reverse
  return { ...reverse, state: 'wrong', problem: 'differs from the name in EHLO' }
}

interface PlanOptions extends Pick<DnsPlanOptions, 'config'> {
  readonly query: DnsQuery
  readonly skip: string | undefined
}

/** One record that permits all addresses. */
async function planSpf(sending: readonly SendingAddress[], { config, query, skip }: PlanOptions): Promise<RecordCheck> {
  const host = config.returnPathHost
  const addresses = sending.map(({ address }) => address).filter((address) => !isPrivateAddress(address))
  const wanted = {
    ...spfRecord(host, addresses),
    ...(config.delivery.kind === 'relay' ? { expected: 'v=spf1 … ~all, with the addresses of the relay host' } : {}),
    ...(addresses.length === 0 && config.delivery.kind !== 'relay'
      ? { expected: `v=spf1 a:${config.heloName} ~all` }
      : {}),
  }
  if (skip !== undefined) return skipped(wanted, skip)
  if (addresses.length === 0 || config.delivery.kind === 'relay') return anySpf(wanted, await query('TXT', host))
  const results: SpfResult[] = []
  await forEachOf(addresses, CONCURRENT, async (address) => results.push(await checkSpf(query, host, address)))
  const { found } = results[0] as SpfResult
  const worst = ['missing', 'wrong', 'unknown', 'right'].find((state) => results.some((one) => one.state === state))
  if (worst === 'right') return right(wanted, found)
  const problems = [...new Set(results.flatMap(({ state, problem }) => (state === worst ? (problem ?? []) : [])))]
  const problem = problems.slice(0, 5).join('; ') + (problems.length > 5 ? `; and ${problems.length - 5} more` : '')
  return { ...wanted, found, state: worst as RecordCheck['state'], problem }
}

function anySpf(wanted: ReturnType<typeof spfRecord> | RecordCheck, answer: DnsAnswer): RecordCheck {
  if (answer.kind === 'unanswered') return unanswered(wanted, answer.code)
  const found = answer.values.filter((text) => /^v=spf1( |$)/i.test(text))
  return found.length === 1 ? right(wanted, found) : notRight(wanted, found, 'several SPF records; one is allowed')
}

function returnPathRecord({ returnPathHost, heloName }: Pick<Config, 'returnPathHost' | 'heloName'>) {
  return { purpose: 'returnPath', type: 'MX', host: returnPathHost, expected: `10 ${heloName}` } as const
}

/** Receivers refuse mail whose return path has no host. Without MX records, the host itself is meant (RFC 5321 5.1). */
async function checkReturnPath(config: DnsPlanOptions['config'], query: DnsQuery): Promise<RecordCheck> {
  const wanted = returnPathRecord(config)
  const answer = await query('MX', wanted.host)
  if (answer.kind === 'unanswered') return unanswered(wanted, answer.code)
  if (answer.values.length === 0) return checkImplicitMx(wanted, query)
  const hosts = answer.values.map((value) => plainName(value.split(' ')[1] ?? '')).filter(Boolean)
  if (hosts.length === 0) return notRight(wanted, answer.values, 'the host accepts no mail (null MX)')
  const found = await Promise.all(hosts.map((host) => resolveHost(host, query)))
  if (found.some(({ addresses }) => addresses.length > 0)) return right(wanted, answer.values)
  const failed = found.find((one) => one.failed !== undefined)?.failed
  if (failed !== undefined) return unanswered(wanted, failed)
  return notRight(wanted, answer.values, `${hosts.slice(0, 3).join(', ')} has no address`)
}

async function checkImplicitMx(wanted: ReturnType<typeof returnPathRecord>, query: DnsQuery): Promise<RecordCheck> {
  const { addresses, failed } = await resolveHost(wanted.host, query)
  if (addresses.length === 0 && failed !== undefined) return unanswered(wanted, failed)
  return addresses.length === 0
    ? notRight(wanted, [], '')
    : right(
        wanted,
        addresses.map(({ address }) => address),
      )
}

function trackingRecord(config: DnsPlanOptions['config']) {
  const { tracking } = serviceHosts(config)
  return { purpose: 'tracking', type: 'A', host: tracking, expected: 'the address of the API' } as const
}

async function checkTracking(config: DnsPlanOptions['config'], query: DnsQuery): Promise<RecordCheck> {
  const wanted = trackingRecord(config)
  const answers = await Promise.all([query('A', wanted.host), query('AAAA', wanted.host)])
  const found = answers.flatMap(valuesOf)
  const failed = answers.find((answer) => answer.kind === 'unanswered')
  if (found.length === 0 && failed?.kind === 'unanswered') return unanswered(wanted, failed.code)
  return found.length === 0 ? notRight(wanted, [], '') : right(wanted, found)
}

interface Noted {
  /** Their number. */
  readonly sources: number
  /** Their names. */
  readonly smartHosts: readonly string[]
  readonly spf: RecordCheck
}

function notesOf(config: DnsPlanOptions['config'], { sources, smartHosts, spf }: Noted): string[] {
  const { hostname } = new URL(config.publicUrl)
  const { delivery, heloName } = config
  return [
    ...(sources === 0
      ? [`no sources: the operating system chooses the address; ${heloName} (HELO_NAME) should have it`]
      : []),
    ...(delivery.kind === 'relay' ? [`SPF must permit the addresses from which ${delivery.host} sends`] : []),
    ...(smartHosts.length > 0
      ? [`SPF must also permit the addresses from which these smart hosts send: ${smartHosts.join(', ')}`]
      : []),
    ...(!heloName.includes('.') ? ['HELO_NAME is not a fully qualified host name; receivers refuse it'] : []),
    ...(isIP(hostname) > 0 || !hostname.includes('.')
      ? [`PUBLIC_URL has no host name of the public DNS (${hostname}); links in mail lead there`]
      : []),
    ...(spf.expected.length > MAX_SPF
      ? ['the SPF record is long: split it into records of at most 450 characters that it includes (RFC 7208 3.4)']
      : []),
  ]
}

function valuesOf(answer: DnsAnswer): readonly string[] {
  return answer.kind === 'records' ? answer.values : []
}

/** Sources that have the same name in EHLO and address need one record. */
function unique(records: readonly RecordCheck[]): RecordCheck[] {
  return [...new Map(records.map((record) => [`${record.type} ${record.host} ${record.expected}`, record])).values()]
}
