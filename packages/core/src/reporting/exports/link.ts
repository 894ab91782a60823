import type { Secrets } from '../../platform/security/secrets.ts'

const CONTEXT = 'export link'

/** Returns an unguessable token for the link to a job's file. It is always the same for a job. */
export function linkToken(secrets: Secrets, id: number): string {
  const plain = Buffer.alloc(8)
  plain.writeBigUInt64BE(BigInt(id))
  return secrets.sealFixed(plain, CONTEXT).toString('base64url')
}

/** Returns the job of a token; undefined if {@link linkToken} did not make it. */
export function jobOfToken(secrets: Secrets, token: string): number | undefined {
  if (!/^[\w-]{1,100}$/.test(token)) return undefined
  const box = Buffer.from(token, 'base64url')
  // Because the last character has unused bits, several texts decode to the same token; only one is accepted.
  if (box.toString('base64url') !== token) return undefined
  try {
    return Number(secrets.open(box, CONTEXT).readBigUInt64BE())
  } catch {
    return undefined
  }
}
