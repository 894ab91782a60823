import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { selfSigned } from '../delivery/authority.ts'
import { REPORTS_TO, startTlsInternet, TLS_CASES } from '../delivery/tls-cases.ts'
import { startTlsServer } from '../delivery/tls-server.ts'
import { tlsaOf } from '../delivery/tlsa.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

/**
 * Reads the mails that are its arguments with Python's own parsers of mail, gzip and JSON, and verifies their signatures with dkimpy as those of TLS
 * reports (RFC 8460 3 and 5.3). The first argument is a JSON file with the DKIM records. Prints what it found, a line of JSON for each mail.
 */
const READER = `
import sys, json, gzip, email, email.policy, dkim
records = {name + '.': text.encode() for name, text in json.load(open(sys.argv[1])).items()}
def txt(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return records.get(name if name.endswith('.') else name + '.')
for path in sys.argv[2:]:
    raw = open(path, 'rb').read()
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    parts = list(mail.iter_parts())
    verifier = dkim.DKIM(raw, tlsrpt=True)
    signed = verifier.verify(dnsfunc=txt)
    content = parts[1].get_content()
    print(json.dumps({
        'defects': [str(d) for part in mail.walk() for d in part.defects],
        'type': mail.get_content_type(), 'reportType': mail['content-type'].params.get('report-type'),
        'types': [part.get_content_type() for part in parts], 'disposition': parts[1].get_content_disposition(),
        'filename': parts[1].get_filename(), 'from': mail['from'].addresses[0].addr_spec, 'to': mail['to'].addresses[0].addr_spec,
        'subject': mail['subject'], 'domain': mail['tls-report-domain'], 'submitter': mail['tls-report-submitter'],
        'date': mail['date'].datetime.isoformat(), 'signed': signed, 'signer': verifier.domain.decode(),
        'length': b'l' in verifier.signature_fields,
        'covered': [name.decode().lower() for name in verifier.include_headers],
        'report': json.loads(gzip.decompress(content)),
    }))
`
/** Debian's, which has Debian's packages. */
const PYTHON = '/usr/bin/python3'
const isReady = (() => {
  try {
    execFileSync(PYTHON, ['-c', 'import dkim'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const SKIP = !isReady && 'dkimpy not found: apt-get install --no-install-recommends python3-dkim'
const SERVICE = 'post.example'

interface Read {
  readonly [part: string]: unknown
  readonly domain: string
  readonly covered: readonly string[]
  readonly report: {
    readonly 'report-id': string
    readonly policies: readonly {
      readonly policy: Readonly<Record<string, unknown>>
      readonly summary: Readonly<Record<string, number>>
      readonly 'failure-details': readonly Readonly<Record<string, string | number>>[]
    }[]
  }
}

interface Count {
  readonly policy_domain: string
  readonly policy_type: string
  readonly result: string
  readonly mx: string
  readonly sessions: number
  readonly day: string
}

/** KEEP_REPORTS names a folder for the mails, reports and counts, which other readers can then be given. */
const folder = process.env.KEEP_REPORTS ?? mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'reports-'))

t.test('other programs read TLS reports as the database has them', { skip: SKIP, timeout: 300_000 }, async (t) => {
  const internet = await startTlsInternet(t, { SERVICE_DOMAIN: SERVICE })
  const { service, dns, sender } = internet
  dns.zones['relay.test'] = { a: ['192.0.2.1'], aaaa: ['2001:db8::1'] }
  await service.giveKey(SERVICE)
  await service.core.domains.add({ accountId: sender.accountId, name: SERVICE, state: 'active' })
  const inbox = await startSink(t, { host: internet.newAddress(), port: internet.port })
  dns.zones['mx.inbox.example'] = { a: [inbox.host] }
  dns.zones['inbox.example'] = { mx: [[10, 'mx.inbox.example']] }

  const own = await selfSigned('x.example')
  const hostOf = async (name: string, tlsa: readonly string[]): Promise<string> => {
    const at = { host: internet.newAddress(), port: internet.port }
    await startTlsServer(t, at, { context: own })
    dns.zones[name] = { a: [at.host] }
    if (tlsa.length > 0) dns.zones[`_${internet.port}._tcp.${name}`] = { tlsa }
    return name
  }
  const wrong = await hostOf('mx1.mixed.example', [`3 1 1 ${'ab'.repeat(32)}`])
  const good = await hostOf('mx2.mixed.example', [tlsaOf(own.cert, 3, 1, 1)])
  const plain = await hostOf('mx3.mixed.example', [])
  const domains = [
    [wrong, good],
    [wrong, plain],
  ].map((names) => internet.domain(names.map((name) => ({ name }))))
  for (const name of domains) {
    dns.zones[`_smtp._tls.${name}`] = { txt: [`v=TLSRPTv1; rua=mailto:${REPORTS_TO}`] }
    await internet.inState(await internet.send(`a@${name}`), 'delivered')
  }
  for (const [given] of Object.values(TLS_CASES)) {
    const domain = await internet.domainOf(t, given)
    domains.push(domain)
    const settings = given.asks === undefined ? {} : { settings: { tls: given.asks } }
    await internet.attempted(await internet.send(`a@${domain}`, settings))
  }
  await internet.worker.stop()
  const counts = await service.sql<Count[]>`
    select policy_domain, policy_type, result, mx, sessions::int as sessions, day::text as day from tls_results order by 1, 2, 3, 4`
  await service.sql`update tls_report_days set due_at = service_now()`
  const worker = await openWorker(t, service)
  await until('all reports', () => inbox.messages.length >= domains.length, 120_000)
  await worker.stop()
  t.equal(inbox.messages.length, domains.length, 'one mail for each domain')

  const records: Record<string, string> = {}
  for (const { host, value } of (await service.core.domains.show(SERVICE))?.dns ?? []) records[host] = value
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'records.json'), JSON.stringify(records))
  writeFileSync(join(folder, 'counts.json'), JSON.stringify(counts))
  const files = inbox.messages.map(({ data }, at) => {
    const file = join(folder, `${at}.eml`)
    writeFileSync(file, data)
    return file
  })
  const output = execFileSync(PYTHON, ['-c', READER, join(folder, 'records.json'), ...files], { encoding: 'utf8' })
  const read = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Read)
  for (const [at, { report }] of read.entries()) writeFileSync(join(folder, `${at}.json`), JSON.stringify(report))
  t.strictSame(read.map(({ domain }) => domain).sort(), [...domains].sort())

  const day = counts[0]?.day ?? ''
  const begin = Date.parse(`${day}T00:00:00Z`) / 1000
  for (const { domain, report, covered, subject, date, filename, ...form } of read) {
    t.match(
      { ...form, filename, subject },
      {
        defects: [],
        type: 'multipart/report',
        reportType: 'tlsrpt',
        types: ['text/plain', 'application/tlsrpt+gzip'],
        disposition: 'attachment',
        filename: `${SERVICE}!${domain}!${begin}!${begin + 86_399}.json.gz`,
        from: `noreply@${SERVICE}`,
        to: REPORTS_TO,
        subject: `Report Domain: ${domain} Submitter: ${SERVICE} Report-ID: <${day}.${domain}@${SERVICE}>`,
        submitter: SERVICE,
        signed: true,
        signer: SERVICE,
        length: false,
      },
      `the mail about ${domain}`,
    )
    for (const field of ['from', 'to', 'subject', 'content-type']) t.ok(covered.includes(field), `${field} is signed`)
    const own = counts.filter(({ policy_domain }) => policy_domain === domain)
    const said = report.policies.flatMap(({ policy, summary, 'failure-details': details }) => {
      const type = policy['policy-type']
      t.equal(policy['policy-domain'], domain)
      return [
        `${type} ${summary['total-successful-session-count']} ${summary['total-failure-session-count']}`,
        ...details.map((one) => {
          t.equal(one['sending-mta-ip'], '192.0.2.1', 'the address of HELO_NAME')
          return `${type} ${one['result-type']} ${one['receiving-mx-hostname']} ${one['failed-session-count']}`
        }),
      ]
    })
    const sum = (rows: readonly Count[]) => rows.reduce((total, { sessions }) => total + sessions, 0)
    const held = [...Map.groupBy(own, ({ policy_type }) => policy_type)].flatMap(([type, rows]) => {
      const failed = rows.filter(({ result }) => result !== '')
      return [
        `${type} ${sum(rows) - sum(failed)} ${sum(failed)}`,
        ...failed.map(({ result, mx, sessions }) => `${type} ${result} ${mx} ${sessions}`),
      ]
    })
    t.strictSame(said.sort(), held.sort(), `the figures of ${domain}`)
  }
  const results = new Set(counts.map(({ result }) => result))
  t.comment(`figures: ${read.length} reports, ${counts.length} counts, ${results.size - 1} types of failure`)
})
