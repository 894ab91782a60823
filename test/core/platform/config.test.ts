import { X509Certificate } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { type Config, ConfigError, ensureCertificate, readConfig, SETTINGS } from '@postrider/core'
import t from 'tap'

const folder = mkdtempSync(join(tmpdir(), 'postrider-config-'))
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

/** Settings that take a value as it is, and what is no value of theirs. */
const BAD: Readonly<Record<string, readonly string[]>> = {
  DATABASE_URL: [
    ...[
      'localhost',
      'mysql://user@host/db',
      'postgres:/host/db',
      'postgres://user:pa%ss@host/db',
      'postgres://%zz@host/db',
    ],
    ...[
      'postgres://host:99999/db',
      'postgres://ho st/db',
      'postgres://host:port/db',
      'postgres://host:99999,other:1/db',
      'postgres://one,two/db?target_session_attrs=read-write',
      'postgres://one,two/db?sslmode=require&target_session_attrs=any',
    ],
  ],
  DATABASE_READ_URL: [
    'host/db',
    'postgres://one,two/db?target_session_attrs=primary',
    'postgres://one/db?target_session_attrs=read-write',
  ],
  DATABASE_READ_MAX_LAG: ['0', '2', '3601', '10s'],
  DATA_DIR: [],
  SECRET_KEY: ['x', 'thirty-one characters, one less'],
  SECRET_KEY_PREVIOUS: [
    'x',
    `${'k'.repeat(32)},x`,
    `${'k'.repeat(32)},${'k'.repeat(32)}`,
    ['a', 'b', 'c', 'd'].map((one) => one.repeat(32)).join(),
  ],
  REQUIRE_SYNC_STANDBY: ['yes', '2'],
  BODY_STORE: ['s3', 's3://', 's3://Mail', 's3://mail/../other', 'https://mail.example'],
  BODY_STORE_ABOVE_KB: ['0', '64k', '-1'],
  S3_ENDPOINT: [
    'storage.example',
    'ftp://storage.example',
    'https://storage.example/mail',
    'https://a:b@storage.example',
  ],
  S3_REGION: ['eu west', 'eu/west'],
  S3_ACCESS_KEY_ID: [],
  S3_SECRET_ACCESS_KEY: [],
  API_HOST: ['not a host', '127.0.0.1:80', 'http://localhost', '[::1]', 'a/b', '-'],
  API_PORT: ['0', '-1', '65536', 'http', '80.5', '1e3', '0x50', ' 80', '80 ', '١٢'],
  MCP: ['1', 'On', 'yes'],
  HEALTH_HOST: ['not a host', '127.0.0.1:80'],
  HEALTH_PORT: ['0', '65536', 'http'],
  METRICS_HOST: ['not a host', '127.0.0.1:80'],
  METRICS_PORT: ['0', '65536', 'http'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector', 'ftp://127.0.0.1'],
  OTEL_TRACES_SAMPLER: ['always', 'parentbased'],
  OTEL_TRACES_SAMPLER_ARG: ['-0.1', '1.1', '2', 'half', '1e-3'],
  DRAIN_DELAY: ['-1', '301', '1.5', '5s'],
  MIGRATE: ['yes', 'Manual', '0'],
  API_PROCESSES: ['0', '65', 'auto'],
  RELAY_PROCESSES: ['0', '65', 'auto'],
  WORKERS: ['0', '65', 'auto'],
  BACKUP_DIR: ['gs://bucket/x', 'S3://bucket', 'http://host/x', 'file:/backups'],
  BACKUP_EVERY: ['0', '721', 'daily'],
  BACKUP_KEEP: ['0', '1001', 'all'],
  RELAY_HOST: ['not a host', '127.0.0.1:25'],
  RELAY_PORT: ['0', '65536', 'smtp'],
  RELAY_TLS_PORT: ['0', '65536', 'smtps'],
  RETURNS_HOST: ['not a host', '127.0.0.1:25'],
  RETURNS_PORT: ['0', '65536', 'smtp'],
  RETURN_DAYS: ['0', '366', 'month'],
  REPORT_DAYS: ['19', '731', 'quarter'],
  RELAY_TRUSTED_NETWORKS: ['somewhere', '127.0.0.1/33'],
  RELAY_TRUSTED_KEY: [],
  TLS_CERT: ['/nowhere/cert.pem'],
  TLS_KEY: ['/nowhere/key.pem'],
  SANDBOX_HOST: ['not a host', 'host:1'],
  SANDBOX_SMTP_PORT: ['0', '65536', 'x'],
  SANDBOX_HTTP_PORT: ['0', '65536', 'x'],
  SANDBOX_NAMES: ['not a host', 'inbox:8025', 'http://inbox', '-a'],
  SANDBOX_REQUESTS: ['yes', '1'],
  SANDBOX_RELAY_URL: ['relay.example', 'http://relay.example', 'smtp://'],
  SANDBOX_RELAY_TO: ['example.com', '*', 'a b@example.com', '@'],
  DELIVERY: [
    ...['direct', 'Sandbox', 'smtp', 'smtp://', 'http://host', 'smtp://host:99999', 'smtp://ho st', 'host:25'],
    ...['smtp://user:pa%ss@host', 'smtp://%zz@host'],
  ],
  DNS_SERVERS: [
    'resolver.example',
    '127.0.0.1,x',
    '1.2.3',
    '999.1.1.1',
    '127.0.0.1:99999',
    '127.0.0.1;127.0.0.2',
    '1:2:3',
  ],
  DNSSEC_RESOLVER: [
    'localhost',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '[::1]:x',
    '127.0.0.1, 127.0.0.2',
    '8.8.8.8',
    '[2600::1]:53',
  ],
  BLOCK_LISTS: [
    'zen',
    'zen.spamhaus.org, -x.example',
    'a b.example',
    ',',
    'none,zen.spamhaus.org',
    `${'x'.repeat(64)}.example`,
    Array.from({ length: 21 }, (_, at) => `l${at}.example`).join(),
  ],
  SPAMHAUS_KEY: ['abc.def', 'a b', 'x'.repeat(64)],
  HELO_NAME: ['not a host', '-a', 'a-', 'a..b', '[127.0.0.1]', 'm\u00fcnchen.example', 'a'.repeat(254)],
  RECEIVED_CLIENT: ['yes', 'SHOW'],
  RETURN_PATH_HOST: ['not a host', 'bounce@ship.example', '.example'],
  FEEDBACK_SENDER_ID: ['four', 'sixteen letters1', 'with space', 'ümlaut'],
  OPERATOR_MAIL: ['desk', 'Desk <desk@ship.example>', 'a@b.example, c@d.example', 'desk@ship.example\r\nX: y'],
  SERVICE_DOMAIN: ['not a host', 'desk@ship.example', '.example'],
  OPERATOR_DKIM_DOMAIN: ['not a host', '.example'],
  OPERATOR_DKIM_SELECTOR: ['a b', 'a_b'],
  OPERATOR_DKIM_KEY: ['/no/such/file'],
  DOMAIN_GRACE_HOURS: ['0', '8761', '3d', '-1'],
  PUBLIC_URL: [
    'ship.example',
    '/path',
    'ftp://ship.example',
    'http://',
    'https:ship.example',
    'https://ship example',
    'https://u@ship.example',
    'https://u:p@ship.example',
    'https://ship.example?a=b',
    'https://ship.example/?',
    'https://ship.example#top',
    'https://ship.example/a b',
    'https://ship.example/m%61il',
    'https://ship.example//mail',
    'https://ship.example/mail;x',
    'https://ship.example/v2',
    'https://ship.example/App/mail',
  ],
  TRACKING_SCHEME: ['ftp', 'HTTPS', 'https://'],
  TRUST_PROXY: ['proxy.example', '10.0.0.0/33', '10.0.0.0/8 10.0.0.1', 'true'],
  OPERATOR_NETWORKS: ['office.example', '10.0.0.0/33', 'any'],
  LOG_LEVEL: ['verbose', 'INFO', '1'],
  LOG_FORMAT: ['text', 'JSON'],
  LOG_DELIVERIES: ['some', 'true'],
  LOG_MESSAGES: ['2', 'true', 'all'],
  BODY_BUDGET_MB: ['31', '0', '65537', '128M', '1.5'],
  ATTACHMENT_STORAGE_MB: ['0', '1000001', '1GB'],
  CALLS_PER_MINUTE: ['-1', '1.5', 'many'],
  WRONG_KEYS_PER_MINUTE: ['-1', '1.5', 'many'],
  SITE_CONNECTIONS: ['0', '1001', '-1', 'many'],
  PROVIDERS_FILE: ['/nowhere/providers.yaml'],
  SUPPRESSION_HARDBOUNCE_DAYS: ['-1', '36501', '1.5', 'never'],
  REPUTATION_RULES: ['lax', 'Strict'],
  REQUIREMENTS: ['refuse', 'Hold'],
  EVENT_DAYS: ['0', '6', '3651', '-1', '1.5', 'ever'],
  BODY_DAYS: ['0', '6', '3651', '-1', '1.5', 'ever'],
  EXPORT_STORAGE_MB: ['0', '1000001', '1GB'],
  SIGN_UP: ['yes', 'Open', 'invited'],
  REQUIRE_2FA: ['yes', '2', 'true'],
  OIDC_ISSUER: ['provider', 'http://provider.example'],
  OIDC_CLIENT_ID: [],
  OIDC_CLIENT_SECRET: [],
  OIDC_ROLE_CLAIM: [],
  OIDC_ONLY: ['yes', 'true'],
  MX_PORT: ['0', '65536', 'smtp'],
  MX_PRIVATE_NETWORKS: ['yes', 'Allow', '1'],
  WEBHOOK_PRIVATE_NETWORKS: ['yes', '10.0.0.0/33', 'localhost'],
  WEBHOOK_PORTS: ['0', '65536', 'http', '80;443'],
  ALLOW_UNSAFE_DATABASE: ['yes', '2', 'true'],
}

const GOOD: readonly (readonly [setting: string, value: string, config: Partial<Config>])[] = [
  ['DATABASE_URL', 'postgres://user:p%40ss@host:5433/db?sslmode=require', {}],
  ['DATABASE_URL', 'postgresql:///db', {}],
  [
    'DATABASE_READ_URL',
    'postgres://one,two/db?target_session_attrs=prefer-standby',
    { databaseReadUrl: 'postgres://one,two/db?target_session_attrs=prefer-standby' },
  ],
  ['DATABASE_URL', 'postgres://user:pass@one:5432,two:5433/db', {}],
  [
    'BACKUP_DIR',
    '/mnt/backup',
    { backups: { location: '/mnt/backup', address: { folder: '/mnt/backup' }, everyHours: 24, keep: 7 } },
  ],
  ['DATA_DIR', '/var/lib/postrider', { dataDir: '/var/lib/postrider' }],
  ['SECRET_KEY', 'x'.repeat(32), { secretKey: 'x'.repeat(32) }],
  [
    'SECRET_KEY_PREVIOUS',
    `${'y'.repeat(32)}, ${'z'.repeat(40)}`,
    { previousSecretKeys: ['y'.repeat(32), 'z'.repeat(40)] },
  ],
  ['API_HOST', '::', { apiHost: '::' }],
  ['API_HOST', 'my_api-1.example', { apiHost: 'my_api-1.example' }],
  ['API_PORT', '1', { apiPort: 1, publicUrl: 'http://localhost:1' }],
  ['API_PORT', '65535', { apiPort: 65535 }],
  ['DELIVERY', 'mx', { delivery: { kind: 'mx' } }],
  ['DELIVERY', 'smtp://host', { delivery: relay('host', 25, false) }],
  ['DELIVERY', 'smtps://host', { delivery: relay('host', 465, true) }],
  ['DELIVERY', 'smtp://us%40er:p%3Ass@host:2525', { delivery: relay('host', 2525, false, 'us@er', 'p:ss') }],
  ['DELIVERY', 'smtp://[::1]:25', { delivery: relay('::1', 25, false) }],
  ['DNS_SERVERS', '127.0.0.1, [::1]:5353 ,::1', { dnsServers: ['127.0.0.1', '[::1]:5353', '::1'] }],
  ['DNSSEC_RESOLVER', '127.0.0.1', { dnssecResolver: { address: '127.0.0.1', port: 53 } }],
  ['DNSSEC_RESOLVER', '[fd00::1]:5353', { dnssecResolver: { address: 'fd00::1', port: 5353 } }],
  ['BLOCK_LISTS', ' None ', { blockLists: [] }],
  ['BLOCK_LISTS', 'Zen.spamhaus.org, bl.example ,bl.example', { blockLists: ['zen.spamhaus.org', 'bl.example'] }],
  ['SPAMHAUS_KEY', 'Abcd1234', { spamhausKey: 'abcd1234' }],
  ['HELO_NAME', 'Mail.Ship.Example', { heloName: 'mail.ship.example', returnPathHost: 'mail.ship.example' }],
  ['RECEIVED_CLIENT', 'show', { showsClient: true }],
  ['RETURN_PATH_HOST', 'bounce.ship.example', { returnPathHost: 'bounce.ship.example' }],
  ['DOMAIN_GRACE_HOURS', '1', { domainGraceHours: 1 }],
  [
    'PUBLIC_URL',
    'https://mail.ship.example/api//',
    { publicUrl: 'https://mail.ship.example/api', publicPath: '/api', trackingScheme: 'https' },
  ],
  ['PUBLIC_URL', 'http://mail.ship.example/', { publicUrl: 'http://mail.ship.example', publicPath: '' }],
  ['TRACKING_SCHEME', 'https', { trackingScheme: 'https' }],
  ['TRUST_PROXY', '10.0.0.0/8, ::1', { trustProxy: ['10.0.0.0/8', '::1'] }],
  ['MCP', 'on', { mcp: true }],
  ['OPERATOR_NETWORKS', '10.0.0.0/8', { operatorNetworks: ['10.0.0.0/8'] }],
  ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
  ['BODY_BUDGET_MB', '32', { bodyBudget: 32 * 1024 * 1024 }],
  ['ATTACHMENT_STORAGE_MB', '2', { attachmentStorage: 2 * 1024 * 1024 }],
  ['SANDBOX_NAMES', 'Inbox, my_inbox.example', { sandboxNames: ['inbox', 'my_inbox.example'] }],
  ['SANDBOX_REQUESTS', 'allow', { sandboxRequests: true }],
  ['MX_PRIVATE_NETWORKS', 'allow', { allowPrivateMx: true }],
  ['MX_PRIVATE_NETWORKS', 'refuse', { allowPrivateMx: false }],
  ['NODE_ENV', 'development', { allowPrivateMx: false }],
  ['WEBHOOK_PRIVATE_NETWORKS', 'allow', { outboundNetworks: ['0.0.0.0/0', '::/0'], outboundPorts: [] }],
  ['WEBHOOK_PRIVATE_NETWORKS', '10.1.0.0/16, fd00::/8', { outboundNetworks: ['10.1.0.0/16', 'fd00::/8'] }],
  ['WEBHOOK_PORTS', '443, 8443', { outboundPorts: [443, 8443] }],
  ['ALLOW_UNSAFE_DATABASE', '1', { allowUnsafeDatabase: true }],
  ['ALLOW_UNSAFE_DATABASE', '0', { allowUnsafeDatabase: false }],
]

function relay(host: string, port: number, tls: boolean, user?: string, password?: string): Config['delivery'] {
  return { kind: 'relay', host, port, tls, user, password }
}

t.test('an empty environment gives the defaults, and blank settings count as left out', async (t) => {
  // The tree may have a data folder, of whoever has started the service in it.
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  process.chdir(t.testdir())
  const heloName = hostname().toLowerCase()
  const defaults = {
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    databaseReadMaxLag: 10_000,
    dataDir: resolve('data'),
    bodyStore: undefined,
    backups: undefined,
    apiHost: '127.0.0.1',
    apiPort: 8080,
    healthHost: '127.0.0.1',
    healthPort: undefined,
    metricsHost: '127.0.0.1',
    metricsPort: undefined,
    tracing: undefined,
    drainDelay: 0,
    migrate: 'auto',
    apiProcesses: 1,
    relayProcesses: 1,
    workers: 1,
    relayHost: '127.0.0.1',
    relayPort: 2525,
    relayTlsPort: 2465,
    returnsHost: '127.0.0.1',
    returnsPort: 2527,
    returnDays: 30,
    reportDays: 90,
    receivesReports: false,
    relayTrusted: undefined,
    tlsCert: undefined,
    tlsKey: undefined,
    sandboxHost: '127.0.0.1',
    sandboxSmtpPort: 2526,
    sandboxHttpPort: 8025,
    sandboxNames: [],
    sandboxRelay: undefined,
    sandboxRequests: false,
    delivery: { kind: 'sandbox' },
    dnsServers: [],
    dnssecResolver: undefined,
    blockLists: undefined,
    spamhausKey: undefined,
    heloName,
    showsClient: false,
    returnPathHost: heloName,
    feedbackSenderId: undefined,
    operatorMail: undefined,
    serviceDomain: undefined,
    operatorDkim: undefined,
    domainGraceHours: 72,
    publicUrl: 'http://localhost:8080',
    publicPath: '',
    trackingScheme: 'http',
    trustProxy: [],
    mcp: false,
    operatorNetworks: ['127.0.0.0/8', '::1'],
    logLevel: 'info',
    logFormat: 'json',
    logDeliveries: 'all',
    logMessages: false,
    secretKey: undefined,
    previousSecretKeys: [],
    mxPort: 25,
    allowPrivateMx: false,
    outboundNetworks: [],
    outboundPorts: [80, 443],
    allowUnsafeDatabase: false,
    requireSyncStandby: false,
    bodyBudget: 128 * 1024 * 1024,
    attachmentStorage: 1024 * 1024 * 1024,
    callsPerMinute: 600,
    wrongKeysPerMinute: 10,
    siteConnections: 10,
    providersFile: undefined,
    reputationRules: 'none',
    requirements: 'warn',
    hardBounceDays: 0,
    eventDays: 90,
    bodyDays: 30,
    exportStorage: 2048 * 1024 * 1024,
    signUp: 'invite',
    require2fa: false,
    oidc: { issuer: undefined, clientId: '', clientSecret: undefined, roleClaim: undefined, only: false },
  }
  const blank = Object.fromEntries(SETTINGS.map(({ name }) => [name, '']))
  for (const env of [{}, blank]) t.strictSame({ ...readConfig({ ...env, DATA_DIR: '' }) }, defaults)
})

t.test('every setting has its bad values in this test', async (t) => {
  t.strictSame(
    Object.keys(BAD),
    SETTINGS.map(({ name }) => name),
  )
})

for (const [setting, values] of Object.entries(BAD)) {
  if (values.length === 0) continue
  t.test(`readConfig names ${setting} when its value is no good`, async (t) => {
    for (const value of values) {
      const error = refusal({ [setting]: value })
      t.ok(error instanceof ConfigError, value)
      t.match(error?.message, new RegExp(`^${setting} must `), value)
    }
  })
}

for (const [setting, value, config] of GOOD) {
  t.test(`readConfig takes ${setting}=${value}`, async (t) => {
    const read = readConfig({ [setting]: value })
    t.match(read, config)
    if (setting === 'DATABASE_URL') t.equal(read.databaseUrl, value)
  })
}

t.test('mail to the operator needs a domain that it is sent from, and must not come back', async (t) => {
  t.match(refusal({ OPERATOR_MAIL: 'desk@ship.example' })?.message, /^SERVICE_DOMAIN must also be set/)
  const both = { SERVICE_DOMAIN: 'Ship.example', RETURN_PATH_HOST: 'b.ship.example' }
  t.match(refusal({ ...both, OPERATOR_MAIL: 'Abuse@B.ship.example' })?.message, /^OPERATOR_MAIL must be an address at/)
  t.match(readConfig({ ...both, OPERATOR_MAIL: 'abuse@ship.example' }), { serviceDomain: 'ship.example' })
})

t.test('of two invalid settings one is named, and correcting it names the other', async (t) => {
  const env = { API_PORT: 'x', LOG_LEVEL: 'loud' }
  t.match(refusal(env)?.message, /^API_PORT/)
  t.match(refusal({ ...env, API_PORT: '80' })?.message, /^LOG_LEVEL/)
})

t.test('a comment after a value, which systemd reads as a part of it, is refused for every setting', async (t) => {
  for (const { name } of SETTINGS) {
    const message = refusal({ [name]: 'value-of-thirty-two-characters-1\t  # openssl rand -hex 32' })?.message
    t.match(message, new RegExp(`^${name} must not have a comment after its value`))
    t.notMatch(message, /value-of/)
  }
  t.match(refusal({ SECRET_KEY: `${'k'.repeat(32)} # x` })?.message, /^SECRET_KEY must not have a comment/)
  const sharp = { SECRET_KEY: `${'k'.repeat(32)}#x` }
  t.match(readConfig(sharp), { secretKey: sharp.SECRET_KEY })
})

t.test('trusted networks and their key belong together', async (t) => {
  t.match(refusal({ RELAY_TRUSTED_NETWORKS: '10.0.0.0/8' })?.message, /^RELAY_TRUSTED_KEY must also be set/)
  t.match(refusal({ RELAY_TRUSTED_KEY: 'pr_1' })?.message, /^RELAY_TRUSTED_NETWORKS must also be set/)
  const both = readConfig({ RELAY_TRUSTED_NETWORKS: '10.0.0.0/8, ::1', RELAY_TRUSTED_KEY: 'pr_1' })
  t.strictSame(both.relayTrusted, { networks: ['10.0.0.0/8', '::1'], apiKey: 'pr_1' })
})

t.test('a certificate without its key, and a key without its certificate, name the one that is missing', async (t) => {
  const cert = file('some.pem', 'x')
  t.match(refusal({ TLS_CERT: cert })?.message, /^TLS_KEY must also be set/)
  t.match(refusal({ TLS_KEY: cert })?.message, /^TLS_CERT must also be set/)
  t.match(readConfig({ TLS_CERT: cert, TLS_KEY: cert }), { tlsCert: cert, tlsKey: cert })
})

t.test('the file of providers is given as an absolute path', async (t) => {
  const path = file('providers.yaml', 'rules: []')
  t.equal(readConfig({ PROVIDERS_FILE: path }).providersFile, path)
  t.equal(readConfig({ PROVIDERS_FILE: relative('.', path) }).providersFile, path)
})

t.test('without DATABASE_URL the embedded database of DATA_DIR is found by the URL it left', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'postrider-config-'))
  t.equal(readConfig({ DATA_DIR: dataDir }).databaseUrl, undefined)
  writeFileSync(join(dataDir, 'database-url'), 'postgres://embedded\n')
  t.equal(readConfig({ DATA_DIR: dataDir }).databaseUrl, 'postgres://embedded')
  t.equal(readConfig({ DATA_DIR: dataDir, DATABASE_URL: 'postgres://own' }).databaseUrl, 'postgres://own')
})

