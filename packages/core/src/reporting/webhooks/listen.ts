import type { Event } from '../../events/event.ts'
import { wantedOf } from './deliver-batch.ts'
import { bodyOf } from './send.ts'
import { makeSecret, makeSigningKey, secretText, signatureHeaders } from './signature.ts'
import type { WebhookFormat, Written } from './webhook.ts'

/** Returns what a webhook with these settings would get of these events; undefined if that is nothing. */
export function webhookBody(written: Written, events: readonly Event[]): string | undefined {
  const body = bodyOf(written, wantedOf(written, events))
  return body.trim() === '[]' ? undefined : body
}

/** Signs requests that a program makes itself with what a webhook would get. */
export interface RequestSigner {
  readonly secret: string
  /** For the signature of the v3 format. */
  readonly publicKey: string
  headers(request: {
    readonly id: string
    readonly body: string
    readonly format: WebhookFormat
  }): Record<string, string>
}

/** Returns a signer with keys of its own. */
export function createRequestSigner(): RequestSigner {
  const secret = makeSecret()
  const { privateKey, publicKey } = makeSigningKey()
  const keys = { secrets: [secret], signingKey: privateKey }
  return {
    secret: secretText(secret),
    publicKey,
    headers: (request) => signatureHeaders(keys, { ...request, seconds: Math.floor(Date.now() / 1000), signed: true }),
  }
}
