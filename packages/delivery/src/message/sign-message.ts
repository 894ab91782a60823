import type { DkimSigner, LoadedMessage } from '@postrider/core'
import { dkimSignature, type PendingSignature, signedHeader } from './dkim.ts'
import { bodyHash, bodyHashInSlices } from './relaxed-body.ts'

/** Maximum bytes of a body that is hashed synchronously. */
const MAX_SYNC_BYTES = 256 * 1024

/** A message split at the empty line; the CRLF between the parts belongs to neither (RFC 5322 2.1). */
interface Halves {
  /** Includes the CRLF of its last field. */
  readonly head: Buffer
  readonly body: Buffer
}

/** Hashes of stored bodies, by their buffer: recipients of relayed mail share them, even with different header fields. */
const shared = new WeakMap<Buffer, string | Promise<string>>()

export interface Signing {
  /** The signer of the sending domain. */
  readonly signer: DkimSigner
  /** The signer of the operator's own domain, whose signature is added above; null if there is none. */
  readonly operator: DkimSigner | null
  /** Milliseconds since 1970. */
  readonly signedAt: number
  /** Header fields above those of the message, with CRLF. */
  readonly added: string
}

/**
 * The DKIM-Signature fields of a message to one recipient, with their CRLF: one for each key, all of one body hash and header. `rendered` was built
 * from `message`. Resolves when the signatures are begun.
 */
export async function signMessage(
  message: LoadedMessage,
  rendered: Buffer,
  { added, signer, operator, signedAt }: Signing,
): Promise<PendingSignature> {
  const { head, body } = halvesOf(rendered)
  const header = signedHeader(added + head.toString('latin1'))
  const hash = await hashOf(body, message)
  const signers = operator && operator.domain !== signer.domain ? [operator, signer] : [signer]
  const signatures = signers.flatMap(({ domain, ed25519, ...key }) => [
    dkimSignature(header, hash, { domain, algorithm: 'rsa', key, signedAt }),
    // Below that of RSA, which every verifier knows: some read the first signature only.
    ...(ed25519 ? [dkimSignature(header, hash, { domain, algorithm: 'ed25519', key: ed25519, signedAt })] : []),
  ])
  const [only] = signatures
  if (only && signatures.length === 1) return only
  return {
    length: signatures.reduce((sum, { length }) => sum + length, 0),
    fields: Promise.all(signatures.map(({ fields }) => fields)).then((fields) => fields.join('')),
  }
}

function hashOf(body: Buffer, { format, parts }: LoadedMessage): string | Promise<string> {
  const stored = format === 'mime' ? parts?.get(0) : undefined
  if (!stored || !halvesOf(stored).body.equals(body)) return compute(body)
  let hash = shared.get(stored)
  if (hash === undefined) shared.set(stored, (hash = compute(body)))
  return hash
}

function compute(body: Buffer): string | Promise<string> {
  return body.length > MAX_SYNC_BYTES ? bodyHashInSlices(body) : bodyHash(body)
}

function halvesOf(message: Buffer): Halves {
  const end = message.indexOf('\r\n\r\n')
  if (end === -1) return { head: message, body: Buffer.alloc(0) }
  return { head: message.subarray(0, end + 2), body: message.subarray(end + 4) }
}
