import { type SigningKeys, verifySignatures } from '../../../mime/conformance/verify-signatures.ts'

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
  const { getAlignment } = await import('mailauth/lib/tools.js')
  const usable = [...keys].map(([host, values]): [string, string[]] => [
    host,
    values.map((value) => value.replace(TLS_REPORTS_ONLY, '$1s=*')),
  ])
  const signers = (await verifySignatures(raw, new Map(usable))).filter((signature) => signature?.isAligned)
  return signers.find((signature) =>
    claimed.some((domain) => domain !== '' && getAlignment(domain, [signature?.domain ?? '']) !== false),
  )?.domain
}
