import { lookUpSigningKeys } from '../../domains/keys/signing-keys.ts'
import { readHeader } from '../../mime/read-leaves.ts'
import { asksDns } from '../../platform/config/config.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { HostAddresses } from '../../platform/net/host-addresses.ts'
import { addressIn } from '../read/address-in.ts'
import type { Role } from '../return-address.ts'
import type { ReportKind, ReturnEffect, ReturnResult } from '../return-result.ts'
import { insertReturn, NOT_KEPT, newReturnId, packed, RETURN_LIMITS } from '../store.ts'
import { holderOf, selectHeld } from './holders.ts'
import { type OwnMailConfig, recognizeOwnMail } from './own-mail.ts'
import type { DmarcReading, TlsReading } from './read/report-reading.ts'
import type { ReadReport, ReportReader } from './report-reader.ts'
import { type DmarcPart, insertDmarcPart, type Recorded } from './store-dmarc.ts'
import { insertTlsPart, type TlsPart } from './store-tls.ts'

export interface ReportDependencies {
  readonly sql: Sql
  readonly config: OwnMailConfig
  readonly reader: ReportReader
  readonly hostAddresses: HostAddresses
  readonly now: () => number
}

export interface TakenReport {
  /** The whole message, as its signature covers it. */
  readonly raw: Buffer
  readonly size: number
  readonly role: Role
  readonly client: string | undefined
  /** The address of the operator that got it. */
  readonly sentTo: string
}

/** Seconds that the clock of a receiver may be ahead, and that a report may be late. */
const MAX_AHEAD = 2 * 86_400
const MAX_AGE = 60 * 86_400
const MAX_FROM = 4000
const DNS_DEADLINE_MS = 5000
const NO_KEYS = { keys: new Map(), isUnanswered: false } as const

/**
 * Reads an aggregate report (DMARC, or TLS) and stores what it says about domains of accounts, and about TLS of this service's own hosts, each
 * report once. It is committed when this returns. Of one without effect, only that it came is stored. `dns`: nothing is stored, and it must be
 * taken again.
 *
 * Throws `overloaded`, and the database's errors.
 */
export async function takeReport(dependencies: ReportDependencies, taken: TakenReport): Promise<ReturnResult> {
  const { sql, config, reader } = dependencies
  const { raw, size, role, client, sentTo } = taken
  const { keys, isUnanswered } = asksDns(config) ? await keysOf(raw, config.dnsServers) : NO_KEYS
  if (isUnanswered) return { kind: 'unrecognised', delivery: null, effect: 'none', why: 'dns' }
  const read = await reader.read(raw, keys, client)
  const kind = kindOf(read)
  const parts = await partsOf(dependencies, read)
  const result = (await sql.begin(async (transaction): Promise<ReturnEffect> => {
    const { effect, why } = await record(transaction, read, parts)
    if (effect === 'none' && why !== 'repeated') {
      const row = {
        reading: { kind },
        applied: { effect, why, delivery: undefined },
        reporter: read.sender,
        role,
        size,
      }
      await insertReturn(
        transaction,
        {
          ...row,
          id: await newReturnId(transaction),
          messageId: null,
          recipientNo: null,
          ...(why === 'report-malformed' && read.reading.kind === 'unreadable'
            ? { content: packed(raw), sentTo }
            : NOT_KEPT),
          mailFrom: null,
          forwarded: false,
        },
        RETURN_LIMITS,
      )
    }
    return { effect, why }
  })) as ReturnEffect
  return { kind, delivery: null, ...result }
}

/** `isUnanswered`: the DNS does not know at the moment whether the sender has signed it. */
async function keysOf(raw: Buffer, servers: readonly string[]) {
  const fields = readHeader(raw)
  const sender = addressIn((fields.get('from') ?? '').slice(0, MAX_FROM)) ?? ''
  const senderDomain = sender.slice(sender.lastIndexOf('@') + 1).toLowerCase()
  const signatures = fields.all('dkim-signature')
  const { keys, unanswered } = await lookUpSigningKeys({ signatures, servers, deadlineMs: DNS_DEADLINE_MS })
  return { keys, isUnanswered: unanswered.some((domain) => isRelated(domain, senderDomain)) }
}

