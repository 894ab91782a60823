import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createSecureDns } from '../../packages/core/src/platform/net/dnssec/secure-dns.ts'
import { postrider } from '../cli/postrider.ts'
import { makeAuthority, selfSigned } from '../delivery/authority.ts'
import { startOutboxProcess } from '../delivery/outbox.ts'
import { startTlsServer } from '../delivery/tls-server.ts'
import { tlsaOf } from '../delivery/tlsa.ts'
import { freePorts } from '../helpers/ports.ts'
import { until } from '../helpers/until.ts'

const NEEDED = ['unbound', 'ldns-keygen', 'ldns-signzone']
const missing = NEEDED.filter((program) => !isInstalled(program))
const SKIP =
  missing.length > 0 && `${missing.join(', ')} not found: apt-get install --no-install-recommends unbound ldnsutils`
const SOA = 'SOA ns.harbor. hostmaster.harbor. 1 3600 600 86400 60'
const WRONG = `3 1 1 ${'ab'.repeat(32)}`

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { env: { ...process.env, PATH: pathWithSbin() } })
    return true
  } catch {
    return false
  }
}

function pathWithSbin(): string {
  return `${process.env.PATH}:/usr/sbin:/sbin`
}

/** Signs a zone in a folder of its own. Returns the file, and the DS record of its key. */
function signZone(folder: string, origin: string, records: readonly string[]): { file: string; ds: string } {
  const own = join(folder, origin === '.' ? 'root' : origin.replace(/\.$/, ''))
  mkdirSync(own)
  const file = join(own, 'zone')
  writeFileSync(file, `${['$TTL 60', ...records].join('\n')}\n`)
  const key = execFileSync('ldns-keygen', ['-a', 'ECDSAP256SHA256', '-k', origin], {
    cwd: own,
    encoding: 'utf8',
  }).trim()
  execFileSync('ldns-signzone', ['-o', origin, '-f', `${file}.signed`, file, key], { cwd: own })
  const ds = readdirSync(own).find((name) => name.endsWith('.ds')) ?? ''
  return { file: `${file}.signed`, ds: readFileSync(join(own, ds), 'utf8').trim() }
}

interface Zones {
  readonly [origin: string]: string
}

/** Debian's unbound, which answers from zone files, and validates if there is an anchor. Returns its address. */
async function startUnbound(folder: string, zones: Zones, anchor: string | undefined): Promise<string> {
  const [port = 0] = await freePorts(1)
  const own = mkdtempSync(join(folder, 'unbound-'))
  const anchorFile = join(own, 'anchor')
  if (anchor) writeFileSync(anchorFile, `${anchor}\n`)
  const config = [
    'server:',
    `  directory: "${own}"`,
    '  chroot: ""',
    '  username: ""',
    '  do-daemonize: no',
    '  pidfile: ""',
    '  use-syslog: no',
    `  interface: 127.0.0.1@${port}`,
    '  do-not-query-localhost: no',
    '  qname-minimisation: no',
    `  module-config: "${anchor ? 'validator ' : ''}iterator"`,
    ...(anchor ? [`  trust-anchor-file: "${anchorFile}"`] : []),
    'remote-control:',
    '  control-enable: no',
    ...Object.entries(zones).flatMap(([origin, file]) => [
      'auth-zone:',
      `  name: "${origin}"`,
      `  zonefile: "${file}"`,
      '  for-downstream: no',
      '  for-upstream: yes',
      '  fallback-enabled: no',
    ]),
  ]
  writeFileSync(join(own, 'unbound.conf'), `${config.join('\n')}\n`)
  const child = spawn('unbound', ['-c', join(own, 'unbound.conf')], { env: { ...process.env, PATH: pathWithSbin() } })
  t.teardown(() => child.kill())
  const address = `127.0.0.1:${port}`
  const dns = createSecureDns({ address: '127.0.0.1', port })
  await until('unbound', async () => (await dns.query('NS', '.')).kind === 'records', 20_000)
  return address
}