t.test('ensureCertificate names the file that is not what it should be', async (t) => {
  const made = await ensureCertificate(readConfig({ DATA_DIR: folder }))
  const other = await ensureCertificate(readConfig({ DATA_DIR: join(folder, 'other') }))
  const certFile = file('cert.pem', made.cert)
  const keyFile = file('key.pem', made.key)
  const ensure = (cert: string, key: string) => ensureCertificate(readConfig({ TLS_CERT: cert, TLS_KEY: key }))
  t.strictSame(await ensure(certFile, keyFile), made)
  await t.rejects(ensure(file('no.pem', 'no certificate'), keyFile), { message: /^TLS_CERT must be a PEM file/ })
  await t.rejects(ensure(folder, keyFile), { message: /^TLS_CERT must be a PEM file/ })
  await t.rejects(ensure(certFile, certFile), { message: /^TLS_KEY must be a PEM file/ })
  await t.rejects(ensure(certFile, file('other.pem', other.key)), {
    message: /^TLS_KEY does not match the certificate/,
  })
})

t.test('first starts at once agree on one self-signed certificate, good for ten years and for localhost', async (t) => {
  const config = readConfig({ DATA_DIR: join(folder, 'first'), HELO_NAME: 'relay.test' })
  const [one, ...others] = await Promise.all(Array.from({ length: 4 }, () => ensureCertificate(config)))
  for (const other of others) t.strictSame(other, one)
  const certificate = new X509Certificate(one?.cert ?? '')
  t.equal(certificate.checkHost('relay.test'), 'relay.test')
  t.equal(certificate.checkHost('localhost'), 'localhost')
  t.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1')
  t.ok(certificate.validToDate.getTime() > Date.now() + 3600 * 86_400_000)
})

function refusal(env: Record<string, string>): Error | undefined {
  try {
    readConfig({ DATA_DIR: folder, ...env })
    return undefined
  } catch (error) {
    return error as Error
  }
}

t.test(
  'OIDC_ISSUER requires OIDC_CLIENT_ID, OIDC_ONLY requires OIDC_ISSUER, and http is for localhost only',
  async (t) => {
    const issuer = { OIDC_ISSUER: 'https://provider.example' }
    t.match(refusal(issuer)?.message, /^OIDC_CLIENT_ID must also be set/)
    t.match(refusal({ OIDC_ONLY: '1' })?.message, /^OIDC_ISSUER must also be set/)
    for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLE_CLAIM'])
      t.equal(refusal({ [name]: 'x' })?.message, `OIDC_ISSUER must also be set, since ${name} is set`)
    const given = { ...issuer, OIDC_CLIENT_ID: 'postrider', OIDC_ONLY: '1' }
    t.match(readConfig(given).oidc, { issuer: 'https://provider.example', clientId: 'postrider', only: true })
    t.match(readConfig({ ...given, OIDC_ISSUER: 'http://localhost:9000' }).oidc, { issuer: 'http://localhost:9000' })
  },
)
