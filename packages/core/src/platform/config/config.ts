import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { LogFormat } from '../process/log.ts'
import { type BackupConfig, backups } from './backups.ts'
import { blockLists, spamhausKey } from './block-lists.ts'
import { ConfigError, type Environment } from './config-error.ts'
import { databaseReadUrl, databaseUrl } from './database-url.ts'
import { type DeliveryRoute, deliveryRoute, dnsServers, dnssecResolver } from './delivery-route.ts'
import {
  type OutboundAccess,
  outbound,
  relayTrusted,
  type SandboxRelay,
  sandboxNames,
  sandboxRelay,
  type TrustedClients,
} from './network-access.ts'
import { type BodyStoreConfig, bodyStore } from './object-storage.ts'
import { type OidcConfig, oidc } from './oidc.ts'
import { type OperatorDkim, operatorDkim } from './operator-dkim.ts'
import { type PublicUrl, publicUrl } from './public-url.ts'
import { type SecretKeyConfig, secretKeys } from './secret-keys.ts'
import { serviceMail } from './service-mail.ts'
import { SETTINGS } from './settings.ts'
import { type TracingConfig, tracing } from './tracing.ts'
import { file, hostName, listenHost, networks, oneOf, port, requireNoComments, wholeNumber } from './values.ts'

export { type BackupAddress, type BackupConfig, backupAddress } from './backups.ts'
export { ConfigError } from './config-error.ts'
export { embeddedUrlFile } from './database-url.ts'
export { asksDns, type DeliveryRoute, type RelayHost } from './delivery-route.ts'
export type { SandboxRelay } from './network-access.ts'
export type { BodyStoreConfig, ObjectStoreConfig } from './object-storage.ts'

