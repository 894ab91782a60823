import { ConfigError, type Environment } from './config-error.ts'
import { networks } from './values.ts'

/** Hosts and ports that customers' URLs (webhooks, callbacks) may use. */
export interface OutboundAccess {
  /** Private networks that they may point to. */
  readonly outboundNetworks: readonly string[]
  /** If empty, all ports. */
  readonly outboundPorts: readonly number[]
}

/** Networks of clients that may send without AUTH, and the API key used for them. */
export interface TrustedClients {
  readonly networks: readonly string[]
  readonly apiKey: string
}

/** If private hosts are allowed, all ports are allowed by default, since internal services listen on any port. */
export function outbound(env: Environment): OutboundAccess {
  const given = env.WEBHOOK_PRIVATE_NETWORKS || 'refuse'
  if (given === 'allow') return { outboundNetworks: ['0.0.0.0/0', '::/0'], outboundPorts: ports(env, '') }
  return {
    outboundNetworks: given === 'refuse' ? [] : networks(env, 'WEBHOOK_PRIVATE_NETWORKS'),
    outboundPorts: ports(env, '80,443'),
  }
}

function ports(env: Environment, byDefault: string): number[] {
  const texts = (env.WEBHOOK_PORTS || byDefault).split(',').map((text) => text.trim())
  const given = texts.filter(Boolean).map((text) => (/^\d{1,5}$/.test(text) ? Number(text) : 0))
  if (!given.every((port) => port >= 1 && port <= 65535))
    throw new ConfigError('WEBHOOK_PORTS', 'must be a comma-separated list of ports')
  return given
}

export function relayTrusted(env: Environment): TrustedClients | undefined {
  const trusted = networks(env, 'RELAY_TRUSTED_NETWORKS')
  const apiKey = env.RELAY_TRUSTED_KEY
  if (trusted.length === 0 && !apiKey) return undefined
  if (trusted.length === 0)
    throw new ConfigError('RELAY_TRUSTED_NETWORKS', 'must also be set: RELAY_TRUSTED_KEY applies to these networks')
  if (!apiKey)
    throw new ConfigError(
      'RELAY_TRUSTED_KEY',
      'must also be set: it is the API key for mail from RELAY_TRUSTED_NETWORKS',
    )
  return { networks: trusted, apiKey }
}

export function sandboxNames(env: Environment): string[] {
  const names = (env.SANDBOX_NAMES ?? '').split(',').map((text) => text.trim().toLowerCase())
  if (!names.every((name) => name === '' || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(name)))
    throw new ConfigError('SANDBOX_NAMES', 'must be a comma-separated list of host names')
  return names.filter(Boolean)
}
