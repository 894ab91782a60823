import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A passkey in software: what a browser answers for it, at any origin and for any host. */
export interface Authenticator {
  readonly id: string
  register(challenge: string, at: Place, flags?: number): object
  /** `counter`: the next one, unless given. */
  answer(challenge: string, at: Place, options?: { readonly flags?: number; readonly counter?: number }): object
}

export interface Place {
  readonly origin: string
  readonly rpId: string
}

/** User present, user verified, attested credential data. */
const PRESENT = 1
const VERIFIED = 4
const ATTESTED = 64

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

export function makeAuthenticator(): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credential = randomBytes(32)
  const id = credential.toString('base64url')
  let count = 0
  const answered = (type: string, challenge: string, origin: string, rest: object) => {
    const clientData = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
    const base = { id, rawId: id, type: 'public-key', clientExtensionResults: {} }
    return {
      clientData,
      withResponse: () => ({ ...base, response: { clientDataJSON: clientData.toString('base64url'), ...rest } }),
    }
  }
  return {
    id,
    register(challenge, { origin, rpId }, flags = PRESENT | VERIFIED) {
      const head = headOf(rpId, flags | ATTESTED, 0)
      const length = Buffer.from([0, credential.length])
      const authData = Buffer.concat([head, Buffer.alloc(16), length, credential, coseKey(publicKey)])
      const attestationObject = cbor(
        new Map<unknown, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      )
      return answered('webauthn.create', challenge, origin, {
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      }).withResponse()
    },
    answer(challenge, { origin, rpId }, { flags = PRESENT | VERIFIED, counter = ++count } = {}) {
      const authData = headOf(rpId, flags, counter)
      const { clientData } = answered('webauthn.get', challenge, origin, {})
      const signature = sign('sha256', Buffer.concat([authData, sha256(clientData)]), privateKey)
      return answered('webauthn.get', challenge, origin, {
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
      }).withResponse()
    },
  }
}

function headOf(rpId: string, flags: number, counter: number): Buffer {
  const tail = Buffer.alloc(5)
  tail[0] = flags
  tail.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(rpId), tail])
}

/** COSE_Key (RFC 9052): EC2, ES256, P-256. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  const entries: [unknown, unknown][] = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ]
  return cbor(new Map(entries))
}

/** As much of CBOR (RFC 8949) as a passkey needs. */
function cbor(value: unknown): Buffer {
  const head = (major: number, n: number) =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255])
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  const map = value as Map<unknown, unknown>
  return Buffer.concat([head(5, map.size), ...[...map].flatMap(([key, one]) => [cbor(key), cbor(one)])])
}