export interface Config extends OutboundAccess, SecretKeyConfig, PublicUrl {
  readonly databaseUrl: string | undefined
  /** The standby for reads that may be some seconds old; undefined if the primary answers them, too. */
  readonly databaseReadUrl: string | undefined
  /** Milliseconds that such a standby may be behind. */
  readonly databaseReadMaxLag: number
  readonly dataDir: string
  /** Undefined if all bodies are stored in the database. */
  readonly bodyStore: BodyStoreConfig | undefined
  /** Undefined if the service takes no backups. */
  readonly backups: BackupConfig | undefined
  readonly apiHost: string
  readonly apiPort: number
  readonly healthHost: string
  /** Of relay, returns and delivery processes; undefined if they are not to answer health checks over HTTP. */
  readonly healthPort: number | undefined
  readonly metricsHost: string
  /** Port of the process's metrics; undefined if it has none. */
  readonly metricsPort: number | undefined
  /** Undefined if no traces are exported. */
  readonly tracing: TracingConfig | undefined
  /** Seconds for which a process is not ready, but accepts connections, after SIGTERM. */
  readonly drainDelay: number
  /** Whether processes apply missing migrations when they start, or wait until they are applied. */
  readonly migrate: 'auto' | 'manual'
  /** Processes that `npm start` runs of a program. */
  readonly apiProcesses: number
  readonly relayProcesses: number
  readonly workers: number
  readonly relayHost: string
  readonly relayPort: number
  readonly relayTlsPort: number
  readonly returnsHost: string
  readonly returnsPort: number
  /** Days that mail which came back is stored. */
  readonly returnDays: number
  /** Days that DMARC and TLS reports are stored. */
  readonly reportDays: number
  /** Undefined if there are none. */
  readonly relayTrusted: TrustedClients | undefined
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  readonly sandboxHost: string
  readonly sandboxSmtpPort: number
  readonly sandboxHttpPort: number
  /** Host names the inbox accepts over HTTP in addition to sandboxHost and the loopback names. */
  readonly sandboxNames: readonly string[]
  /** Undefined if the inbox releases nothing. */
  readonly sandboxRelay: SandboxRelay | undefined
  /** Whether the inbox may request links of messages when its user asks for it. */
  readonly sandboxRequests: boolean
  readonly delivery: DeliveryRoute
  readonly dnsServers: readonly string[]
  /** The resolver that validates DNSSEC; undefined if there is none. */
  readonly dnssecResolver: { readonly address: string; readonly port: number } | undefined
  /** Zones of the DNS block lists; undefined: the built-in ones. */
  readonly blockLists: readonly string[] | undefined
  /** The key for Spamhaus' Data Query Service. */
  readonly spamhausKey: string | undefined
  readonly heloName: string
  /** Whether recipients see from where a message was submitted over SMTP. */
  readonly showsClient: boolean
  readonly returnPathHost: string
  /** Whether RETURN_PATH_HOST is set, so that reports of other servers can be expected there. */
  readonly receivesReports: boolean
  /** The name of this installation in Feedback-ID; undefined: one is derived from the secret key. */
  readonly feedbackSenderId: string | undefined
  /** Where mail to abuse@ and postmaster@ is passed on, and mail of the service to the operator goes. */
  readonly operatorMail: string | undefined
  /** The sending domain that the service sends its own mail from; undefined: it sends none. */
  readonly serviceDomain: string | undefined
  /** The operator's own domain, which signs all mail, too; without `keyFile`, by the key of the sending domain of that name. */
  readonly operatorDkim: OperatorDkim | undefined
  /** Hours a domain stays active after its DNS records stop being valid. */
  readonly domainGraceHours: number
  /** Scheme of links on custom tracking hosts. */
  readonly trackingScheme: 'http' | 'https'
  readonly trustProxy: readonly string[]
  /** Networks from which /operator/v1 can be reached. */
  readonly operatorNetworks: readonly string[]
  /** Whether agents may use /mcp. */
  readonly mcp: boolean
  readonly logLevel: string
  readonly logFormat: LogFormat
  /** Which outcomes of attempts are logged. */
  readonly logDeliveries: 'all' | 'failures' | 'none'
  readonly logMessages: boolean
  readonly mxPort: number
  readonly allowPrivateMx: boolean
  readonly allowUnsafeDatabase: boolean
  /** Whether processes accept mail only while a synchronous standby has it, too. */
  readonly requireSyncStandby: boolean
  /** Bytes of message bodies that one process may hold at the same time. */
  readonly bodyBudget: number
  /** Bytes of uploaded files that one account may store. */
  readonly attachmentStorage: number
  readonly siteConnections: number
  /** The operator's file of mailbox providers; undefined if there is none. */
  readonly providersFile: string | undefined
  /** Maximum API calls per account and minute; 0 means unlimited. */
  readonly callsPerMinute: number
  readonly wrongKeysPerMinute: number
  /** Days a hard bounce suppresses its address; 0 means permanently. */
  readonly hardBounceDays: number
  /** The consequences of bad figures of an account that has no rules of its own (reputation/rules.ts). */
  readonly reputationRules: 'none' | 'standard' | 'strict'
  /** Whether bulk mail without what large receivers demand waits, of accounts that have set nothing. */
  readonly requirements: 'warn' | 'hold'
  /** Maximum number of days that events and bodies are retained. */
  readonly eventDays: number
  readonly bodyDays: number
  /** Whether users who log in by password need a second factor. */
  readonly require2fa: boolean
  readonly oidc: OidcConfig
  /** People who can become users: those whom the operator adds, those whom members invite, or anyone. */
  readonly signUp: 'closed' | 'invite' | 'open'
  /** Bytes of export files that one account may store. */
  readonly exportStorage: number
}

/**
 * Reads and validates all settings.
 *
 * Throws {@link ConfigError} if one is invalid.
 */
