import { type Actor, noteChange, OPERATOR } from '../accounts/audit/index.ts'
import { isUniqueViolation, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import type { DnsRecord, SeenRecord, WantedRecord } from './domain.ts'
import { type DomainStanding, type Finding, findingOf, standingAfter } from './domain-state.ts'
import { judgeRecord } from './judge-record.ts'
import { promoteNextKey, retirePastKeys, type StoredPublicKey, selectPublicKeys } from './keys-store.ts'
import { type DnsAnswer, lookUp } from './look-up.ts'
import { recordKey, type SeenRecords, type ServiceHosts, wantedRecords, withSeen } from './records.ts'
import { makeWay } from './rival.ts'
import { lockDomain, noteActivity, type StoredDomain, selectHolder, updateChecked } from './store.ts'

export interface CheckOptions {
  readonly sql: Sql
  readonly dnsServers: readonly string[]
  readonly hosts: ServiceHosts
  /** Milliseconds a broken domain stays active. */
  readonly graceMs: number
  readonly by: Actor
  readonly signal?: AbortSignal | undefined
}

/**
 * Looks the records of a domain up and draws the conclusions: a key whose record is there signs from now on, a domain whose
 * records are right is active, one whose records are wrong for longer than the grace time is not. No transaction is open
 * while the DNS is asked.
 */
export async function checkDomain(domain: StoredDomain, options: CheckOptions): Promise<StoredDomain> {
  const { sql, hosts, dnsServers, signal } = options
  const wanted = wantedRecords(domain, await selectPublicKeys(sql, [domain.id]), hosts)
  const answers = await lookUp(dnsServers, wanted, signal)
  if (signal?.aborted) return domain
  const finding = found(wanted, answers, domain)
  const gone = domain.state === 'pending' && finding === 'right' ? await goneHolder(domain.name, options) : undefined
  try {
    return await conclude(domain, answers, { ...options, gone })
  } catch (error) {
    // Somebody else had the name a moment before: seen this time.
    if (!isUniqueViolation(error, 'domains_held')) throw error
    return conclude(domain, answers, { ...options, gone })
  }
}

/**
 * A claim whose own records are right takes the name from a holder whose records are gone, so those are looked at now: the id of
 * such a holder. What an earlier look found may have been mended since, and a DNS that does not answer says nothing.
 */
async function goneHolder(name: string, options: CheckOptions): Promise<number | undefined> {
  const { sql, hosts, dnsServers, signal } = options
  const holder = await selectHolder(sql, name)
  if (!holder?.verifiedAt) return undefined
  const wanted = wantedRecords(holder, await selectPublicKeys(sql, [holder.id]), hosts)
  const answers = await lookUp(dnsServers, wanted, signal)
  if (signal?.aborted) return undefined
  await conclude(holder, answers, { ...options, by: OPERATOR, gone: undefined })
  return found(wanted, answers, holder) === 'broken' ? holder.id : undefined
}

function found(
  wanted: readonly WantedRecord[],
  answers: ReadonlyMap<string, DnsAnswer>,
  { records }: StoredDomain,
): Finding {
  const seen = withSeen(wanted, seenNow(wanted, answers, records))
  return findingOf(seen, (record) => answers.get(recordKey(record))?.kind === 'records')
}

async function conclude(
  looked: StoredDomain,
  answers: ReadonlyMap<string, DnsAnswer>,
  { sql, hosts, graceMs, by, gone }: CheckOptions & { readonly gone: number | undefined },
): Promise<StoredDomain> {
  return sql.begin(async (transaction) => {
    const { id } = looked
    const domain = await lockDomain(transaction, id)
    // Deleted meanwhile.
    if (!domain) return looked
    const keysBefore = await selectPublicKeys(transaction, [id])
    const wanted = wantedRecords(domain, keysBefore, hosts)
    const seen = seenNow(wanted, answers, domain.records)
    if (nextIsThere(withSeen(wanted, seen))) await promoteNextKey(transaction, id, domain.state === 'pending')
    await retirePastKeys(transaction, id)
    const keys = await selectPublicKeys(transaction, [id])
    const records = withSeen(wantedRecords(domain, keys, hosts), seen)
    const finding = findingOf(records, (record) => answers.get(recordKey(record))?.kind === 'records')
    const judged = standingAfter(domain, finding, { now: domain.now, graceMs })
    const rival = await rivalOf(transaction, domain, judged, gone)
    const standing = rival === undefined ? judged : domain
    const unsettled = finding !== 'right' && (standing.state !== 'active' || standing.verifiedAt !== null)
    const checked = await updateChecked(transaction, id, {
      ...standing,
      records: rival === undefined ? seen : withProblem(seen, records, rival),
      returnPathHost: ownReturnPath(records),
      often: unsettled || keys.some(({ state }) => state === 'next'),
    })
    const was = told(domain, withSeen(wanted, domain.records), keysBefore)
    const is = told(checked, records, keys)
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

/** Of a claim that is right: why another account keeps the name all the same. Undefined: it does not, or not any more. */
async function rivalOf(
  sql: SqlTransaction,
  claim: StoredDomain,
  judged: DomainStanding,
  gone: number | undefined,
): Promise<string | undefined> {
  return claim.state === 'pending' && judged.state === 'active' ? makeWay(sql, claim, gone) : undefined
}

/** The record that proves the claim says what else is needed. */
function withProblem(seen: SeenRecords, records: readonly DnsRecord[], problem: string): SeenRecords {
  const proof = records.find(({ key }) => key === 'active')
  if (!proof) return seen
  return { ...seen, [recordKey(proof)]: { ...(seen[recordKey(proof)] ?? { state: 'right' }), problem } }
}

/** A failure of the DNS is not a record that is missing: what was seen before stands, and the problem says so. */
function seenNow(
  wanted: readonly WantedRecord[],
  answers: ReadonlyMap<string, DnsAnswer>,
  before: SeenRecords,
): SeenRecords {
  const see = (record: WantedRecord): SeenRecord => {
    const answer = answers.get(recordKey(record))
    const old = before[recordKey(record)] ?? { state: 'unchecked' as const }
    if (!answer) return old
    if (answer.kind === 'records') return judgeRecord(record, answer.values)
    return { ...old, problem: `DNS lookup failed (${answer.code}); showing the result of the previous check` }
  }
  return Object.fromEntries(wanted.map((record) => [recordKey(record), see(record)]))
}

function nextIsThere(records: readonly DnsRecord[]): boolean {
  return records.some(({ key, verified }) => key === 'next' && verified)
}

function ownReturnPath(records: readonly DnsRecord[]): string | null {
  return records.find(({ purpose, verified }) => purpose === 'returnPath' && verified)?.host ?? null
}

/** What the audit log tells of a look: the states, and which key signs. */
function told(
  { state }: Pick<StoredDomain, 'state'>,
  records: readonly DnsRecord[],
  keys: readonly StoredPublicKey[],
): Record<string, unknown> {
  return {
    state,
    signs: keys.find((key) => key.state === 'active')?.selector ?? null,
    records: Object.fromEntries(records.map(({ purpose, host, state }) => [`${purpose} ${host}`, state])),
  }
}
