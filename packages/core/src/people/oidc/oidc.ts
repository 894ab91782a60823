import type { Configuration, IDToken } from 'openid-client'
import type { Log } from '../../platform/process/log.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { type LogInDependencies, type LogInResult, tooMany } from '../log-in/log-in.ts'
import type { Client } from '../person.ts'
import type { SignUpSetting } from '../sign-up.ts'
import { sha256 } from '../tokens.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { oidcUser, type UserRefusal } from './oidc-user.ts'

/** Log-in through an OpenID Connect provider (code flow with PKCE, state and nonce). */
export interface Oidc {
  /** Whether OIDC_ISSUER is set; and whether it is the only way to log in. */
  readonly isOn: boolean
  readonly only: boolean
  /** Host of OIDC_ISSUER, by which users know the provider; empty if there is none. */
  readonly host: string
  /**
   * The page of the provider to send the browser to. `cookie` must be stored in the browser (HttpOnly, 10 minutes) and given to `finish`: it
   * binds the answer to this browser. Throws notReady if the provider cannot be reached.
   */
  begin(): Promise<{ url: string; cookie: string }>
  /**
   * Logs in with the answer of the provider at `/app/oidc`. `url`: the whole URL that was called, with the host of PUBLIC_URL. Refused unless
   * state, nonce, issuer, audience and signature are right and the provider has verified the address; details are logged. Refusals of one
   * network count with those of other log-ins.
   */
  finish(
    request: Client & { readonly url: string; readonly cookie: string; readonly replaces?: string | undefined },
  ): Promise<OidcResult>
}

/**
 * Why a log-in is refused. `expired`: it was begun in another browser, used, or begun more than 10 minutes ago. `cancelled`: the provider says so.
 * `invalid`: the answer of the provider is wrong, or it gave none. The others: see oidc-user.ts.
 */
export type OidcRefusal = 'expired' | 'cancelled' | 'invalid' | UserRefusal

export type OidcResult =
  | Extract<LogInResult, { kind: 'session' | 'too-many' }>
  | { readonly kind: 'refused'; readonly reason: OidcRefusal }

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
  readonly signUp: SignUpSetting
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
  const { clock, secrets, settings, log, publicUrl, limits } = dependencies
  const redirectUri = `${publicUrl}/app/oidc`
  const provider = createProvider(settings)

  return {
    isOn: settings.issuer !== undefined,
    only: settings.only,
    host: settings.issuer === undefined ? '' : new URL(settings.issuer).host,
    async begin() {
      const client = await import('openid-client')
      const config = await provider()
      const verifier = client.randomPKCECodeVerifier()
      const pending: Pending = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier,
        until: clock.now() + MINUTES * 60_000,
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      const cookie = secrets.seal(Buffer.from(JSON.stringify(pending)), CONTEXT).toString('base64url')
      return { url: url.href, cookie }
    },
    async finish({ url, cookie, address, agent, replaces }) {
      const pending = readPending(secrets, cookie)
      if (!pending || pending.until < clock.now()) return refused('expired')
      const allowed = await limits.logIn(`oidc ${pending.state}`, address)
      if (!allowed.allowed) return tooMany(clock, allowed)
      const claims = await exchange(url, pending)
      if (typeof claims === 'string') return refused(claims)
      if (!(await useOnce(dependencies, pending.state))) return refused('expired')
      const user = await oidcUser(dependencies, claims, address)
      if (typeof user === 'string') return refused(user)
      const { id: userId, isNew } = user
      // New users of one network count as its failures do, or one client could make any number of accounts.
      if (!isNew) allowed.release()
      const token = (await dependencies.sql.begin((transaction) =>
        dependencies.sessions.begin(transaction, userId, 'oidc', { address, agent }, replaces),
      )) as string
      return { kind: 'session', token, userId }
    },
  }

  async function exchange(
    url: string,
    { state, nonce, verifier }: Pending,
  ): Promise<IDToken | 'cancelled' | 'invalid'> {
    const client = await import('openid-client')
    try {
      // The path and host are those that the provider was given, whatever was called.
      const answer = new URL(redirectUri)
      answer.search = new URL(url).search
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      return (await client.authorizationCodeGrant(await provider(), answer, checks)).claims() ?? 'invalid'
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: unknown }
      log.warn({ code, problem: message }, 'log-in through OIDC refused')
      return error instanceof client.AuthorizationResponseError ? 'cancelled' : 'invalid'
    }
  }
}

const refused = (reason: OidcRefusal): OidcResult => ({ kind: 'refused', reason })

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
  const { ServiceError } = await import('../../platform/errors.ts')
  const isPlain = issuer.startsWith('http:')
  try {
    return await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: SECONDS_PER_CALL,
      [client.customFetch]: boundedFetch,
      // Signatures are checked although the token comes from the provider itself: a proxy in between may end TLS.
      execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
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
