import { type Actor, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import { isUniqueViolation, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import type { DkimAlgorithm, DnsRecord, SeenRecord, WantedRecord } from '../domain.ts'
import { promoteNextKey, retirePastKeys, type StoredPublicKey, selectPublicKeys } from '../keys/keys-store.ts'
import {
  isEd25519Key,
  isRequiredKey,
  recordKey,
  type SeenRecords,
  type ServiceHosts,
  wantedRecords,
  withSeen,
} from '../records.ts'
import { lockDomain, noteActivity, type StoredDomain, selectHolder, updateChecked } from '../store.ts'
import { lookUpGuard, saveGuard } from './check-guard.ts'
import { type CheckOutcome, type DomainStatus, outcomeOf, statusAfter } from './domain-state.ts'
import { evaluateRecord, wrong } from './evaluate-record.ts'
import { type Looked, lookUp } from './look-up.ts'
import { makeWay } from './rival.ts'

export interface CheckOptions {
  readonly sql: Sql
  readonly dnsServers: readonly string[]
  readonly hosts: ServiceHosts
  /** Milliseconds a domain with invalid records stays active. */
  readonly graceMs: number
  readonly by: Actor
  readonly signal?: AbortSignal | undefined
}

/**
 * Looks up the records of a domain and updates its state: a new key whose record exists becomes the signing key; a
 * domain with valid records becomes active; one whose records have been invalid for longer than the grace time becomes
 * inactive. No transaction is open during the DNS lookups.
 */
export async function checkDomain(domain: StoredDomain, options: CheckOptions): Promise<StoredDomain> {
  const { sql, hosts, dnsServers, signal } = options
  const wanted = wantedRecords(domain, await selectPublicKeys(sql, [domain.id]), hosts)
  const [responses, guard] = await Promise.all([
    lookUp(dnsServers, domain.name, wanted, signal),
    lookUpGuard(dnsServers, domain, signal),
  ])
  if (signal?.aborted) return domain
  await saveGuard(sql, domain, guard)
  const outcome = found(wanted, responses, domain)
  const lostOwnerId =
    domain.state === 'pending' && outcome === 'right' ? await ownerWithoutRecords(domain.name, options) : undefined
  try {
    return await conclude(domain, responses, { ...options, lostOwnerId })
  } catch (error) {
    // Another account obtained the name a moment before, which is visible now.
    if (!isUniqueViolation(error, 'domains_held')) throw error
    return conclude(domain, responses, { ...options, lostOwnerId })
  }
}

/**
 * Returns the id of the domain's owner if its records no longer exist. A claim with valid records takes the name from
 * such an owner, so the owner's records are looked up now: they may have been corrected since the last check, and a
 * failed DNS query proves nothing.
 */
async function ownerWithoutRecords(name: string, options: CheckOptions): Promise<number | undefined> {
  const { sql, hosts, dnsServers, signal } = options
  const holder = await selectHolder(sql, name)
  if (!holder?.verifiedAt) return undefined
  const wanted = wantedRecords(holder, await selectPublicKeys(sql, [holder.id]), hosts)
  const responses = await lookUp(dnsServers, name, wanted, signal)
  if (signal?.aborted) return undefined
  await conclude(holder, responses, { ...options, by: OPERATOR, lostOwnerId: undefined })
  return found(wanted, responses, holder) === 'broken' ? holder.id : undefined
}

function found(
  wanted: readonly WantedRecord[],
  responses: ReadonlyMap<string, Looked>,
  { records }: StoredDomain,
): CheckOutcome {
  const seen = withSeen(wanted, seenNow(wanted, responses, records))
  return outcomeOf(seen, (record) => responses.get(recordKey(record))?.kind === 'records')
}

async function conclude(
  checkedDomain: StoredDomain,
  responses: ReadonlyMap<string, Looked>,
  { sql, hosts, graceMs, by, lostOwnerId }: CheckOptions & { readonly lostOwnerId: number | undefined },
): Promise<StoredDomain> {
  return sql.begin(async (transaction) => {
    const { id } = checkedDomain
    const domain = await lockDomain(transaction, id)
    // Deleted in the meantime.
    if (!domain) return checkedDomain
    const keysBefore = await selectPublicKeys(transaction, [id])
    const wanted = wantedRecords(domain, keysBefore, hosts)
    const seen = seenNow(wanted, responses, domain.records)
    const found = withSeen(wanted, seen)
    for (const algorithm of new Set(keysBefore.map((key) => key.algorithm))) {
      const ofDomain = { domainId: id, algorithm }
      if (isNextVerified(found, algorithm)) await promoteNextKey(transaction, ofDomain, domain.state === 'pending')
      await retirePastKeys(transaction, ofDomain)
    }
    const keys = await selectPublicKeys(transaction, [id])
    const records = withSeen(wantedRecords(domain, keys, hosts), seen)
    const outcome = outcomeOf(records, (record) => responses.get(recordKey(record))?.kind === 'records')
    const evaluated = statusAfter(domain, outcome, { now: domain.now, graceMs })
    const rival = await rivalOf(transaction, domain, evaluated, lostOwnerId)
    const status = rival === undefined ? evaluated : domain
    const unsettled = outcome !== 'right' && (status.state !== 'active' || status.verifiedAt !== null)
    const checked = await updateChecked(transaction, id, {
      ...status,
      records: rival === undefined ? seen : withProblem(seen, records, rival),
      returnPathHost: ownReturnPath(records),
      often: unsettled || keys.some(({ state }) => state === 'next') || records.some(lacksEd25519),
    })
    const was = auditValues(domain, withSeen(wanted, domain.records), keysBefore)
    const is = auditValues(checked, records, keys)
    if (JSON.stringify(was) !== JSON.stringify(is)) {
      const { accountId, name } = domain
      await noteChange(transaction, {
        accountId,
        by,
        action: 'domain.check',
        object: `domain ${name}`,
        before: was,
        after: is,
      })
    }
    await noteActivity(transaction, domain, { before: domain.state, after: checked.state })
    return checked
  }) as Promise<StoredDomain>
}

/** For a claim with valid records: why another account keeps the name; undefined if it does not. */
async function rivalOf(
  sql: SqlTransaction,
  claim: StoredDomain,
  evaluated: DomainStatus,
  lostOwnerId: number | undefined,
): Promise<string | undefined> {
  return claim.state === 'pending' && evaluated.state === 'active' ? makeWay(sql, claim, lostOwnerId) : undefined
}

/** Adds the problem to the record that proves the claim. */
function withProblem(seen: SeenRecords, records: readonly DnsRecord[], problem: string): SeenRecords {
  const proof = records.find(isRequiredKey)
  if (!proof) return seen
  return { ...seen, [recordKey(proof)]: { ...(seen[recordKey(proof)] ?? { state: 'right' }), problem } }
}

/** A failed DNS query is not a missing record: the previous state is kept, and `problem` reports the failure. */
function seenNow(
  wanted: readonly WantedRecord[],
  responses: ReadonlyMap<string, Looked>,
  before: SeenRecords,
): SeenRecords {
  const seenRecord = (record: WantedRecord): SeenRecord => {
    const answer = responses.get(recordKey(record))
    const old = before[recordKey(record)] ?? { state: 'unchecked' as const }
    if (!answer) return old
    if (answer.kind === 'records' && answer.elsewhere !== undefined) return misplaced(record, answer.elsewhere)
    if (answer.kind === 'records') return evaluateRecord(record, answer.values)
    return { ...old, problem: `DNS lookup failed (${answer.code}); showing the result of the previous check` }
  }
  return Object.fromEntries(wanted.map((record) => [recordKey(record), seenRecord(record)]))
}

function misplaced({ host }: WantedRecord, elsewhere: string): SeenRecord {
  return elsewhere.startsWith(`${host}.`)
    ? wrong([elsewhere], `is at ${elsewhere}: the domain was appended twice; enter the host without it`, 'doubled')
    : wrong([elsewhere], `is at ${elsewhere}; it must be at ${host}`, 'elsewhere')
}

function isNextVerified(records: readonly DnsRecord[], algorithm: DkimAlgorithm): boolean {
  return records.some((record) => record.key === 'next' && record.algorithm === algorithm && record.verified)
}

/** Mail is signed with this key again once its record is back. */
function lacksEd25519(record: DnsRecord): boolean {
  return isEd25519Key(record, 'active') && !record.verified
}

function ownReturnPath(records: readonly DnsRecord[]): string | null {
  return records.find(({ purpose, verified }) => purpose === 'returnPath' && verified)?.host ?? null
}

/** Values for the audit log: the states, and which keys sign. */
function auditValues(
  { state }: Pick<StoredDomain, 'state'>,
  records: readonly DnsRecord[],
  keys: readonly StoredPublicKey[],
): Record<string, unknown> {
  const signing = (wanted: DkimAlgorithm) =>
    keys.find(({ algorithm, state }) => algorithm === wanted && state === 'active')
  const ed25519 = signing('ed25519')
  return {
    state,
    signs: signing('rsa')?.selector ?? null,
    ...(ed25519 && { ed25519: ed25519.selector }),
    records: Object.fromEntries(records.map(({ purpose, host, state }) => [`${purpose} ${host}`, state])),
  }
}
