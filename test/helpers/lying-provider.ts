import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** What the provider's next answers are; each part that is left out is as it must be. */
export interface Lie {
  /** Claims of the ID token that replace the right ones. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Signs with a key that is not among those of the provider. */
  readonly foreignKey?: boolean
  /** The algorithm that the token names: without a signature, or signed with this secret, which the client has, too. */
  readonly algorithm?: 'none' | { readonly HS256: string }
  /** Calls itself by this issuer in its description. */
  readonly describes?: string
  /** Answers with more octets than any token has. */
  readonly endless?: boolean
  /** Begins an answer, and never ends it. */
  readonly stalls?: boolean
}

/** An OpenID provider on loopback that lies when a test says so. It shows no pages: a test goes straight to the redirect URI. */
export interface LyingProvider {
  readonly issuer: string
  tell(lie: Lie): void
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** `claims`: those of the user who logs in. */
export async function startLyingProvider(
  t: Test,
  clientId: string,
  claims: () => Readonly<Record<string, unknown>>,
): Promise<LyingProvider> {
  const [own, foreign] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 })) as [Keys, Keys]
  let lie: Lie = {}
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0]
    if (path === '/.well-known/openid-configuration') return json(response, description())
    if (path === '/keys') {
      return json(response, {
        keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }],
      })
    }
    if (path !== '/token') return void response.writeHead(404).end()
    if (lie.stalls) return void response.writeHead(200, { 'content-type': 'application/json' }).write('{')
    if (lie.endless) return json(response, { access_token: 'x'.repeat(3_000_000), token_type: 'bearer' })
    json(response, { access_token: randomUUID(), token_type: 'bearer', id_token: idToken() })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const description = () => ({
    issuer: lie.describes ?? issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
  })

  function idToken(): string {
    const now = Math.floor(Date.now() / 1000)
    const right = { iss: issuer, aud: clientId, iat: now, exp: now + 300, ...claims() }
    const payload = base64({ ...right, ...lie.claims })
    if (lie.algorithm === 'none') return `${base64({ alg: 'none' })}.${payload}.`
    if (lie.algorithm) {
      const signed = `${base64({ alg: 'HS256' })}.${payload}`
      return `${signed}.${createHmac('sha256', lie.algorithm.HS256).update(signed).digest('base64url')}`
    }
    const text = `${base64({ alg: 'RS256', kid: '1' })}.${payload}`
    const key = (lie.foreignKey ? foreign : own).privateKey
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  }

  return {
    issuer,
    tell(next) {
      lie = next
    },
  }
}

type Keys = ReturnType<typeof generateKeyPairSync>

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
