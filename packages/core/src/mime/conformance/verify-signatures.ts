import { splitFields } from '../end-of-field.ts'

/** The TXT records at the hosts of DKIM keys, by host. */
export type SigningKeys = ReadonlyMap<string, readonly string[]>

/** Signatures of a message that are verified: each may have the whole body hashed in another way. */
export const MAX_SIGNATURES = 5
/** As in read-leaves.ts. */
const MAX_HEAD_OCTETS = 64 * 1024

export interface VerifiedSignature {
  /** Of `d=`, in lower case. */
  readonly domain: string
  /** Whether its organizational domain is that of the address in From. */
  readonly isAligned: boolean
}

/**
 * Verifies the DKIM signatures of a message in their order (RFC 6376 6.1, RFC 8301); undefined for one that does not verify, or covers only the
 * beginning of the body. Later ones than the first five are not in the list. Takes up to a second for 30 MB: for a thread.
 */
export async function verifySignatures(
  message: Buffer,
  keys: SigningKeys,
): Promise<readonly (VerifiedSignature | undefined)[]> {
  if (keys.size === 0) return []
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js')
  // In its strict mode, it has a result for every signature.
  const { results } = await dkimVerify(withFewSignatures(message), {
    strict: true,
    minBitLength: 1024,
    resolver: async (host, type) => {
      const values = type === 'TXT' ? (keys.get(host.toLowerCase()) ?? []) : []
      if (values.length === 0) throw Object.assign(new Error('ENODATA'), { code: 'ENODATA' })
      return values.map((value) => [value])
    },
  })
  return results.map(({ status, signingDomain }) =>
    status.result === 'pass' && !status.underSized
      ? { domain: signingDomain?.toLowerCase() ?? '', isAligned: Boolean(status.aligned) }
      : undefined,
  )
}

/** Without those that are not verified, and without ARC. */
function withFewSignatures(raw: Buffer): Buffer {
  const limit = raw.subarray(0, MAX_HEAD_OCTETS)
  const end = limit.indexOf('\r\n\r\n')
  if (end === -1) return raw.subarray(0, 0)
  let signatures = 0
  const kept = splitFields(limit.toString('latin1', 0, end + 2)).filter((field) => {
    if (/^arc-/i.test(field)) return false
    return !/^dkim-signature[ \t]*:/i.test(field) || ++signatures <= MAX_SIGNATURES
  })
  return Buffer.concat([Buffer.from(kept.join(''), 'latin1'), raw.subarray(end + 2)])
}
