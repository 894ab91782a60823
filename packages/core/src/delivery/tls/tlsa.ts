import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import type { TlsaData } from '../../platform/net/dnssec/index.ts'

/** A TLSA record that can be compared with certificates (RFC 6698, RFC 7672 3.1). */
export interface TlsaRecord {
  /** 2: an authority of the domain (DANE-TA); 3: the certificate of the server itself (DANE-EE). */
  readonly usage: 2 | 3
  /** 0: the whole certificate; 1: its public key. */
  readonly selector: 0 | 1
  /** 0: the data itself; 1: its SHA-256; 2: its SHA-512. */
  readonly matching: 0 | 1 | 2
  readonly data: Buffer
}

/** Maximum number of records of a host that are used, of those that are looked at, and of bytes in one. */
const MAX_RECORDS = 32
const MAX_READ = 128
const MAX_DATA = 8192
const HASHES = { 1: { name: 'sha256', bytes: 32 }, 2: { name: 'sha512', bytes: 64 } } as const

/**
 * Returns the usable records, in an order that does not depend on that of the response. Usages 0 and 1 (PKIX) are unusable for mail (RFC
 * 7672 3.1.3), as are unknown parameters, and data that cannot be what the record says it is. Records with SHA-256 are left out where there
 * are some with SHA-512 of the same usage and selector (RFC 7671 9).
 */
export function usableRecords(all: readonly TlsaData[]): TlsaRecord[] {
  const usable = new Map<string, TlsaRecord>()
  for (const data of all.slice(0, MAX_READ)) {
    const record = usableRecord(data)
    if (record) usable.set(tlsaText(record), record)
  }
  const strong = new Set([...usable.values()].filter(({ matching }) => matching === 2).map(kindOf))
  return [...usable]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, record]) => record)
    .filter((record) => record.matching !== 1 || !strong.has(kindOf(record)))
    .slice(0, MAX_RECORDS)
}

/** The record as in a zone file. */
export function tlsaText({ usage, selector, matching, data }: TlsaRecord): string {
  return `${usage} ${selector} ${matching} ${data.toString('hex')}`
}

/** Whether a certificate is the one of the record. */
export function matches({ selector, matching, data }: TlsaRecord, certificate: X509Certificate): boolean {
  const selected = selector === 0 ? certificate.raw : publicKeyOf(certificate)
  if (selected === undefined) return false
  return data.equals(matching === 0 ? selected : createHash(HASHES[matching].name).update(selected).digest())
}

function kindOf({ usage, selector }: TlsaRecord): string {
  return `${usage} ${selector}`
}

function usableRecord({
  usage,
  selector,
  matchingType: matching,
  certificate: data,
}: TlsaData): TlsaRecord | undefined {
  if ((usage !== 2 && usage !== 3) || (selector !== 0 && selector !== 1)) return undefined
  if (matching === 1 || matching === 2)
    return data.length === HASHES[matching].bytes ? { usage, selector, matching, data } : undefined
  if (matching !== 0 || data.length > MAX_DATA || !isReadable(selector, data)) return undefined
  return { usage, selector, matching, data }
}

function isReadable(selector: 0 | 1, data: Buffer): boolean {
  try {
    if (selector === 0) new X509Certificate(data)
    else createPublicKey({ key: data, format: 'der', type: 'spki' })
    return true
  } catch {
    return false
  }
}

/** The public key with its algorithm (SubjectPublicKeyInfo) in DER; undefined if OpenSSL does not know its algorithm. */
function publicKeyOf(certificate: X509Certificate): Buffer | undefined {
  try {
    return certificate.publicKey.export({ type: 'spki', format: 'der' })
  } catch {
    return undefined
  }
}