t.test(
  'DANE with a resolver that validates zones that are really signed',
  { skip: SKIP, timeout: 180_000 },
  async (t) => {
    const authority = await makeAuthority()
    const [port = 0] = await freePorts(1)
    const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'dnssec-'))
    let addresses = 0
    const records: string[] = []

    /** A host with a self-signed certificate, and a domain in the signed zone whose mail it gets. */
    async function addHost(
      name: string,
      tlsaFor: (cert: string) => readonly string[],
      signed = true,
    ): Promise<string[]> {
      const address = `127.9.9.${++addresses}`
      const certificate = signed ? await selfSigned(name) : await authority.issue([name])
      const cert = signed ? certificate.cert : `${certificate.cert.trim()}\n${authority.cert}`
      await startTlsServer(t, { host: address, port }, { context: { ...certificate, cert } })
      return [
        `${name}. A ${address}`,
        ...tlsaFor(certificate.cert).map((tlsa) => `_${port}._tcp.${name}. TLSA ${tlsa}`),
      ]
    }
    const own = (cert: string): string[] => [tlsaOf(cert, 3, 1, 1)]
    const none = (): string[] => []
    const cases: Record<
      string,
      { expected: Record<string, unknown>; tlsa: (cert: string) => readonly string[]; ownKey?: boolean }
    > = {
      'own.harbor': { tlsa: own, expected: { outcome: 'delivered', tlsPolicy: 'dane', tlsVerified: true } },
      'authority.harbor': {
        tlsa: () => [tlsaOf(authority.cert, 2, 0, 1)],
        ownKey: false,
        expected: { outcome: 'delivered', tlsPolicy: 'dane', tlsVerified: true },
      },
      'wrong.harbor': { tlsa: () => [WRONG], expected: { outcome: 'deferred', tlsPolicy: 'dane', enhanced: '4.7.5' } },
      'unusable.harbor': {
        tlsa: () => [`1 1 1 ${'ab'.repeat(32)}`],
        expected: { outcome: 'delivered', tlsPolicy: 'required', tlsVerified: false },
      },
      'none.harbor': { tlsa: none, expected: { outcome: 'delivered', tlsPolicy: null } },
      'forged.harbor': {
        tlsa: own,
        expected: { outcome: 'deferred', enhanced: '4.7.5', reply: /could not be looked up with DNSSEC \(SERVFAIL\)/ },
      },
      'many.harbor': {
        tlsa: (cert) => [
          ...Array.from({ length: 31 }, (_, at) => `3 1 1 ${at.toString(16).padStart(64, 'f')}`),
          ...own(cert),
        ],
        expected: { outcome: 'delivered', tlsPolicy: 'dane', tlsVerified: true },
      },
      'unsigned.port': { tlsa: () => [WRONG], expected: { outcome: 'delivered', tlsPolicy: null } },
      'broken.quay': { tlsa: own, expected: { outcome: 'deferred', enhanced: '4.4.3', reply: /SERVFAIL/ } },
    }
    const below: Record<string, string[]> = { port: [], quay: [] }
    for (const [domain, { tlsa, ownKey }] of Object.entries(cases)) {
      const lines = [`${domain}. MX 10 mx.${domain}.`, ...(await addHost(`mx.${domain}`, tlsa, ownKey))]
      ;(below[domain.split('.')[1] ?? ''] ?? records).push(...lines)
    }
    const zoneOf = (origin: string, lines: readonly string[]): string[] => [
      `${origin} ${SOA}`,
      `${origin} NS ns.harbor.`,
      ...lines,
    ]
    writeFileSync(join(folder, 'port'), `$TTL 60\n${zoneOf('port.', below.port ?? []).join('\n')}\n`)
    const quay = signZone(folder, 'quay.', zoneOf('quay.', below.quay ?? []))
    // The parent has the key of another zone.
    const otherKey = signZone(join(mkdtempSync(join(folder, 'other-'))), 'quay.', zoneOf('quay.', []))
    const root = signZone(
      folder,
      '.',
      zoneOf('.', ['ns.harbor. A 127.0.0.1', 'port. NS ns.harbor.', 'quay. NS ns.harbor.', otherKey.ds, ...records]),
    )
    const text = readFileSync(root.file, 'utf8')
    const forged = text.replace(
      new RegExp(`(_${port}\\._tcp\\.mx\\.forged\\.harbor\\.\\s.*TLSA\\s+3 1 1 )(.)`),
      (_all, head, digit) => `${head}${digit === 'a' ? 'b' : 'a'}`,
    )
    t.not(forged, text, 'a record was changed after it had been signed')
    writeFileSync(root.file, forged)
    const zones = { '.': root.file, 'port.': join(folder, 'port'), 'quay.': quay.file }

    const resolver = await startUnbound(folder, zones, root.ds)
    const outbox = await startOutboxProcess(t, {
      DELIVERY: 'mx',
      MX_PRIVATE_NETWORKS: 'allow',
      MX_PORT: String(port),
      DNS_SERVERS: resolver,
      DNSSEC_RESOLVER: resolver,
    })
    for (const [domain, { expected }] of Object.entries(cases)) {
      const id = await outbox.send(`a@${domain}`)
      const { attempts } = await outbox.attempted(id)
      t.match(attempts, [expected], domain)
      const { outcome, tlsPolicy, enhanced, reply, milliseconds } = attempts[0] ?? {}
      t.comment(
        `figures: ${domain}: ${outcome} ${tlsPolicy ?? 'no demand'} ${enhanced ?? ''} ${milliseconds} ms ${outcome === 'deferred' ? reply : ''}`,
      )
    }
    t.match((await postrider(outbox.service.env, 'tls', 'show', 'own.harbor')).stdout, /^DNSSEC_RESOLVER validates$/m)

    const dns = createSecureDns({ address: '127.0.0.1', port: Number(resolver.split(':')[1]) })
    const since = performance.now()
    const LOOKUPS = 2000
    await Promise.all(Array.from({ length: LOOKUPS }, () => dns.query('TLSA', `_${port}._tcp.mx.own.harbor`)))
    t.comment(`figures: ${Math.round(LOOKUPS / ((performance.now() - since) / 1000))} lookups per second, 256 at once`)
    const large = await dns.query('TLSA', `_${port}._tcp.mx.many.harbor`)
    t.match(large, { kind: 'records', isSecure: true }, 'over TCP')

    const other = await startUnbound(folder, zones, undefined)
    const env = { ...outbox.service.env, DNSSEC_RESOLVER: other, DNS_SERVERS: other }
    t.match(
      (await postrider(env, 'tls', 'show', 'own.harbor')).stdout,
      /^DANE is not used: DNSSEC_RESOLVER does not validate$/m,
    )
  },
)
