import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { WebhookFormat, WebhookKeys } from './webhook.ts'

const PREFIX = 'whsec_'
/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32

/** Returns a random secret. */
export function makeSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

/** Returns a secret as the libraries of receivers expect it. */
export function secretText(secret: Buffer): string {
  return PREFIX + secret.toString('base64')
}

export interface SigningKey {
  /** PKCS 8, DER. */
  readonly privateKey: Buffer
  /** base64 of the SubjectPublicKeyInfo, DER. */
  readonly publicKey: string
}

/** Returns a new key pair for the signature of the v3 format. */
export function makeSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  return { privateKey, publicKey: publicKey.toString('base64') }
}

interface Request {
  readonly id: string
  readonly seconds: number
  readonly body: string
  readonly format: WebhookFormat
  readonly signed: boolean
}

/**
 * Returns the headers by which receivers verify a request: those of Standard Webhooks 1.0.0, with a signature by each secret, and for
 * signed requests in the v3 format those of its event webhook (v3 contract 9.3).
 */
export function signatureHeaders(
  keys: WebhookKeys,
  { id, seconds, body, format, signed }: Request,
): Record<string, string> {
  const time = String(seconds)
  const signatures = keys.secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64')}`,
  )
  const standard = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures.join(' ') }
  if (format === 'v2' || !signed) return standard
  const key = createPrivateKey({ key: keys.signingKey, format: 'der', type: 'pkcs8' })
  return {
    ...standard,
    'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(time + body), key).toString('base64'),
    'x-twilio-email-event-webhook-timestamp': time,
  }
}
