import type { Secrets } from '../../platform/secrets.ts'

const CONTEXT = 'export link'

/** What makes the link to a file one that nobody guesses; the same for a job each time it is told. */
export function linkToken(secrets: Secrets, id: number): string {
  const plain = Buffer.alloc(8)
  plain.writeBigUInt64BE(BigInt(id))
  return secrets.sealFixed(plain, CONTEXT).toString('base64url')
}

/** The job; undefined when {@link linkToken} has not made it. */
export function jobOfToken(secrets: Secrets, token: string): number | undefined {
  if (!/^[\w-]{1,100}$/.test(token)) return undefined
  const box = Buffer.from(token, 'base64url')
  // Unused bits of the last character would make several tokens of one.
  if (box.toString('base64url') !== token) return undefined
  try {
    return Number(secrets.open(box, CONTEXT).readBigUInt64BE())
  } catch {
    return undefined
  }
}
