import { Resolver } from 'node:dns'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { parseNetworks } from './networks.ts'

/** Where mail is sent: to the sandbox inbox, to the recipients' servers, or to one relay host. */
export type DeliveryRoute =
  | { readonly kind: 'sandbox' }
  | { readonly kind: 'mx' }
  | {
      readonly kind: 'relay'
      readonly host: string
      readonly port: number
      readonly tls: boolean
      readonly user: string | undefined
      readonly password: string | undefined
    }

export interface Config {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly apiHost: string
  readonly apiPort: number
  readonly relayHost: string
  readonly relayPort: number
  readonly relayTlsPort: number
  /** Networks of clients that may send without AUTH, and the API key used for them; undefined if there are none. */
  readonly relayTrusted: { readonly networks: readonly string[]; readonly apiKey: string } | undefined
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  readonly sandboxHost: string
  readonly sandboxSmtpPort: number
  readonly sandboxHttpPort: number
  /** Host names the inbox accepts over HTTP in addition to sandboxHost and the loopback names. */
  readonly sandboxNames: readonly string[]
  readonly delivery: DeliveryRoute
  readonly dnsServers: readonly string[]
  readonly heloName: string
  readonly returnPathHost: string
  /** Hours a domain stays active after its DNS records stop being valid. */
  readonly domainGraceHours: number
  readonly publicUrl: string
  /** Scheme of links on custom tracking hosts. */
  readonly trackingScheme: 'http' | 'https'
  readonly trustProxy: readonly string[]
  readonly logLevel: string
  readonly secretKey: string | undefined
  readonly mxPort: number
  readonly allowPrivateMx: boolean
  /** Private networks that customers' URLs (webhooks, callbacks) may point to. */
  readonly outboundNetworks: readonly string[]
  /** Ports that customers' URLs may use; if empty, all ports. */
  readonly outboundPorts: readonly number[]
  readonly allowUnsafeDatabase: boolean
  /** Bytes of message bodies that one process may hold at the same time. */
  readonly bodyBudget: number
  /** Bytes of uploaded files that one account may store. */
  readonly attachmentStorage: number
  readonly siteConnections: number
  /** Maximum API calls per account and minute; 0 means unlimited. */
  readonly callsPerMinute: number
  readonly wrongKeysPerMinute: number
  /** Days a hard bounce suppresses its address; 0 means permanently. */
  readonly hardBounceDays: number
  /** Maximum number of days that events and bodies are retained. */
  readonly eventDays: number
  readonly bodyDays: number
  /** Bytes of export files that one account may store. */
  readonly exportStorage: number
}

