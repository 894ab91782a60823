import { isIP } from 'node:net'
import type { DkimKeyState, DnsRecord, Domain, SeenRecord, WantedRecord } from './domain.ts'
import { dkimRecordText } from './keys/dkim-key.ts'
import type { StoredPublicKey } from './keys/keys-store.ts'
import { txtStrings } from './txt-strings.ts'

/** The service's hosts that a domain's records point to. */
export interface ServiceHosts {
  readonly returnPath: string
  readonly tracking: string
  /** The address that DMARC reports are sent to; undefined if none are expected. */
  readonly dmarcReports?: string | undefined
}

/** Label of the host below a domain whose CNAME gives the domain its own return path. */
export const RETURN_PATH_LABEL = 'pr-bounces'

/** Results of the lookups of a domain's records, by type and host. */
export type SeenRecords = Readonly<Record<string, SeenRecord>>

export function recordKey({ type, host }: Pick<WantedRecord, 'type' | 'host'>): string {
  return `${type} ${host}`
}

export function wantedRecords(
  { name, envelopeName }: Pick<Domain, 'name' | 'envelopeName'>,
  keys: readonly StoredPublicKey[],
  hosts: ServiceHosts,
): WantedRecord[] {
  const dkim = keys.map((key): WantedRecord => {
    const { algorithm, selector, state } = key
    const host = `${selector}._domainkey.${name}`
    return { type: 'TXT', host, value: dkimRecordText(key), purpose: 'dkim', key: state, algorithm }
  })
  const tracking: WantedRecord[] = envelopeName
    ? [{ type: 'CNAME', host: `${envelopeName}.${name}`, value: hosts.tracking, purpose: 'envelope' }]
    : []
  const records: WantedRecord[] = [
    ...dkim,
    { type: 'TXT', host: name, value: `v=spf1 include:${hosts.returnPath} ~all`, purpose: 'spf' },
    { type: 'CNAME', host: returnPathHostOf(name), value: hosts.returnPath, purpose: 'returnPath' },
    ...tracking,
    { type: 'TXT', host: `_dmarc.${name}`, value: dmarcRecord(hosts), purpose: 'dmarc' },
  ]
  return records.map((record) => withStrings(isProvisional(record, hosts) ? { ...record, provisional: true } : record))
}

function withStrings(record: WantedRecord): WantedRecord {
  const strings = record.type === 'TXT' ? txtStrings(record.value) : []
  return strings.length > 1 ? { ...record, strings } : record
}

/** Whether the record names a host of the service that the DNS does not have: one without a dot, of a local network, or an address. */
function isProvisional({ purpose }: WantedRecord, { dmarcReports, returnPath, tracking }: ServiceHosts): boolean {
  if (purpose === 'dkim' || (purpose === 'dmarc' && dmarcReports === undefined)) return false
  const host = purpose === 'envelope' ? tracking : returnPath
  return !host.includes('.') || isIP(host) !== 0 || /\.(local|localdomain|localhost|internal|lan|invalid)$/i.test(host)
}

function dmarcRecord({ dmarcReports }: ServiceHosts): string {
  return dmarcReports === undefined ? 'v=DMARC1; p=none' : `v=DMARC1; p=none; rua=mailto:${dmarcReports}`
}

/** Returns the domain's own tracking host if the last check found that it points to the service, otherwise null. */
export function ownTrackingHost({ name, envelopeName }: Pick<Domain, 'name' | 'envelopeName'>, seen: SeenRecords) {
  if (!envelopeName) return null
  const host = `${envelopeName}.${name}`
  return seen[recordKey({ type: 'CNAME', host })]?.state === 'right' ? host : null
}

export function returnPathHostOf(name: string): string {
  return `${RETURN_PATH_LABEL}.${name}`
}

/** Combines the records to publish with the results of the last check. */
export function withSeen(wanted: readonly WantedRecord[], seen: SeenRecords): DnsRecord[] {
  const states = wanted.map((record) => seen[recordKey(record)] ?? { state: 'unchecked' as const })
  const ownReturnPath = wanted.some(({ purpose }, at) => purpose === 'returnPath' && states[at]?.state === 'right')
  const records = wanted.map((record, at) => {
    const saw = states[at] as SeenRecord
    const required = isRequiredKey(record) || (record.purpose === 'spf' && !ownReturnPath)
    return { ...record, ...saw, verified: saw.state === 'right', required }
  })
  const withEd25519 = records.some((record) => isEd25519Key(record, 'active') && record.verified)
  return withEd25519 ? records : records.map(withoutSignature)
}

/** Whether it is the record of the RSA key that signs: any verifier knows RSA, so a domain sends only with this record. */
export function isRequiredKey({ key, algorithm }: WantedRecord): boolean {
  return key === 'active' && algorithm === 'rsa'
}

export function isEd25519Key({ key, algorithm }: WantedRecord, state: DkimKeyState): boolean {
  return key === state && algorithm === 'ed25519'
}

/** Adds what follows from the state of the record of an Ed25519 key, while none of the domain's signs. */
function withoutSignature(record: DnsRecord): DnsRecord {
  const isWanted = isEd25519Key(record, 'active') || isEd25519Key(record, 'next')
  if (!isWanted || record.verified || record.state === 'unchecked') return record
  return { ...record, problem: [record.problem, NO_SIGNATURE].filter((text) => text !== undefined).join('; ') }
}

const NO_SIGNATURE = 'mail has no Ed25519 signature until this record is found'
