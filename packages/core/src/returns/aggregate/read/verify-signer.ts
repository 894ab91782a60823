import { MAX_SIGNATURES, type SigningKeys } from '../signing-keys.ts'

/** As in read-leaves.ts. */
const MAX_HEAD_OCTETS = 64 * 1024
/** RFC 8460 3: a key may be for TLS reports only. */
const TLS_REPORTS_ONLY = /(^|;)\s{0,10}s\s{0,10}=\s{0,10}tlsrpt\s{0,10}(?=;|$)/

export interface SignerQuestion {
  readonly raw: Buffer
  /** The records at the hosts of the signatures' keys. */
  readonly keys: SigningKeys
  /** Domains that the report names as its sender's. */
  readonly claimed: readonly string[]
}

/**
 * Returns the domain whose DKIM signature covers the whole message and belongs to the same organization as the address in From and as one of
 * the domains that the report names; undefined if there is none.
 */
export async function verifySigner({ raw, keys, claimed }: SignerQuestion): Promise<string | undefined> {
  if (keys.size === 0) return undefined
  const [{ dkimVerify }, { getAlignment }] = await Promise.all([
    import('mailauth/lib/dkim/verify.js'),
    import('mailauth/lib/tools.js'),
  ])
  const { results } = await dkimVerify(withFewSignatures(raw), {
    strict: true,
    minBitLength: 1024,
    resolver: async (host, type) => {
      const values = type === 'TXT' ? (keys.get(host.toLowerCase()) ?? []) : []
      if (values.length === 0) throw Object.assign(new Error('ENODATA'), { code: 'ENODATA' })
      return values.map((value) => [value.replace(TLS_REPORTS_ONLY, '$1s=*')])
    },
  })
  for (const { status, signingDomain } of results) {
    if (status.result !== 'pass' || !status.aligned || status.underSized) continue
    const signer = signingDomain?.toLowerCase() ?? ''
    if (claimed.some((domain) => domain !== '' && getAlignment(domain, [signer]) !== false)) return signer
  }
  return undefined
}

/** Each signature may have the whole body hashed in another way, so only the first ones are verified, and no ARC. */
function withFewSignatures(raw: Buffer): Buffer {
  const limit = raw.subarray(0, MAX_HEAD_OCTETS)
  const end = limit.indexOf('\r\n\r\n')
  if (end === -1) return raw.subarray(0, 0)
  let signatures = 0
  const fields = limit
    .subarray(0, end)
    .toString('latin1')
    .split(/\r\n(?![ \t])/)
  const kept = fields.filter((field) => {
    if (/^arc-/i.test(field)) return false
    return !/^dkim-signature[ \t]{0,10}:/i.test(field) || ++signatures <= MAX_SIGNATURES
  })
  return Buffer.concat([Buffer.from(kept.join('\r\n'), 'latin1'), raw.subarray(end)])
}
