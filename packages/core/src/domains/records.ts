import type { DnsRecord, Domain, SeenRecord, WantedRecord } from './domain.ts'
import { dkimRecordText } from './keys/dkim-key.ts'
import type { StoredPublicKey } from './keys/keys-store.ts'

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
  const dkim = keys.map(({ selector, publicKey, state }): WantedRecord => {
    const host = `${selector}._domainkey.${name}`
    return { type: 'TXT', host, value: dkimRecordText(publicKey), purpose: 'dkim', key: state }
  })
  const tracking: WantedRecord[] = envelopeName
    ? [{ type: 'CNAME', host: `${envelopeName}.${name}`, value: hosts.tracking, purpose: 'envelope' }]
    : []
  return [
    ...dkim,
    { type: 'TXT', host: name, value: `v=spf1 include:${hosts.returnPath} ~all`, purpose: 'spf' },
    { type: 'CNAME', host: returnPathHostOf(name), value: hosts.returnPath, purpose: 'returnPath' },
    ...tracking,
    { type: 'TXT', host: `_dmarc.${name}`, value: dmarcRecord(hosts), purpose: 'dmarc' },
  ]
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
  return wanted.map((record, at) => {
    const saw = states[at] as SeenRecord
    const required = record.key === 'active' || (record.purpose === 'spf' && !ownReturnPath)
    return { ...record, ...saw, verified: saw.state === 'right', required }
  })
}