/** Whether the last two labels are the same: roughly the same organization, without the public suffix list. */
function isRelated(one: string, other: string): boolean {
  const end = (domain: string) => domain.split('.').slice(-2).join('.')
  return end(one) === end(other)
}

type Parts = { readonly dmarc: readonly DmarcPart[]; readonly tls: readonly TlsPart[] } | 'out-of-date'
type ReportReading = DmarcReading | TlsReading

function kindOf({ reading: { kind } }: ReadReport): ReportKind | 'failed' | 'unrecognised' {
  if (kind === 'dmarc' || kind === 'tls') return `${kind}-report` as const
  return kind === 'failed' ? kind : 'unrecognised'
}

function isReport(reading: ReadReport['reading']): reading is ReportReading {
  return reading.kind === 'dmarc' || reading.kind === 'tls'
}

async function partsOf(dependencies: ReportDependencies, { reading, signer, sender }: ReadReport): Promise<Parts> {
  if (!isReport(reading)) return { dmarc: [], tls: [] }
  const now = dependencies.now() / 1000
  if (reading.end > now + MAX_AHEAD || reading.begin < now - MAX_AGE) return 'out-of-date'
  const from = { reporter: signer ?? sender, isAuthenticated: signer !== undefined }
  return reading.kind === 'dmarc'
    ? { dmarc: await dmarcParts(dependencies, reading, from), tls: [] }
    : { dmarc: [], tls: await tlsParts(dependencies, reading, from) }
}

async function record(
  sql: SqlTransaction,
  { reading }: ReadReport,
  parts: Parts,
): Promise<Pick<ReturnEffect, 'effect' | 'why'>> {
  if (reading.kind === 'failed') return { effect: 'none', why: 'failed' }
  if (reading.kind === 'unreadable') return { effect: 'none', why: reading.why }
  if (parts === 'out-of-date') return { effect: 'none', why: 'report-malformed' }
  const results: Recorded[] = []
  for (const part of parts.dmarc) results.push(await insertDmarcPart(sql, part))
  for (const part of parts.tls) results.push(await insertTlsPart(sql, part))
  if (results.includes('recorded')) return { effect: 'recorded', why: null }
  return { effect: 'none', why: results.find((one) => one !== 'recorded') ?? 'other-domain' }
}

type From = Pick<DmarcPart, 'reporter' | 'isAuthenticated'>

/** Each row belongs to the account that has the domain in From, which is that of the policy or below it. */
async function dmarcParts(
  { sql, config, hostAddresses }: ReportDependencies,
  { domain: policyDomain, groups, organization, reportId, begin, end, policy }: DmarcReading,
  from: From,
): Promise<DmarcPart[]> {
  const isCovered = (name: string): boolean => name === policyDomain || name.endsWith(`.${policyDomain}`)
  const covered = groups.filter(({ headerFrom }) => isCovered(headerFrom))
  const held = await selectHeld(sql, [policyDomain, ...covered.map(({ headerFrom }) => headerFrom)])
  const byDomain = Map.groupBy(covered, ({ headerFrom }) => holderOf(held, headerFrom))
  const own = holderOf(held, policyDomain)
  // One without rows says that there was no mail.
  if (own && !byDomain.has(own)) byDomain.set(own, [])
  if (byDomain.size === 0 || (byDomain.size === 1 && byDomain.has(undefined))) return []
  const ownMail = await recognizeOwnMail(sql, covered, { config, hostAddresses })
  const report = { organization, reportId, begin, end, policy, policyDomain, ...from }
  return [...byDomain].flatMap(([domain, of]) =>
    domain
      ? [{ ...report, domain, groups: of.map((group) => ({ ...group, ours: ownMail.has(group, domain.name) })) }]
      : [],
  )
}

async function tlsParts(
  { sql, config }: ReportDependencies,
  { policies, organization, reportId, begin, end }: TlsReading,
  from: From,
): Promise<TlsPart[]> {
  const byName = Map.groupBy(policies, ({ domain }) => domain)
  const held = await selectHeld(sql, [...byName.keys()])
  return [...byName].flatMap(([policyDomain, of]) => {
    const domain = holderOf(held, policyDomain)
    const isOwn = policyDomain === config.returnPathHost || policyDomain === config.heloName
    if (!domain && !isOwn) return []
    return [{ organization, reportId, begin, end, policyDomain, domain, policies: of, ...from }]
  })
}
