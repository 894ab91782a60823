import type { Secrets } from '../../platform/security/secrets.ts'
import type { Evidence } from './evidence.ts'

/** An HMAC-SHA-256 with a key of this installation (SECRET_KEY): only it can make one, and check it. */
export type SignedEvidence = Evidence & { readonly signature: string }

const PURPOSE = 'evidence'
const SIGNATURE = /^[0-9a-f]{64}$/
/** Begins the last line of a signed text. */
const LINE = 'Signature (HMAC-SHA-256): '

/** Adds the signature of the JSON text of all other fields, in their order and without spaces. */
export function signEvidence(secrets: Secrets, evidence: Evidence): SignedEvidence {
  return { ...evidence, signature: macOf(secrets, JSON.stringify(evidence)) }
}

/** Adds the signature of a text as its last line. */
export function signText(secrets: Secrets, text: string): string {
  const body = `${text.trimEnd()}\n\n`
  return `${body}${LINE}${macOf(secrets, body)}\n`
}

/**
 * Whether a file is as one of these functions has made it. JSON must have the same text, except white space around it: two readers may see
 * different values in JSON that repeats a key.
 */
export function isUnchanged(secrets: Secrets, file: string): boolean {
  const text = file.trim()
  return text.startsWith('{') ? isUnchangedJson(secrets, text) : isUnchangedText(secrets, text)
}

function isUnchangedJson(secrets: Secrets, text: string): boolean {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return false
  }
  const { signature, ...evidence } = value as Record<string, unknown>
  if (typeof signature !== 'string' || JSON.stringify({ ...evidence, signature }) !== text) return false
  return isSignature(secrets, JSON.stringify(evidence), signature)
}

function isUnchangedText(secrets: Secrets, text: string): boolean {
  const at = text.lastIndexOf('\n') + 1
  const line = text.slice(at)
  return line.startsWith(LINE) && isSignature(secrets, text.slice(0, at), line.slice(LINE.length))
}

function macOf(secrets: Secrets, text: string): string {
  return secrets.mac(PURPOSE, Buffer.from(text)).toString('hex')
}

function isSignature(secrets: Secrets, text: string, signature: string): boolean {
  return SIGNATURE.test(signature) && secrets.isMac(PURPOSE, Buffer.from(text), Buffer.from(signature, 'hex'))
}
