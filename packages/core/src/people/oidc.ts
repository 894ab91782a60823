import type { Configuration, IDToken } from 'openid-client'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { LogInDependencies, LogInResult } from './log-in.ts'
import { oidcUser } from './oidc-user.ts'
import type { Client } from './person.ts'
import { sha256 } from './tokens.ts'

/** Log-in through an OpenID Connect provider (code flow with PKCE, state and nonce). */
export interface Oidc {
  /** Whether OIDC_ISSUER is set; and whether it is the only way to log in. */
  readonly isOn: boolean
  readonly only: boolean
  /**
   * The page of the provider to send the browser to. `cookie` must be stored in the browser (HttpOnly, 10 minutes) and given to `finish`: it
   * binds the answer to this browser. Throws notReady if the provider cannot be reached.
   */
  begin(): Promise<{ url: string; cookie: string }>
  /**
   * Logs in with the answer of the provider at `/app/oidc`. `url`: the whole URL that was called, with the host of PUBLIC_URL. Refused unless
   * state, nonce and signature are right and the provider has verified the address; the reason is logged.
   */
  finish(
    request: Client & { readonly url: string; readonly cookie: string; readonly replaces?: string | undefined },
  ): Promise<LogInResult>
}

export interface OidcSettings {
  readonly issuer: string | undefined
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** The claim with roles; undefined: users and their roles are managed here. */
  readonly roleClaim: string | undefined
  readonly only: boolean
}

export interface OidcDependencies extends LogInDependencies {
  readonly secrets: Secrets
  readonly log: Log
  readonly publicUrl: string
  readonly settings: OidcSettings
}

interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly until: number
}

const CONTEXT = 'oidc'
const MINUTES = 10
const SECONDS_PER_CALL = 10
/** Milliseconds that the provider's description is used. */
const CONFIG_AGE_MS = 3_600_000

export function createOidc(dependencies: OidcDependencies): Oidc {
  const { clock, secrets, settings, log, publicUrl } = dependencies
  const redirectUri = `${publicUrl}/app/oidc`
  const provider = createProvider(settings)

  return {
    isOn: settings.issuer !== undefined,
    only: settings.only,
    async begin() {
      const client = await import('openid-client')
      const config = await provider()
      const verifier = client.randomPKCECodeVerifier()
      const pending: Pending = {
        ...{ state: client.randomState(), nonce: client.randomNonce(), verifier },
        until: clock.now() + MINUTES * 60_000,
      }
      const url = client.buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirectUri, scope: 'openid email profile', state: pending.state, nonce: pending.nonce },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      const cookie = secrets.seal(Buffer.from(JSON.stringify(pending)), CONTEXT).toString('base64url')
      return { url: url.href, cookie }
    },
    async finish({ url, cookie, address, agent, replaces }) {
      const pending = readPending(secrets, cookie)
      if (!pending || pending.until < clock.now()) return { kind: 'refused' }
      const claims = await exchange(url, pending)
      if (!claims || !(await useOnce(dependencies, pending.state))) return { kind: 'refused' }
      const userId = await oidcUser({ ...dependencies, roleClaim: settings.roleClaim }, claims, address)
      if (userId === undefined) return { kind: 'refused' }
      const token = (await dependencies.sql.begin((transaction) =>
        dependencies.sessions.begin(transaction, userId, 'oidc', { address, agent }, replaces),
      )) as string
      return { kind: 'session', token, userId }
    },
  }

  async function exchange(url: string, { state, nonce, verifier }: Pending): Promise<IDToken | undefined> {
    const client = await import('openid-client')
    try {
      // The path and host are those that the provider was given, whatever was called.
      const answer = new URL(redirectUri)
      answer.search = new URL(url).search
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      return (await client.authorizationCodeGrant(await provider(), answer, checks)).claims()
    } catch (error) {
      log.warn(
        { code: (error as { code?: unknown }).code, problem: (error as Error).message },
        'log-in through OIDC refused',
      )
      return undefined
    }
  }
}

/** Returns a function that gives the description of the provider, read again after an hour or a failure. */
function createProvider({ issuer, clientId, clientSecret }: OidcSettings): () => Promise<Configuration> {
  let known: { readonly config: Promise<Configuration>; readonly at: number } | undefined
  return () => {
    if (!known || performance.now() - known.at > CONFIG_AGE_MS) {
      const config = discover(issuer as string, clientId, clientSecret)
      known = { config, at: performance.now() }
      config.catch(() => {
        known = undefined
      })
    }
    return known.config
  }
}

async function discover(issuer: string, clientId: string, clientSecret: string | undefined): Promise<Configuration> {
  const client = await import('openid-client')
  const { ServiceError } = await import('../platform/errors.ts')
  const isPlain = issuer.startsWith('http:')
  try {
    return await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: SECONDS_PER_CALL,
      [client.customFetch]: boundedFetch,
      ...(isPlain ? { execute: [client.allowInsecureRequests] } : {}),
    })
  } catch (error) {
    throw new ServiceError('notReady', { reason: 'OIDC_ISSUER could not be reached', cause: error })
  }
}

function readPending(secrets: Secrets, cookie: string): Pending | undefined {
  try {
    return JSON.parse(secrets.open(Buffer.from(cookie, 'base64url'), CONTEXT).toString()) as Pending
  } catch {
    return undefined
  }
}

/** Whether the state was not used before, in any process. */
async function useOnce({ sql }: OidcDependencies, state: string): Promise<boolean> {
  const rows = await sql`
    insert into one_time_links (hash, purpose, used_at, expires_at)
    values (${sha256(state)}, 'oidc', service_now(), service_now() + make_interval(mins => ${MINUTES}::int)) on conflict do nothing`
  return rows.count > 0
}