export function readConfig(env: Environment): Config {
  requireNoComments(env, SETTING_NAMES)
  const dataDir = resolve(env.DATA_DIR || './data')
  const apiPort = port(env, 'API_PORT', 8080)
  const heloName = hostName(env, 'HELO_NAME', defaultHeloName())
  const place = publicUrl(env.PUBLIC_URL, apiPort)
  const usualScheme = place.publicUrl.startsWith('https:') ? 'https' : 'http'
  const tlsCert = file(env, 'TLS_CERT')
  const tlsKey = file(env, 'TLS_KEY')
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new ConfigError(
      tlsCert ? 'TLS_KEY' : 'TLS_CERT',
      'must also be set: a certificate and its key are configured together',
    )
  }
  const delivery = deliveryRoute(env.DELIVERY || 'sandbox')
  // In the sandbox, bounces are tests.
  const usualRules = delivery.kind === 'sandbox' ? 'none' : 'standard'
  return {
    databaseUrl: databaseUrl(env, dataDir),
    databaseReadUrl: databaseReadUrl(env),
    databaseReadMaxLag: wholeNumber(env, 'DATABASE_READ_MAX_LAG', 10, 3, 3600) * 1000,
    dataDir,
    bodyStore: bodyStore(env),
    backups: backups(env),
    apiHost: listenHost(env, 'API_HOST'),
    apiPort,
    healthHost: listenHost(env, 'HEALTH_HOST'),
    healthPort: env.HEALTH_PORT ? port(env, 'HEALTH_PORT', 0) : undefined,
    metricsHost: listenHost(env, 'METRICS_HOST'),
    metricsPort: env.METRICS_PORT ? port(env, 'METRICS_PORT', 0) : undefined,
    tracing: tracing(env),
    drainDelay: wholeNumber(env, 'DRAIN_DELAY', 0, 0, 300),
    migrate: oneOf(env, 'MIGRATE', ['auto', 'manual'], 'auto'),
    apiProcesses: wholeNumber(env, 'API_PROCESSES', 1, 1, 64),
    relayProcesses: wholeNumber(env, 'RELAY_PROCESSES', 1, 1, 64),
    workers: wholeNumber(env, 'WORKERS', 1, 1, 64),
    relayHost: listenHost(env, 'RELAY_HOST'),
    relayPort: port(env, 'RELAY_PORT', 2525),
    relayTlsPort: port(env, 'RELAY_TLS_PORT', 2465),
    returnsHost: listenHost(env, 'RETURNS_HOST'),
    returnsPort: port(env, 'RETURNS_PORT', 2527),
    returnDays: wholeNumber(env, 'RETURN_DAYS', 30, 1, 365),
    reportDays: wholeNumber(env, 'REPORT_DAYS', 90, 20, 730),
    relayTrusted: relayTrusted(env),
    tlsCert,
    tlsKey,
    sandboxHost: listenHost(env, 'SANDBOX_HOST'),
    sandboxSmtpPort: port(env, 'SANDBOX_SMTP_PORT', 2526),
    sandboxHttpPort: port(env, 'SANDBOX_HTTP_PORT', 8025),
    sandboxNames: sandboxNames(env),
    sandboxRelay: sandboxRelay(env),
    sandboxRequests: oneOf(env, 'SANDBOX_REQUESTS', ['allow', 'refuse'], 'refuse') === 'allow',
    delivery,
    dnsServers: dnsServers(env.DNS_SERVERS),
    dnssecResolver: dnssecResolver(env.DNSSEC_RESOLVER),
    blockLists: blockLists(env.BLOCK_LISTS),
    spamhausKey: spamhausKey(env.SPAMHAUS_KEY),
    heloName,
    showsClient: oneOf(env, 'RECEIVED_CLIENT', ['hide', 'show'], 'hide') === 'show',
    returnPathHost: hostName(env, 'RETURN_PATH_HOST', heloName),
    receivesReports: Boolean(env.RETURN_PATH_HOST),
    feedbackSenderId: feedbackSenderId(env),
    ...serviceMail(env, [heloName, hostName(env, 'RETURN_PATH_HOST', heloName)]),
    operatorDkim: operatorDkim(env),
    domainGraceHours: wholeNumber(env, 'DOMAIN_GRACE_HOURS', 72, 1, 8760),
    ...place,
    trackingScheme: oneOf(env, 'TRACKING_SCHEME', ['http', 'https'], usualScheme),
    trustProxy: networks(env, 'TRUST_PROXY'),
    operatorNetworks: networks(env, 'OPERATOR_NETWORKS', LOOPBACK),
    mcp: oneOf(env, 'MCP', ['on', 'off'], 'off') === 'on',
    logLevel: oneOf(env, 'LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    logFormat: oneOf(env, 'LOG_FORMAT', ['json', 'pretty'], 'json'),
    logDeliveries: oneOf(env, 'LOG_DELIVERIES', ['all', 'failures', 'none'], 'all'),
    logMessages: oneOf(env, 'LOG_MESSAGES', ['0', '1'], '0') === '1',
    ...secretKeys(env),
    mxPort: port(env, 'MX_PORT', 25),
    allowPrivateMx: oneOf(env, 'MX_PRIVATE_NETWORKS', ['allow', 'refuse'], 'refuse') === 'allow',
    ...outbound(env),
    requireSyncStandby: oneOf(env, 'REQUIRE_SYNC_STANDBY', ['0', '1'], '0') === '1',
    allowUnsafeDatabase: oneOf(env, 'ALLOW_UNSAFE_DATABASE', ['0', '1'], '0') === '1',
    bodyBudget: wholeNumber(env, 'BODY_BUDGET_MB', 128, 32, 65536) * 1024 * 1024,
    attachmentStorage: wholeNumber(env, 'ATTACHMENT_STORAGE_MB', 1024, 1, 1_000_000) * 1024 * 1024,
    siteConnections: wholeNumber(env, 'SITE_CONNECTIONS', 10, 1, 1000),
    providersFile: file(env, 'PROVIDERS_FILE'),
    callsPerMinute: wholeNumber(env, 'CALLS_PER_MINUTE', 600, 0, 1_000_000),
    wrongKeysPerMinute: wholeNumber(env, 'WRONG_KEYS_PER_MINUTE', 10, 0, 1_000_000),
    reputationRules: oneOf(env, 'REPUTATION_RULES', ['none', 'standard', 'strict'], usualRules),
    requirements: oneOf(env, 'REQUIREMENTS', ['warn', 'hold'], 'warn'),
    hardBounceDays: wholeNumber(env, 'SUPPRESSION_HARDBOUNCE_DAYS', 0, 0, 36500),
    eventDays: wholeNumber(env, 'EVENT_DAYS', 90, 7, 3650),
    bodyDays: wholeNumber(env, 'BODY_DAYS', 30, 7, 3650),
    signUp: oneOf(env, 'SIGN_UP', ['closed', 'invite', 'open'], 'invite'),
    require2fa: oneOf(env, 'REQUIRE_2FA', ['0', '1'], '0') === '1',
    oidc: oidc(env),
    exportStorage: wholeNumber(env, 'EXPORT_STORAGE_MB', 2048, 1, 1_000_000) * 1024 * 1024,
  }
}

const LOOPBACK = '127.0.0.0/8, ::1'
const SETTING_NAMES = SETTINGS.map(({ name }) => name)

function defaultHeloName(): string {
  const name = hostname().toLowerCase()
  return /^[a-z0-9.-]+$/.test(name) && !/^[.-]|[.-]$|\.\./.test(name) ? name : 'localhost'
}

/** Gmail's Feedback-ID requires 5 to 15 characters. */
function feedbackSenderId(env: Environment): string | undefined {
  const text = env.FEEDBACK_SENDER_ID
  if (!text) return undefined
  if (!/^[a-z0-9]{5,15}$/i.test(text)) throw new ConfigError('FEEDBACK_SENDER_ID', 'must be 5 to 15 letters and digits')
  return text
}
