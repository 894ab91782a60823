import { dkimBody } from 'mailauth/lib/dkim/body/index.js'
import { headerFields } from '../header-fields.ts'
import { readTagList } from '../tag-list.ts'
import { MAX_SIGNATURES } from './verify-signatures.ts'

/**
 * Whether a message has a DKIM signature whose hash is that of its body (RFC 6376 3.7). Such a signature is taken to be valid, since that takes no
 * query of DNS, and its body is kept as it is.
 */
export function hasIntactSignature(message: Buffer): boolean {
  const end = message.indexOf('\r\n\r\n')
  if (end === -1) return false
  const signatures = headerFields(message.subarray(0, end)).all('dkim-signature').slice(0, MAX_SIGNATURES)
  return signatures.some((signature) => isHashOf(message.subarray(end + 4), signature))
}

/** The names of the fields that DKIM signatures cover (RFC 6376 3.5), in lower case. `signatures` are the values of their fields. */
export function signedFields(signatures: readonly string[]): ReadonlySet<string> {
  const covered = signatures
    .slice(0, MAX_SIGNATURES)
    .flatMap((signature) => readTagList(signature)?.get('h')?.split(':') ?? [])
  return new Set(covered.map((name) => name.trim().toLowerCase()))
}

function isHashOf(body: Buffer, signature: string): boolean {
  const tags = readTagList(signature)
  if (!tags) return false
  const [algorithm = '', canonicalization = ''] = [tags.get('a'), tags.get('c')].map((tag) => tag?.toLowerCase())
  const length = tags.get('l')
  if (
    !/^[a-z0-9]+-sha(?:1|256)$/.test(algorithm) ||
    !/^(?:(?:simple|relaxed)(?:\/(?:simple|relaxed))?)?$/.test(canonicalization)
  )
    return false
  const [, ofBody = 'simple'] = canonicalization.split('/')
  const hash = dkimBody(ofBody, algorithm, length === undefined ? undefined : Number(length))
  hash.update(body)
  return hash.digest('base64') === tags.get('bh')?.replace(/\s/g, '')
}
