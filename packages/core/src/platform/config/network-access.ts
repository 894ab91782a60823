import { ConfigError, type Environment } from './config-error.ts'
import { type RelayHost, relayHostOf } from './delivery-route.ts'
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

/** Where the sandbox inbox may release messages to; the inbox has no password, so both are the operator's decision. */
export interface SandboxRelay extends RelayHost {
  /** Addresses, or domains with an @ before them, in lower case. */
  readonly recipients: readonly string[]
}

export function sandboxRelay(env: Environment): SandboxRelay | undefined {
  const [url, texts] = [env.SANDBOX_RELAY_URL, env.SANDBOX_RELAY_TO]
  if (!url && !texts) return undefined
  const host = relayHostOf(url ?? '')
  const wrongUrl = () =>
    new ConfigError('SANDBOX_RELAY_URL', 'must be smtp://user:pass@host:port or smtps://user:pass@host:port')
  if (url && !host) throw wrongUrl()
  const recipients = (texts ?? '')
    .split(',')
    .map((text) => text.trim().toLowerCase())
    .filter(Boolean)
  if (recipients.length === 0 || !recipients.every((one) => /^[^\s@,<>"]*@[a-z0-9.-]+$/.test(one)))
    throw new ConfigError(
      'SANDBOX_RELAY_TO',
      'must be a comma-separated list of addresses and of domains such as @example.com: the inbox releases messages to no others',
    )
  if (!host) throw wrongUrl()
  return { ...host, recipients }
}
