import { ConfigError, type Environment } from './config-error.ts'
import { oneOf } from './values.ts'

/** The OpenID Connect provider through which users log in. */
export interface OidcConfig {
  /** Undefined if there is none. */
  readonly issuer: string | undefined
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** The claim with the roles of users; undefined if they are managed here. */
  readonly roleClaim: string | undefined
  /** Whether users can log in in no other way. */
  readonly only: boolean
}

/** Reads OIDC_*. Throws ConfigError. */
export function oidc(env: Environment): OidcConfig {
  const issuer = env.OIDC_ISSUER || undefined
  const clientId = env.OIDC_CLIENT_ID || ''
  const only = oneOf(env, 'OIDC_ONLY', ['0', '1'], '0') === '1'
  const roleClaim = env.OIDC_ROLE_CLAIM || undefined
  if (issuer !== undefined && !isAllowed(issuer)) {
    throw new ConfigError('OIDC_ISSUER', 'must be an https URL; http is allowed only for localhost')
  }
  if (issuer !== undefined && clientId === '') {
    throw new ConfigError('OIDC_CLIENT_ID', 'must also be set, since OIDC_ISSUER is set')
  }
  const others = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLE_CLAIM'] as const
  const alone = only ? 'OIDC_ONLY' : others.find((name) => env[name])
  if (issuer === undefined && alone !== undefined)
    throw new ConfigError('OIDC_ISSUER', `must also be set, since ${alone} is set`)
  return { issuer, clientId, clientSecret: env.OIDC_CLIENT_SECRET || undefined, roleClaim, only }
}

function isAllowed(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false
  const { protocol, hostname } = new URL(issuer)
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
}