/** A setting is invalid; the message names the setting and states what is allowed. */
export class ConfigError extends Error {
  constructor(setting: string, problem: string) {
    super(`${setting} ${problem}`)
    this.name = 'ConfigError'
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads and validates all settings.
 *
 * Throws {@link ConfigError} if one is invalid.
 */
export function readConfig(env: Environment): Config {
  const dataDir = resolve(env.DATA_DIR || './data')
  const apiPort = port(env, 'API_PORT', 8080)
  const heloName = hostName(env, 'HELO_NAME', defaultHeloName())
  const url = publicUrl(env.PUBLIC_URL, apiPort)
  const tlsCert = file(env, 'TLS_CERT')
  const tlsKey = file(env, 'TLS_KEY')
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new ConfigError(
      tlsCert ? 'TLS_KEY' : 'TLS_CERT',
      'must also be set: a certificate and its key are configured together',
    )
  }
  return {
    databaseUrl: databaseUrl(env, dataDir),
    dataDir,
    apiHost: listenHost(env, 'API_HOST'),
    apiPort,
    relayHost: listenHost(env, 'RELAY_HOST'),
    relayPort: port(env, 'RELAY_PORT', 2525),
    relayTlsPort: port(env, 'RELAY_TLS_PORT', 2465),
    relayTrusted: relayTrusted(env),
    tlsCert,
    tlsKey,
    sandboxHost: listenHost(env, 'SANDBOX_HOST'),
    sandboxSmtpPort: port(env, 'SANDBOX_SMTP_PORT', 2526),
    sandboxHttpPort: port(env, 'SANDBOX_HTTP_PORT', 8025),
    sandboxNames: sandboxNames(env),
    delivery: deliveryRoute(env.DELIVERY || 'sandbox'),
    dnsServers: dnsServers(env.DNS_SERVERS),
    heloName,
    returnPathHost: hostName(env, 'RETURN_PATH_HOST', heloName),
    domainGraceHours: wholeNumber(env, 'DOMAIN_GRACE_HOURS', 72, 1, 8760),
    publicUrl: url,
    trackingScheme: oneOf(env, 'TRACKING_SCHEME', ['http', 'https'], url.startsWith('https:') ? 'https' : 'http'),
    trustProxy: networks(env, 'TRUST_PROXY'),
    logLevel: oneOf(env, 'LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    secretKey: secretKey(env.SECRET_KEY),
    mxPort: port(env, 'MX_PORT', 25),
    allowPrivateMx: oneOf(env, 'MX_PRIVATE_NETWORKS', ['allow', 'refuse'], 'refuse') === 'allow',
    ...outbound(env),
    allowUnsafeDatabase: oneOf(env, 'ALLOW_UNSAFE_DATABASE', ['0', '1'], '0') === '1',
    bodyBudget: wholeNumber(env, 'BODY_BUDGET_MB', 128, 32, 65536) * 1024 * 1024,
    attachmentStorage: wholeNumber(env, 'ATTACHMENT_STORAGE_MB', 1024, 1, 1_000_000) * 1024 * 1024,
    siteConnections: wholeNumber(env, 'SITE_CONNECTIONS', 10, 1, 1000),
    callsPerMinute: wholeNumber(env, 'CALLS_PER_MINUTE', 600, 0, 1_000_000),
    wrongKeysPerMinute: wholeNumber(env, 'WRONG_KEYS_PER_MINUTE', 10, 0, 1_000_000),
    hardBounceDays: wholeNumber(env, 'SUPPRESSION_HARDBOUNCE_DAYS', 0, 0, 36500),
    eventDays: wholeNumber(env, 'EVENT_DAYS', 90, 7, 3650),
    bodyDays: wholeNumber(env, 'BODY_DAYS', 30, 7, 3650),
    exportStorage: wholeNumber(env, 'EXPORT_STORAGE_MB', 2048, 1, 1_000_000) * 1024 * 1024,
  }
}

/**
 * Path of the file in which a running embedded database stores its URL, so that processes and commands started
 * separately find it.
 */
export function embeddedUrlFile(dataDir: string): string {
  return join(dataDir, 'database-url')
}

function databaseUrl(env: Environment, dataDir: string): string | undefined {
  const given = env.DATABASE_URL
  if (given) {
    if (!isDatabaseUrl(given)) {
      throw new ConfigError(
        'DATABASE_URL',
        'must be like postgres://user:password@host:port/database, with special characters percent-encoded',
      )
    }
    return given
  }
  const left = embeddedUrlFile(dataDir)
  return existsSync(left) ? readFileSync(left, 'utf8').trim() : undefined
}

/**
 * Several comma-separated hosts are alternatives for reaching one database (libpq syntax); the rest is an ordinary URL.
 */
function isDatabaseUrl(text: string): boolean {
  const oneHost = text.replace(/^(\w+:\/\/(?:[^@/?#]*@)?[^,/?#]*),[^/?#]*/, '$1')
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(oneHost)) return false
  const { username, password } = new URL(oneHost)
  return decoded(username) !== undefined && decoded(password) !== undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function wholeNumber(env: Environment, name: string, byDefault: number, least: number, most: number): number {
  const text = env[name]
  if (!text) return byDefault
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most)) {
    throw new ConfigError(name, `must be a whole number from ${least} to ${most}`)
  }
  return value
}

function port(env: Environment, name: string, byDefault: number): number {
  return wholeNumber(env, name, byDefault, 1, 65535)
}

function oneOf<T extends string>(env: Environment, name: string, values: readonly T[], byDefault: T): T {
  const text = env[name]
  if (!text) return byDefault
  if (!values.includes(text as T)) throw new ConfigError(name, `must be one of: ${values.join(', ')}`)
  return text as T
}

function file(env: Environment, name: string): string | undefined {
  const path = env[name]
  if (!path) return undefined
  if (!existsSync(path)) throw new ConfigError(name, 'must be the path of an existing file')
  return resolve(path)
}

/** Underscores are allowed, because container host names may contain them. */
function listenHost(env: Environment, name: string): string {
  const text = env[name]
  if (!text) return '127.0.0.1'
  if (isIP(text) === 0 && !/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(text)) {
    throw new ConfigError(name, 'must be an IP address or a host name')
  }
  return text
}

function sandboxNames(env: Environment): string[] {
  const names = (env.SANDBOX_NAMES ?? '').split(',').map((text) => text.trim().toLowerCase())
  if (!names.every((name) => name === '' || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(name)))
    throw new ConfigError('SANDBOX_NAMES', 'must be a comma-separated list of host names')
  return names.filter(Boolean)
}

function hostName(env: Environment, name: string, byDefault: string): string {
  const text = env[name]
  if (!text) return byDefault
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text) || text.length > 253) {
    throw new ConfigError(name, 'must be a host name')
  }
  return text.toLowerCase()
}

function defaultHeloName(): string {
  const name = hostname().toLowerCase()
  return /^[a-z0-9.-]+$/.test(name) && !/^[.-]|[.-]$|\.\./.test(name) ? name : 'localhost'
}

function secretKey(text: string | undefined): string | undefined {
  if (!text) return undefined
  if (text.length < 32) throw new ConfigError('SECRET_KEY', 'must have at least 32 characters, from a random source')
  return text
}

function publicUrl(text: string | undefined, apiPort: number): string {
  if (!text) return `http://localhost:${apiPort}`
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new ConfigError('PUBLIC_URL', 'must be an http or https URL')
  return text.replace(/\/+$/, '')
}

function networks(env: Environment, name: string): string[] {
  try {
    return parseNetworks((env[name] ?? '').split(','))
  } catch (error) {
    throw new ConfigError(
      name,
      `must be a comma-separated list of IP addresses or networks: ${(error as Error).message}`,
    )
  }
}

/** If private hosts are allowed, all ports are allowed by default, since internal services listen on any port. */
function outbound(env: Environment): Pick<Config, 'outboundNetworks' | 'outboundPorts'> {
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

function relayTrusted(env: Environment): Config['relayTrusted'] {
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

function dnsServers(text: string | undefined): string[] {
  const servers = (text ?? '')
    .split(',')
    .map((server) => server.trim())
    .filter(Boolean)
  try {
    new Resolver().setServers(servers)
  } catch {
    throw new ConfigError('DNS_SERVERS', 'must be a comma-separated list of IP addresses, each with an optional :port')
  }
  return servers
}

function deliveryRoute(text: string): DeliveryRoute {
  if (text === 'sandbox' || text === 'mx') return { kind: text }
  if (!/^smtps?:\/\//.test(text) || !URL.canParse(text)) {
    throw new ConfigError('DELIVERY', 'must be sandbox, mx, or smtp://user:pass@host:port')
  }
  const url = new URL(text)
  if (!url.hostname) throw new ConfigError('DELIVERY', 'must contain the name of the relay host')
  const tls = url.protocol === 'smtps:'
  const [user, password] = [decoded(url.username), decoded(url.password)]
  if (user === undefined || password === undefined) {
    throw new ConfigError('DELIVERY', 'must have special characters in the user name and password percent-encoded')
  }
  return {
    kind: 'relay',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : tls ? 465 : 25,
    tls,
    user: user || undefined,
    password: password || undefined,
  }
}
